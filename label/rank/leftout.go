package rank

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// Wrong returns how many labels are wrong (package labelnoise), of those that models judged
// which had not learned them.
func (r *Ranking) Wrong() *account.Wrong {
	noise := r.labels.Fit()
	doubts := account.NewDoubts(noise)
	for i := range r.labels.Len() {
		doubts.Add(r.labels.Wrong(noise, i))
	}
	return doubts.Wrong()
}

// Judged takes in an image that somebody has decided about: it is not ranked, but those are that were learned with it.
func (r *Ranking) Judged(content [sha256.Size]byte, vector []float32) {
	if r.learned != nil && len(r.learned(content)) > 0 {
		r.judged[content] = vector
	}
}

// A setAside image was learned as id; entry is what the model that learned it says.
type setAside struct {
	entry Entry
	image embedded
	id    model.SampleID
}

// SetAside makes a ranking by LabelError put aside the images that m has learned, for
// LeaveOut: a model that has learned a wrong label defends it. Call it before the
// first Put.
func (r *Ranking) SetAside(m *model.Model) {
	r.learned, r.judged = m.LearnedAs(), map[model.Hash][]float32{}
}

// learnedAs returns as what an image was learned: its given class if it was, otherwise
// another.
func (r *Ranking) learnedAs(image embedded) (model.SampleID, bool) {
	if r.learned == nil {
		return model.SampleID{}, false
	}
	classes := r.learned(image.content)
	if len(classes) == 0 {
		return model.SampleID{}, false
	}
	id := model.SampleID{Content: image.content, Class: classes[0]}
	if slices.Contains(classes, image.given) {
		id.Class = image.given
	}
	return id, true
}

// LeaveOut ranks what SetAside put aside, after the last row, and returns how many images
// it left out to do so. Label, probability, novelty (an image is novel above threshold) and
// score are those of models that have not learned the image. What cannot be left out, the only
// example of a class, is ranked by m. So is what was learned at first if embeddings of other
// examples are needed that are not among the rows; the error then wraps a
// *model.MissingRowsError. Cost: that of Model.LeaveOut.
func (r *Ranking) LeaveOut(ctx context.Context, m *model.Model, threshold float64) (int, error) {
	if len(r.aside) == 0 {
		return 0, nil
	}
	rows, places := r.judged, map[model.SampleID][]int{}
	for i, s := range r.aside {
		rows[s.image.content] = s.image.vector
		places[s.id] = append(places[s.id], i)
	}
	n := 0
	err := m.LeaveOut(ctx, rows, func(l model.Verdict) {
		for _, i := range places[l.ID] {
			s, p := &r.aside[i], classifier.FromLogProb(m.Classes(), l.LogProb, 1)
			s.entry.Label, s.entry.Probability, s.entry.Novel = p.Label, p.Probability, l.Novelty > threshold
			given := r.known[s.entry.Given]
			s.entry.Score = Doubt(l.LogProb, given)
			r.labels.Add(l.LogProb, given)
			n++
		}
	})
	if missing := (*model.MissingRowsError)(nil); err != nil && !errors.As(err, &missing) {
		return 0, err
	}
	for _, s := range r.aside {
		r.add(s.entry, s.image)
	}
	r.aside = nil
	r.finish()
	return n, err
}
