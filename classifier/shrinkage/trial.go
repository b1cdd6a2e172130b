package shrinkage

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// A trial is one pseudo-session: what every candidate says of every held-out
// example, reduced to what b does not change.
type trial struct {
	candidates []Setting
	base       int // the first rows are of base classes
	rows       [][]verdict
}

// A verdict is one candidate's of one example.
type verdict struct {
	gap                  float32 // best later score − best base score
	baseMass, laterMass  float32 // their log-sum-exps
	own                  float32 // score of the true class
	baseRight, laterIsIt bool    // the best of either is the true class
}

// accuracy is the mean of that on base and on later classes, with b added to
// the scores of later classes.
func (t *trial) accuracy(k int, b float64) float64 {
	var right [2]float64
	for i, v := range t.rows[k] {
		ok := v.baseRight
		if float64(v.gap)+b > 0 {
			ok = v.laterIsIt
		}
		if ok {
			right[t.kind(i)]++
		}
	}
	return (right[0]/float64(t.base) + right[1]/float64(len(t.rows[k])-t.base)) / 2
}

// kind is 0 for an example of a base class and 1 for a later one.
func (t *trial) kind(row int) int {
	if row < t.base {
		return 0
	}
	return 1
}

// result is accuracy with the negative log-likelihood beside it.
func (t *trial) result(k int, b float64) episodes.Result {
	var nll [2]float64
	for i, v := range t.rows[k] {
		own := float64(v.own)
		if t.kind(i) == 1 {
			own += b
		}
		nll[t.kind(i)] += classifier.LogSumExp([]float64{float64(v.baseMass), float64(v.laterMass) + b}) - own
	}
	return episodes.Result{Accuracy: t.accuracy(k, b), NLL: (nll[0]/float64(t.base) + nll[1]/float64(len(t.rows[k])-t.base)) / 2}
}

// try learns and scores one pseudo-session for all candidates.
func (c Config) try(ctx context.Context, mul linalg.Backend, d episodes.Draw, rerank bool) (*trial, error) {
	f, err := c.fitTrial(ctx, mul, d, rerank)
	if err != nil {
		return nil, err
	}
	t := &trial{candidates: append(c.plains(), c.calibrated(rerank)...), base: d.BaseTest.X.Rows}
	t.rows = make([][]verdict, len(t.candidates))
	for k := range t.candidates {
		t.rows[k] = make([]verdict, t.base+d.NovelTest.X.Rows)
	}
	first := 0
	for _, test := range []episodes.Session{d.BaseTest, d.NovelTest} {
		if err := f.score(ctx, t, first, test); err != nil {
			return nil, err
		}
		first += test.X.Rows
	}
	return t, nil
}

// fittedTrial is a pseudo-session, learned.
type fittedTrial struct {
	cfg        Config
	space      *gauss.Space
	names      []string
	classes    []class        // base classes first
	base       int            // number of them
	regression blas64.General // 0×0 where there is none
	scorer     *scorer        // for cosines and logits
}

func (c Config) fitTrial(ctx context.Context, mul linalg.Backend, d episodes.Draw, rerank bool) (*fittedTrial, error) {
	h := &Head{cfg: c, mul: mul}
	h.cfg.Statistics = false
	groups := classifier.GroupByClass(d.Base.Y)
	totals := h.extended(d.Base.X, groups)
	basis, err := gauss.Fit(ctx, mul, d.Base.X, groups, totals)
	if err != nil {
		return nil, err
	}
	f := &fittedTrial{cfg: c, base: len(groups)}
	if f.space, err = c.spaceOf(basis); err != nil {
		return nil, err
	}
	h.space = f.space
	for _, s := range []episodes.Session{d.Base, d.Shots} {
		if err := f.learn(ctx, h, s); err != nil {
			return nil, err
		}
	}
	if rerank {
		if f.regression, err = regress(ctx, f.space, d.Base.X, d.Base.Y); err != nil {
			return nil, err
		}
	}
	return f, f.prepare()
}

// learn fits the classes of one session.
func (f *fittedTrial) learn(ctx context.Context, h *Head, s episodes.Session) error {
	groups := classifier.GroupByClass(s.Y)
	totals := h.extended(s.X, groups)
	fitted, err := h.eachGroup(ctx, groups, func(i int, _ class) (class, error) {
		stats := moments.New(s.X.Cols)
		if err := stats.Add(place(s.X, groups[i].Rows)); err != nil {
			return class{}, err
		}
		return h.fit(class{Total: totals[i], base: len(f.classes) == 0}, stats)
	})
	for _, g := range groups {
		f.names = append(f.names, g.Class)
	}
	f.classes = append(f.classes, fitted...)
	return err
}

