package pldaplus

import (
	"context"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A trial is one pseudo-session: the results of every candidate for every
// held-out example, reduced to what does not depend on b.
type trial struct {
	candidates []Setting
	base       int // number of rows of base classes, which come first
	rows       [][]outcome
}

// An outcome is the result of one candidate for one example.
type outcome struct {
	gap                  float32 // best later score − best base score
	baseMass, laterMass  float32 // their log-sum-exps
	own                  float32 // score of the true class
	baseRight, laterIsIt bool    // the best of either is the true class
}

// accuracies returns the means of the accuracies on base and on later classes,
// with each of some b, ascending, added to the scores of later classes.
func (t *trial) accuracies(k int, shifts []float64) []float64 {
	changes := make([][2]int, len(shifts)+1) // in what is right, from one b to the next
	for i, v := range t.rows[k] {
		kind, at := t.kind(i), sort.Search(len(shifts), func(j int) bool { return float64(v.gap)+shifts[j] > 0 })
		if v.baseRight {
			changes[0][kind]++
			changes[at][kind]--
		}
		if v.laterIsIt {
			changes[at][kind]++
		}
	}
	var right [2]int
	out := make([]float64, len(shifts))
	for j := range shifts {
		right[0], right[1] = right[0]+changes[j][0], right[1]+changes[j][1]
		out[j] = (float64(right[0])/float64(t.base) + float64(right[1])/float64(len(t.rows[k])-t.base)) / 2
	}
	return out
}

// kind returns 0 for an example of a base class and 1 for a later one.
func (t *trial) kind(row int) int {
	if row < t.base {
		return 0
	}
	return 1
}

// result returns the accuracy together with the negative log-likelihood.
func (t *trial) result(k int, b float64) episodes.Result {
	var nll [2]float64
	for i, v := range t.rows[k] {
		own := float64(v.own)
		if t.kind(i) == 1 {
			own += b
		}
		nll[t.kind(i)] += classifier.LogSumExp([]float64{float64(v.baseMass), float64(v.laterMass) + b}) - own
	}
	return episodes.Result{Accuracy: t.accuracies(k, []float64{b})[0],
		NLL: (nll[0]/float64(t.base) + nll[1]/float64(len(t.rows[k])-t.base)) / 2}
}

// try learns and scores one pseudo-session for all candidates.
func (c chooser) try(ctx context.Context, d episodes.Draw, rerank bool) (*trial, error) {
	f, err := c.fitTrial(ctx, d, rerank)
	if err != nil {
		return nil, err
	}
	t := &trial{candidates: append(c.plains(), c.calibrated(rerank)...), base: d.BaseTest.X.Rows}
	t.rows = make([][]outcome, len(t.candidates))
	for k := range t.candidates {
		t.rows[k] = make([]outcome, t.base+d.NovelTest.X.Rows)
	}
	base, err := f.prepare(d.BaseTest, 0)
	if err != nil {
		return nil, err
	}
	novel, err := f.prepare(d.NovelTest, t.base)
	if err != nil {
		return nil, err
	}
	for _, p := range c.plains() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		densities, _, err := densities(f.space, f.classes, p.Nu, c.Student)
		if err != nil {
			return nil, err
		}
		f.scorer.stack = f.space.Stack(densities)
		for _, x := range []examples{base, novel} {
			if err := f.score(ctx, t, p.Nu, x); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// fittedTrial is a fitted pseudo-session.
type fittedTrial struct {
	space   *gauss.Space
	names   []string
	classes []class // base classes first
	base    int     // number of them
	scorer  *scorer // its cosines and logits are those of all ν
}

// fitTrial learns a pseudo-session with a head with an arbitrary ν, which does
// not affect the parameters specific to a class.
func (c chooser) fitTrial(ctx context.Context, d episodes.Draw, rerank bool) (*fittedTrial, error) {
	c.Nu, c.Calibrate, c.Statistics = nus()[1], false, false
	h, err := New(PPCAEB, c.Config)
	if err != nil {
		return nil, err
	}
	h.Start = gauss.Start{Prior: c.prior, Weight: c.weight}
	h.UseBackend(c.backend)
	if err := h.Learn(ctx, d.Base.X, d.Base.Y); err != nil {
		return nil, err
	}
	f := &fittedTrial{base: len(h.Classes())}
	if err := h.Learn(ctx, d.Shots.X, d.Shots.Y); err != nil {
		return nil, err
	}
	m := h.Model().Clone()
	f.space, f.names, f.classes = m.Shared.Space, m.Classes.Names(), m.Classes.Values()
	setting := Setting{Nu: Pooled, Kappa: 1, Temperature: 1}
	if rerank {
		setting.Rerank = 1
		base, err := moments.NewSession(d.Base.X, d.Base.Y, 0, true)
		if err != nil {
			return nil, err
		}
		w, err := regress(ctx, f.space, base)
		if err != nil {
			return nil, err
		}
		for i := range f.base {
			f.classes[i].logit = dense.Row(w, i)
		}
	}
	f.scorer = newScorer(f.space, setting, f.classes)
	return f, nil
}

// examples are held-out examples of one kind, with what does not depend on ν.
type examples struct {
	first int // row of the trial
	truth []int
	white blas64.General
	values
}

func (f *fittedTrial) prepare(test episodes.Episode, first int) (examples, error) {
	x := examples{first: first, truth: make([]int, len(test.Y))}
	for i, y := range test.Y {
		x.truth[i] = slices.Index(f.names, y)
	}
	var err error
	if x.white, err = f.space.WhitenedRows(test.X); err != nil {
		return x, err
	}
	return x, f.scorer.addCalibration(&x.values, x.white)
}

// score fills in the outcomes of examples for the ν of the scorer's stack.
func (f *fittedTrial) score(ctx context.Context, t *trial, nu float64, x examples) error {
	size := f.scorer.stack.Batch()
	for start := 0; start < x.white.Rows; start += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(start+size, x.white.Rows)
		rows := blas64.General{Rows: end - start, Cols: x.white.Cols, Stride: x.white.Stride,
			Data: x.white.Data[start*x.white.Stride : end*x.white.Stride]}
		density, err := f.scorer.stack.LogDensities(rows)
		if err != nil {
			return err
		}
		dense.Parallel(rows.Rows, func(i int) {
			t.score(nu, x.first+start+i, dense.Row(density, i), x.row(start+i), f.base, x.truth[start+i])
		})
	}
	return nil
}

// score writes the outcomes of all candidates with one ν for one example; the
// first base columns are base classes. Candidates that differ only in g are
// adjacent and share what does not depend on it.
func (t *trial) score(nu float64, row int, density []float64, v rowValues, base, truth int) {
	ranks := make(map[float64]ranked)
	var w weighed
	var last Setting
	for k, s := range t.candidates {
		if s.Nu != nu {
			continue
		}
		if s.Kappa != last.Kappa || s.Temperature != last.Temperature {
			w, last = weigh(s, density, v.cosine, base, truth), s
		}
		if s.Rerank == 0 {
			t.rows[k][row] = w.outcome(w.base, truth, base)
			continue
		}
		r, ok := ranks[s.Rerank]
		if !ok {
			r = rank(s.Rerank, v.rank, truth)
			ranks[s.Rerank] = r
		}
		t.rows[k][row] = w.outcome(r, truth, base)
	}
}

// ranked summarises the scores of base classes: the best class, its score and
// that of the true class.
type ranked struct {
	best     int
	top, own float64
}

// rank ranks log-softmax(g·logit), relative to the mass of the base classes.
func rank(g float64, logits []float64, truth int) ranked {
	scores := make([]float64, len(logits))
	for i, l := range logits {
		scores[i] = g * l
	}
	classifier.LogSoftmax(scores)
	return rankedOf(scores, truth)
}

func rankedOf(scores []float64, truth int) ranked {
	r := ranked{best: floats.MaxIdx(scores)}
	r.top = scores[r.best]
	if truth < len(scores) {
		r.own = scores[truth]
	}
	return r
}

// weighed holds the scores for one κ and T.
type weighed struct {
	base            ranked // relative to mass
	mass, laterMass float64
	later           ranked // truth counted from the first later class
}

func weigh(s Setting, density, cosine []float64, base, truth int) weighed {
	scores := make([]float64, len(density))
	for c, l := range density {
		scores[c] = (l + s.Kappa*cosine[c]) / s.Temperature
	}
	w := weighed{mass: classifier.LogSumExp(scores[:base]), laterMass: classifier.LogSumExp(scores[base:])}
	w.base = rankedOf(scores[:base], truth)
	w.base.top, w.base.own = w.base.top-w.mass, w.base.own-w.mass
	w.later = ranked{best: floats.MaxIdx(scores[base:])}
	w.later.top = scores[base+w.later.best]
	if truth >= base {
		w.later.own = scores[truth]
	}
	return w
}

// outcome combines both groups; r is the ranking of the base classes.
func (w weighed) outcome(r ranked, truth, base int) outcome {
	own := w.mass + r.own
	if truth >= base {
		own = w.later.own
	}
	return outcome{
		gap: float32(w.later.top - w.mass - r.top), baseMass: float32(w.mass), laterMass: float32(w.laterMass),
		own: float32(own), baseRight: r.best == truth, laterIsIt: base+w.later.best == truth,
	}
}
