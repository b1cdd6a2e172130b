package gptree

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/pldaplus"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Mean names the prior mean of the latent functions: zero, or the log-odds of a
// generative head.
type Mean string

// The means.
const (
	MeanZero     Mean = "zero"
	MeanPLDA     Mean = "plda"
	MeanPLDAPlus Mean = pldaplus.PLDAPlus
)

// A mean is the prior mean m_v of all nodes,
//
//	m_v(x) = log Σ_{c left} p(c|x)^{1/T} − log Σ_{c right} p(c|x)^{1/T}
//
// with p(c|x) of a head that has learned the same classes. It is immutable.
type mean struct {
	head        classifier.Learner
	temperature float64
}

// method returns the registry's row of the head; MeanZero has none.
func (m Mean) method() classifier.Method {
	for _, row := range append(plda.Methods(), pldaplus.Methods()...) {
		if row.Name == string(m) {
			return row
		}
	}
	return classifier.Method{}
}

// meanHeads makes the heads of a mean, with a backend, the seed of what they draw, and η.
type meanHeads struct {
	Mean
	on     linalg.Backend
	seed   uint64
	length float64
}

func (h *GPTree) meanHeads() meanHeads {
	return meanHeads{h.cfg.Mean, h.mul, h.cfg.Seed, h.cfg.MeanLength}
}

// unfitted returns a new head.
func (m meanHeads) unfitted() (classifier.Learner, error) {
	row := m.method()
	settings, err := row.Decode(row.Default(), map[string]any{"mean_length": m.length})
	if err != nil {
		return nil, err
	}
	head, err := row.New(row.Resolve(settings, classifier.Run{Seed: m.seed, WithoutStatistics: true}))
	if err == nil {
		classifier.UseBackend(head, m.on)
	}
	return head, err
}

// copyOf returns a head that can learn without changing head. If that is nil it has
// learned nothing, and has the settings that like has chosen unless like is nil too.
func (m meanHeads) copyOf(head, like classifier.Learner) (classifier.Learner, error) {
	if like, ok := like.(classifier.Unfitter); ok && head == nil {
		return like.Unfitted()
	}
	if head == nil {
		return m.unfitted()
	}
	return cloned(head)
}

// cloned returns a copy of a head of a mean; all that Mean.method lists can be copied.
func cloned(head classifier.Learner) (classifier.Learner, error) {
	if head, ok := head.(classifier.Cloner); ok {
		return head.Clone()
	}
	return nil, nil
}

// learned returns a copy of head, by copyOf, that has learned a session.
func (m meanHeads) learned(ctx context.Context, head, like classifier.Learner, x blas32.General,
	y []string) (classifier.Learner, error) {
	next, err := m.copyOf(head, like)
	if err == nil {
		err = next.Learn(ctx, x, y)
	}
	if err != nil {
		return nil, fmt.Errorf("mean %s: %w", m.Mean, err)
	}
	return next, nil
}

// expect makes the classes known to a head: those that are new have no examples.
func (m Mean) expect(head classifier.Learner, classes []string) error {
	h, ok := head.(classifier.Expecter)
	if !ok {
		return fmt.Errorf("mean %s: its head has no density for a class without examples", m)
	}
	return h.Expect(classes...)
}

// manyFolds is the number of folds for sessions in which no class has more than
// calibration.MaxPerClass examples, fewFolds that for others.
const (
	manyFolds = calibration.Folds
	fewFolds  = 3
)

// A seen session holds examples, with the log-probabilities that heads give which
// have not seen them.
type seen struct {
	x blas32.General
	// logProb has the columns of the head that has seen them.
	logProb blas64.General
	// left reports which examples count as left out. One that is alone in its class
	// does not: it has the log-probabilities of a head to which the class is new, and
	// says nothing about T, nor whether the residual pays.
	left []bool
	own  []int // column
}

