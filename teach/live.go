package teach

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/model"
)

// A live model scores photos, and follows decisions between fits.
type live struct {
	*model.Model
	// have are the examples that it has learned.
	have []model.SampleID
	// threshold is the novelty from which a photo is unknown, +Inf if not known.
	threshold float64
	// linear is the head if it can follow.
	linear classifier.Linear
	// stale reports that it has not followed the last decisions.
	stale  bool
	scores *scores // of the photos
}

// newLive returns a live model without any scores. The features of photos go into a
// temporary file.
func newLive(m *model.Model, have []model.SampleID, temp string) (*live, error) {
	l := &live{Model: m, have: have, threshold: m.UsualThreshold()}
	linear, ok := m.Predictor.Head.(classifier.Linear)
	ok = ok && m.Predictor.OldShare == 0 // which the scores of the head know nothing of
	if m.Predictor.Words() != nil {
		ok = false // with names every example changes the scores of all classes
	}
	if _, forgets := m.Predictor.Head.(classifier.SampleForgetter); ok && forgets {
		l.linear = linear
	}
	l.scores = newScores(l)
	if l.linear == nil {
		return l, nil
	}
	phi, err := m.Predictor.Features(blas32.General{Rows: 0, Cols: m.Dim(), Stride: m.Dim()})
	if err == nil {
		l.scores.phi, err = newRows(temp, phi.Cols)
	}
	return l, err
}

// close accepts nil.
func (l *live) close() {
	if l != nil {
		l.scores.phi.Close()
	}
}

// extend scores the first n photos of x, those that have no scores yet. A head that stopped halfway
// through following has other classes than the scores: photos that come then wait for the next fit.
func (l *live) extend(ctx context.Context, x rows, n int) error {
	first := l.scores.len()
	if first == n || l.stale && l.linear != nil {
		return nil
	}
	l.scores.resize(n)
	err := l.scores.features(ctx, l, x, first, n)
	if err == nil {
		err = l.scores.score(ctx, l, x, first, n, dense.Range(0, len(l.scores.classes)), true)
	}
	return err
}

// catchUp follows lines since a state that it has followed. However many there are, it learns and
// unlearns once what they come to.
func (l *live) catchUp(ctx context.Context, x rows, st *state, since []Line, row func(ID) []float32) {
	st.take(since...)
	if slices.ContainsFunc(since, Line.changes) {
		l.rescore(ctx, x, l.follow(st.examples(), row))
	}
}

// follow changes what the head has learned, and returns the classes whose scores
// changed. A model that cannot follow becomes stale.
func (l *live) follow(want []model.SampleID, row func(ID) []float32) map[string]bool {
	if l.stale || l.linear == nil {
		l.stale = l.stale || !slices.Equal(l.have, want)
		return nil
	}
	gone, learned, err := difference(l.have, want, l.Dim(), row)
	if err == nil { // learned first: without any example a head would lose what its classes share
		err = l.Amend(context.Background(), model.Batch{}, learned)
	}
	if err == nil {
		err = l.Amend(context.Background(), gone, model.Batch{})
	}
	l.have, l.stale = want, err != nil || len(l.Classes()) < leastClasses
	changed := map[string]bool{}
	for _, c := range slices.Concat(gone.Labels, learned.Labels) {
		changed[c] = true
	}
	return changed
}

// rescore recomputes the scores of the changed classes.
func (l *live) rescore(ctx context.Context, x rows, changed map[string]bool) {
	if l.stale || len(changed) == 0 {
		return
	}
	sc := l.scores
	stay := sc.arrange(l.Classes())
	var columns []int
	for c, name := range sc.classes {
		if changed[name] {
			columns = append(columns, c)
		}
	}
	if err := sc.score(ctx, l, x, 0, sc.len(), columns, !stay); err != nil {
		l.stale = true
	}
}

// scored reports whether photo i has scores; l may be nil.
func (l *live) scored(i int) bool { return l != nil && i < l.scores.len() }

// unknown reports whether photo i, which has scores, is like no class.
func (l *live) unknown(i int) bool { return float64(l.scores.photos[i].novelty) > l.threshold }

// predicted returns the most probable class of photo i, which has scores, and its
// probability.
func (l *live) predicted(i int) (class string, prob float64) {
	p := l.scores.photos[i]
	return l.scores.classes[p.first], float64(p.prob)
}

// margin returns by how much the most probable class of photo i is ahead of the next.
func (l *live) margin(i int) float64 {
	p := l.scores.photos[i]
	return float64(p.prob) - float64(p.runner)
}

// temperature returns T.
func (l *live) temperature() float64 {
	if t := l.Predictor.Temperature; t != nil {
		return t.T
	}
	return 1
}

// frozen returns a live model without scores that decisions do not change, to use without a
// lock; nil for nil, or if there is none.
func (l *live) frozen() (*live, error) {
	if l == nil || l.linear == nil {
		return l, nil
	}
	cloner, ok := l.Predictor.Head.(classifier.Cloner)
	if !ok {
		return nil, nil
	}
	head, err := cloner.Clone()
	if err != nil {
		return nil, err
	}
	p, m, out := *l.Predictor, *l.Model, *l
	p.Head, m.Predictor, out.Model, out.linear = head, &p, &m, head.(classifier.Linear)
	out.scores = nil
	return &out, nil
}
