package pipeline

import (
	"context"
	"slices"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
)

// unjudged are the rows that no person has decided about. Where labels are judged, a class that
// was accepted in bulk, or that a person gave a row without a known class, counts as given.
type unjudged struct {
	embedding.Rows
	decided label.Decisions
	known   []string             // classes, nil unless labels are judged
	judged  int                  // rows that it left out
	see     func(embedding.Item) // them
}

// given reports whether a decision counts as the class given to a row.
func (u *unjudged) given(d label.Decision, before string) bool {
	slip := d.By == label.Person && d.Class != "" && !d.Again && !slices.Contains(u.known, before)
	return u.known != nil && (d.By == label.Bulk || slip)
}

// Each implements embedding.Rows.
func (u *unjudged) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	return u.Rows.Each(ctx, func(item embedding.Item) error {
		d, ok := u.decided.Of(item)
		switch {
		case item.Err != nil || !ok || d.By == label.List:
		case u.given(d, item.Sample.Label):
			item.Sample.Label = d.Class
		default:
			u.judged++
			u.see(item)
			return nil
		}
		return emit(item)
	})
}