// leaveOut teaches copies of base the session without a fold, and asks them about
// that; full has learned the whole session. A class with nothing left has no example
// (n = 0). If all are alone in their classes, none is left out. A base session's
// settings are those that full has chosen.
func (m meanHeads) leaveOut(ctx context.Context, base, full classifier.Learner, x blas32.General,
	y []string) (seen, error) {
	s := seen{x: x, logProb: dense.New(x.Rows, len(full.Classes())), left: make([]bool, x.Rows),
		own: make([]int, x.Rows)}
	column := make(map[string]int)
	for c, name := range full.Classes() {
		column[name] = c
	}
	for i, name := range y {
		s.own[i] = column[name]
	}
	if err := full.Score(s.logProb, nil, x); err != nil {
		return s, err
	}
	fold, folds := foldsOf(x, y)
	for _, g := range classifier.GroupByClass(y) {
		for _, r := range g.Rows {
			s.left[r] = len(g.Rows) > 1
		}
	}
	for f := range folds {
		var kept, out []int
		for i := range fold {
			if fold[i] == f {
				out = append(out, i)
			} else {
				kept = append(kept, i)
			}
		}
		if len(out) == 0 {
			continue
		}
		rest := episodes.Episode{X: x, Y: y}.Pick(kept)
		head, err := m.learned(ctx, base, full, rest.X, rest.Y)
		if err == nil && len(head.Classes()) < len(full.Classes()) {
			err = m.expect(head, full.Classes())
		}
		if err != nil {
			return s, err
		}
		answers := dense.New(len(out), len(head.Classes()))
		if err := head.Score(answers, nil, dense.Gather32(x, out)); err != nil {
			return s, err
		}
		for i, r := range out {
			for c, name := range head.Classes() {
				dense.Row(s.logProb, r)[column[name]] = dense.Row(answers, i)[c]
			}
		}
	}
	return s, nil
}

// foldsOf returns the fold that leaves out each example, and the number of folds, 0
// if no class has two examples. Folds depend on content, not on order.
func foldsOf(x blas32.General, y []string) (fold []int, folds int) {
	classes, most := classifier.GroupByClass(y), 0
	for _, g := range classes {
		most = max(most, len(g.Rows))
	}
	switch {
	case most > calibration.MaxPerClass:
		folds = fewFolds
	case most > 1:
		folds = manyFolds
	default:
		return nil, 0
	}
	next := 0
	fold = make([]int, x.Rows)
	for _, g := range classes {
		for _, r := range exemplars.Sorted(x, g.Rows) {
			fold[r] = next % folds
			next++
		}
	}
	return fold, folds
}

// temperature returns the T under which the left-out examples are most probable.
func (s seen) temperature() float64 {
	var rows, own []int
	for i, left := range s.left {
		if left {
			rows, own = append(rows, i), append(own, s.own[i])
		}
	}
	return temperature.Of(dense.Gather(s.logProb, rows), own)
}

// logOdds returns m_v at the splits of a tree (n×splits) from the log-probabilities
// of the head; column is the column of every leaf.
func (m *mean) logOdds(t *Tree, column []int, logProb blas64.General) (blas64.General, error) {
	scores, out := dense.New(logProb.Rows, len(column)), dense.New(logProb.Rows, t.Splits())
	for i := range scores.Rows {
		from, to := dense.Row(logProb, i), dense.Row(scores, i)
		for leaf, c := range column {
			to[leaf] = from[c] / m.temperature
		}
	}
	return out, t.logOdds(out, scores)
}

// columns returns the columns of the head that belong to the given classes.
func (m *mean) columns(classes []string) []int {
	column := make([]int, len(classes))
	for i, name := range classes {
		column[i] = slices.Index(m.head.Classes(), name)
	}
	return column
}

// ask returns the log-probabilities of the head at a few rows, and their novelty.
func (m *mean) ask(x blas32.General) (logProb blas64.General, novelty []float64, err error) {
	logProb, novelty = dense.New(x.Rows, len(m.head.Classes())), make([]float64, x.Rows)
	return logProb, novelty, m.head.Score(logProb, novelty, x)
}

// at returns m_v at the points of a model: inducing inputs as the head sees them, and
// examples left out.
func (s seen) at(m *model, rows exemplars.Rows) (nodeMeans, error) {
	x := blas32.General{Rows: len(rows), Cols: m.points.X.Cols, Stride: m.points.X.Cols, Data: slices.Concat(rows...)}
	logProb, _, err := m.mean.ask(x)
	if err != nil {
		return nil, err
	}
	for i, r := range s.rowsOf(m) {
		if r >= 0 {
			copy(dense.Row(logProb, i), dense.Row(s.logProb, r))
		}
	}
	means, err := m.mean.logOdds(m.tree, m.meanColumn, logProb)
	if err != nil {
		return nil, err
	}
	return func(split, lo, hi int) ([]float64, error) {
		out := make([]float64, hi-lo)
		for i := range out {
			out[i] = dense.Row(means, lo+i)[split]
		}
		return out, nil
	}, nil
}

// rowsOf returns the example at every point of a model, −1 for an inducing input.
func (s seen) rowsOf(m *model) []int {
	out := slices.Repeat([]int{-1}, m.points.Len())
	first := make(map[int]int) // of every column
	for i, c := range s.own {
		if _, ok := first[c]; !ok {
			first[c] = i
		}
	}
	_, class := m.tree.Spans()
	for k, leaf := range class {
		if row, ok := first[m.meanColumn[leaf]]; ok {
			for i := m.first[k]; i < m.first[k+1]; i++ {
				out[i] = row + i - m.first[k]
			}
		}
	}
	return out
}