// prepare makes a scorer of what all ν share.
func (f *fittedTrial) prepare() error {
	made, units, err := densities(f.space, f.classes, Pooled, false)
	if err != nil {
		return err
	}
	setting := Setting{Nu: Pooled, Kappa: 1, Temperature: 1}
	if f.regression.Rows > 0 {
		setting.Rerank = 1
	}
	for i := range f.classes {
		f.classes[i].density, f.classes[i].unit = made[i], units[i]
		if i < f.regression.Rows {
			f.classes[i].logit = f.regression.Data[i*f.regression.Stride : (i+1)*f.regression.Stride]
		}
	}
	f.scorer = newScorer(f.space, setting, f.classes)
	return nil
}

// score fills in the verdicts on one kind of examples.
func (f *fittedTrial) score(ctx context.Context, t *trial, first int, test episodes.Session) error {
	truth := make([]int, len(test.Y))
	for i, y := range test.Y {
		truth[i] = slices.Index(f.names, y)
	}
	for _, p := range f.cfg.plains() {
		if err := ctx.Err(); err != nil {
			return err
		}
		made, _, err := densities(f.space, f.classes, p.Nu, f.cfg.Student)
		if err != nil {
			return err
		}
		s := *f.scorer
		s.stack = f.space.Stack(made)
		if err := f.scoreNu(t, &s, p.Nu, first, test.X, truth); err != nil {
			return err
		}
	}
	return nil
}

func (f *fittedTrial) scoreNu(t *trial, s *scorer, nu float64, first int, x blas32.General, truth []int) error {
	size := s.stack.Batch()
	for start := 0; start < x.Rows; start += size {
		rows := dense.Rows32(x, start, min(start+size, x.Rows))
		v, err := s.values(rows)
		if err != nil {
			return err
		}
		dense.Parallel(rows.Rows, func(i int) {
			density := v.density.Data[i*v.density.Cols : (i+1)*v.density.Cols]
			t.judge(nu, first+start+i, density, v.row(i), f.base, truth[start+i])
		})
	}
	return nil
}

// judge writes the verdicts of all candidates of one ν on one example; the
// first base columns are base classes. Candidates that differ in g alone
// follow each other and share what does not depend on it.
func (t *trial) judge(nu float64, row int, density []float64, v rowValues, base, truth int) {
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
			t.rows[k][row] = w.verdict(w.base, truth, base)
			continue
		}
		r, ok := ranks[s.Rerank]
		if !ok {
			r = rank(s.Rerank, v.rank, truth)
			ranks[s.Rerank] = r
		}
		t.rows[k][row] = w.verdict(r, truth, base)
	}
}

// ranked is what counts of the scores of base classes: the best of them, its
// score and that of the true class.
type ranked struct {
	best     int
	top, own float64
}

// rank takes log-softmax(g·logit), relative to the mass of the base classes.
func rank(g float64, logits []float64, truth int) ranked {
	scores := make([]float64, len(logits))
	for i, l := range logits {
		scores[i] = g * l
	}
	classifier.LogSoftmax(scores)
	return rankedOf(scores, truth)
}

func rankedOf(scores []float64, truth int) ranked {
	r := ranked{best: largest(scores)}
	r.top = scores[r.best]
	if truth < len(scores) {
		r.own = scores[truth]
	}
	return r
}

// weighed is what one κ and T make of the log-densities.
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
	w.later = ranked{best: largest(scores[base:])}
	w.later.top = scores[base+w.later.best]
	if truth >= base {
		w.later.own = scores[truth]
	}
	return w
}

// verdict joins them; r is the ranking of the base classes.
func (w weighed) verdict(r ranked, truth, base int) verdict {
	own := w.mass + r.own
	if truth >= base {
		own = w.later.own
	}
	return verdict{
		gap: float32(w.later.top - w.mass - r.top), baseMass: float32(w.mass), laterMass: float32(w.laterMass),
		own: float32(own), baseRight: r.best == truth, laterIsIt: base+w.later.best == truth,
	}
}

// largest is the first position of the largest value.
func largest(v []float64) int {
	best := 0
	for j, x := range v {
		if x > v[best] {
			best = j
		}
	}
	return best
}
