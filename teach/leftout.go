package teach

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/labelnoise"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/model"
)

// A leftOut is what is said of the examples of a model, each scored by a model that did
// not learn it.
type leftOut struct {
	// photos has what is said of each, and noise what the labels tell of how many are wrong.
	photos map[ID]judged
	noise  labelnoise.Noise
}

// A judged photo has its most probable class, the doubt about its label (rank.Doubt), and how
// probably that is wrong.
type judged struct {
	first        string
	doubt, wrong float64
}

// leaveOut scores every example by a model that has not learned it (model.LeaveOut). The
// only example of a class is not scored, nor what the model lacks embeddings for.
func leaveOut(ctx context.Context, m *model.Model, have []model.SampleID, row func(ID) []float32) (leftOut, error) {
	rows := make(map[model.Hash][]float32, len(have))
	for _, s := range have {
		if x := row(ID(s.Content)); x != nil {
			rows[s.Content] = x
		}
	}
	out := leftOut{photos: map[ID]judged{}}
	var labels labelnoise.Labels
	var ids []ID
	err := m.LeaveOut(ctx, rows, func(l model.Verdict) {
		id, own := ID(l.ID.Content), slices.Index(m.Classes(), l.ID.Class)
		labels.Add(l.LogProb, own)
		ids = append(ids, id)
		out.photos[id] = judged{m.Classes()[floats.MaxIdx(l.LogProb)], rank.Doubt(l.LogProb, own), 0}
	})
	if missing := (*model.MissingRowsError)(nil); err != nil && !errors.As(err, &missing) {
		return leftOut{}, err
	}
	out.noise = labels.Fit()
	for i, id := range ids {
		photo := out.photos[id]
		photo.wrong = labels.Wrong(out.noise, i)
		out.photos[id] = photo
	}
	return out, nil
}
