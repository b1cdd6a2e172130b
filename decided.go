package pipeline

import (
	"context"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// truths are rows whose class is what a person decided, whatever their folder says.
type truths struct {
	embed.Rows
	decided label.Decisions
	// changed counts rows whose class is not that of their folder.
	changed int
}

func newTruths(rows embed.Rows, file string, m *model.Model) (*truths, error) {
	decided, err := teach.Decided(file, m)
	return &truths{Rows: rows, decided: decided}, err
}

// Each implements embed.Rows.
func (t *truths) Each(ctx context.Context, emit func(embed.Item) error) (embed.Outcome, error) {
	return t.Rows.Each(ctx, func(item embed.Item) error {
		if d, ok := t.decided.Of(item); ok && item.Err == nil && d.By.Seen() {
			if d.Class != item.Sample.Label {
				t.changed++
			}
			item.Sample.Label = d.Class
		}
		return emit(item)
	})
}

// tell says how many classes a person decided differently from the folder.
func (t *truths) tell(l *lines) {
	if t.changed > 0 {
		l.add("%s of another class than their folder or list says, as a person decided",
			plural(t.changed, "image is", "images are"))
	}
}

// unjudged are the rows that no person has decided about. What was accepted in bulk counts
// as the class given to a row, or is left out as well.
type unjudged struct {
	embed.Rows
	decided  label.Decisions
	keepBulk bool
	judged   int              // rows that it left out
	see      func(embed.Item) // them
}

// Each implements embed.Rows.
func (u *unjudged) Each(ctx context.Context, emit func(embed.Item) error) (embed.Outcome, error) {
	return u.Rows.Each(ctx, func(item embed.Item) error {
		d, ok := u.decided.Of(item)
		switch {
		case item.Err != nil || !ok || d.By == label.List:
		case d.By == label.Bulk && u.keepBulk:
			item.Sample.Label = d.Class
		default:
			u.judged++
			u.see(item)
			return nil
		}
		return emit(item)
	})
}

// decidedOnly are the rows that people gave a class, or that could not be read.
type decidedOnly struct {
	embed.Rows
	decided label.Decisions
}

// Each implements embed.Rows.
func (o decidedOnly) Each(ctx context.Context, emit func(embed.Item) error) (embed.Outcome, error) {
	return o.Rows.Each(ctx, func(item embed.Item) error {
		if d, _ := o.decided.Of(item); !d.Given() && item.Err == nil {
			return nil
		}
		return emit(item)
	})
}
