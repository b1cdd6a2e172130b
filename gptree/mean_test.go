package gptree

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/pldaplus"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestLogOddsTelescope: without residual and bias the product over the path is the
// softmax of the scores.
func TestLogOddsTelescope(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, classes := range []int{1, 2, 7, 60} {
		balanced := must.Get(RandomBalanced(classes, 3))(t)
		chain := must.Get(StickBreaking(classes))(t)
		for _, tree := range []*Tree{balanced, chain} {
			scores := dense.New(20, classes)
			for i := range scores.Data {
				scores.Data[i] = 100 * rng.NormFloat64()
			}
			f, got := dense.New(20, tree.Splits()), dense.New(20, classes)
			must.Do(t, tree.logOdds(f, scores))
			must.Do(t, tree.LogProb(got, f))
			near(t, got, tempered(scores, 1), 1e-12)
		}
	}
}

// tempered returns the log-softmax of scores over T.
func tempered(scores blas64.General, temperature float64) blas64.General {
	out := dense.Clone(scores)
	for i := range out.Rows {
		row := dense.Row(out, i)
		for j := range row {
			row[j] /= temperature
		}
		classifier.LogSoftmax(row)
	}
	return out
}

// near compares log-probabilities, relative to those below −1.
func near(t *testing.T, got, want blas64.General, tolerance float64) {
	t.Helper()
	for i := range got.Rows {
		for j, w := range dense.Row(want, i) {
			if g := dense.Row(got, i)[j]; !(math.Abs(g-w) <= tolerance*max(1, math.Abs(w))) {
				t.Fatalf("row %d, class %d: %.15g, want %.15g", i, j, g, w)
			}
		}
	}
}

// blobs returns n examples of each class around a centre that depends on its name.
func blobs(seed uint64, n int, classes ...string) (blas32.General, []string) {
	const d = 6
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := blas32.General{Cols: d, Stride: d}, []string(nil)
	for _, c := range classes {
		own := rand.New(rand.NewPCG(uint64(c[0]), 2))
		var centre [d]float64
		for j := range centre {
			centre[j] = own.NormFloat64()
		}
		for range n {
			for _, m := range centre {
				x.Data = append(x.Data, float32(m+0.6*rng.NormFloat64()))
			}
			y = append(y, c)
		}
	}
	x.Rows = len(y)
	return x, y
}

// rings returns n examples of each of two classes: one lies in the middle of the
// other, which is a ring. A shared covariance cannot separate them.
func rings(seed uint64, n int) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(seed, 3))
	x, y := blas32.General{Rows: 2 * n, Cols: 3, Stride: 3}, []string(nil)
	for i := range 2 * n {
		radius, class := 0.1*rng.NormFloat64(), "centre"
		if i%2 == 1 {
			radius, class = 0.6+radius, "ring"
		}
		s, c := math.Sincos(2 * math.Pi * rng.Float64())
		x.Data, y = append(x.Data, 1, float32(radius*c), float32(radius*s)), append(y, class)
	}
	return x, y
}

func fitted(t *testing.T, cfg Config, x blas32.General, y []string) *GPTree {
	t.Helper()
	h := must.Get(New(cfg))(t)
	must.Do(t, h.Learn(context.Background(), x, y))
	return h
}

func scored(t *testing.T, h classifier.Head, x blas32.General) blas64.General {
	t.Helper()
	out := dense.New(x.Rows, len(h.Classes()))
	must.Do(t, h.Score(out, nil, x))
	return out
}

// TestMeanAloneIsTheTemperedHead: where no residual pays, the tree is plda at one
// temperature, after a base session and after another.
func TestMeanAloneIsTheTemperedHead(t *testing.T) {
	for _, base := range []Base{BaseVI, BaseGibbs} {
		cfg := DefaultConfig()
		cfg.Base = base
		x, y := blobs(1, 3, "ant", "bee", "cat", "dog")
		h := fitted(t, cfg, x, y)
		head := must.Get(plda.New(plda.DefaultConfig()))(t)
		asked, _ := blobs(9, 10, "ant", "bee", "cat", "dog", "eel", "fox")
		for session := range 2 {
			must.Do(t, head.Learn(context.Background(), x, y))
			if session == 1 {
				must.Do(t, h.Learn(context.Background(), x, y))
				if base == BaseGibbs {
					break // its plda has learned both sessions at once
				}
			}
			if with, splits := h.residual(); with > 0 || splits != len(h.Classes())-1 {
				t.Fatalf("session %d: %d of %d splits have a residual", session+1, with, splits)
			}
			near(t, scored(t, h, asked), tempered(scored(t, head, asked), h.temperature), 1e-12)
			x, y = blobs(2, 3, "eel", "fox")
		}
	}
}

// TestResidualPays where the mean is wrong: it is switched on, and recognises what
// the mean alone does not, also after saving.
func TestResidualPays(t *testing.T) {
	for _, base := range []Base{BaseVI, BaseGibbs} {
		cfg := DefaultConfig()
		cfg.Base, cfg.Lengthscale, cfg.Inducing = base, 0.3, 10
		x, y := rings(1, 30)
		h := fitted(t, cfg, x, y)
		if with, _ := h.residual(); with != 1 {
			t.Errorf("base %s: the residual is off", base)
		}
		asked, truth := rings(2, 100)
		head := must.Get(plda.New(plda.DefaultConfig()))(t)
		must.Do(t, head.Learn(context.Background(), x, y))
		if own, mean := right(t, h, asked, truth), right(t, head, asked, truth); own < 195 || mean > 180 {
			t.Errorf("base %s: %d of %d with the residual, %d by the mean", base, own, len(truth), mean)
		}
		s := must.Get(h.Save())(t)
		back := must.Get(Load(s))(t)
		if !slices.Equal(scored(t, back, asked).Data, scored(t, h, asked).Data) {
			t.Errorf("base %s: another result after loading", base)
		}
	}
}

func right(t *testing.T, h classifier.Head, x blas32.General, y []string) int {
	t.Helper()
	labels := must.Get(classifier.Predict(h, x, 1))(t)
	n := 0
	for i, p := range labels {
		if p.Label == y[i] {
			n++
		}
	}
	return n
}

// TestTemperatureOfPairs: with two examples of every class the mean is tempered by what
// it says about left-out ones. A fold that leaves one of every class would have nothing
// to temper it by, and calibration would find a temperature for another head.
func TestTemperatureOfPairs(t *testing.T) {
	const classes, dim = 40, 60
	rng := rand.New(rand.NewPCG(3, 0))
	means := make([]float64, classes*dim)
	for i := range means {
		means[i] = 0.4 * rng.NormFloat64()
	}
	draw := func(k int) (x blas32.General, y []string) {
		x = blas32.General{Rows: k * classes, Cols: dim, Stride: dim}
		for i := range x.Rows {
			for _, m := range means[i/k*dim:][:dim] {
				x.Data = append(x.Data, float32(m+rng.NormFloat64()))
			}
			y = append(y, fmt.Sprintf("class%02d", i/k))
		}
		return x, y
	}
	fresh := func() (classifier.Learner, error) { return New(DefaultConfig()) }
	x, y := draw(2)
	v, _ := must.Get2(calibration.Fit(context.Background(),
		calibration.Task{Sessions: []episodes.Episode{{X: x, Y: y}}, Fresh: fresh}))(t)
	h := must.Get(fresh())(t)
	must.Do(t, h.Learn(context.Background(), x, y))
	tests, own := draw(20)
	var l temperature.Likelihood
	must.Do(t, episodes.Answers(h, episodes.Episode{X: tests, Y: own},
		func(_ int, a episodes.Answer) { l.Add(a.LogProb, a.Own) }))
	best := l.Minimum().T
	if ratio := v.T / best; ratio < 1/1.5 || ratio > 1.5 {
		t.Errorf("temperature %.3g; new examples want %.3g", v.T, best)
	}
}

// TestLeftOutExamplesAreUnknown to the head that is asked about them: a class with
// nothing left has no example. The only example of a class does not count.
func TestLeftOutExamplesAreUnknown(t *testing.T) {
	x, y := blobs(1, 4, "ant", "bee", "cat")
	singles, names := blobs(1, 1, "dog", "eel")
	x.Data, y = append(x.Data, singles.Data...), append(y, names...)
	x.Rows += 2
	full := must.Get(meanHeads{Mean: MeanPLDA}.learned(context.Background(), nil, nil, x, y))(t)
	s := must.Get(meanHeads{Mean: MeanPLDA}.leaveOut(context.Background(), nil, full, x, y))(t)
	fold, _ := foldsOf(x, y)
	for i := range y {
		if s.left[i] != (i < 12) {
			t.Errorf("example %d of %s: left out %t", i, y[i], s.left[i])
		}
		var kept []int
		var rest []string
		for r := range y {
			if fold[r] != fold[i] {
				kept, rest = append(kept, r), append(rest, y[r])
			}
		}
		head, err := meanHeads{Mean: MeanPLDA}.learned(context.Background(), nil, full, dense.Gather32(x, kept), rest)
		if err != nil {
			t.Fatal(err)
		}
		must.Do(t, head.(*plda.PLDA).Expect(full.Classes()...))
		want := scored(t, head, dense.Rows32(x, i, i+1))
		for c, name := range head.Classes() {
			if got := dense.Row(s.logProb, i)[slices.Index(full.Classes(), name)]; got != want.Data[c] {
				t.Errorf("example %d of %s: log p(%s) = %g, want %g", i, y[i], name, got, want.Data[c])
			}
		}
	}
}

// TestSettingsAreThoseOfTheWhole: neither pseudo-sessions nor folds choose the settings
// of plda+ again. Two classes are too few to choose from.
func TestSettingsAreThoseOfTheWhole(t *testing.T) {
	x, y := scattered(1, 30, 5)
	cfg := DefaultConfig()
	cfg.Mean = MeanPLDAPlus
	h := fitted(t, cfg, x, y)
	chosen := h.base.(*pldaplus.Head).Setting()
	if chosen.Nu == pldaplus.Pooled {
		t.Fatalf("five classes chose %v", chosen)
	}
	learner := must.Get(h.Unfitted())(t)
	few, names := scattered(2, 6, 2)
	must.Do(t, learner.Learn(context.Background(), few, names))
	full := learner.(*GPTree).base.(*pldaplus.Head)
	if full.Setting() != chosen {
		t.Errorf("two classes learned with %v, not %v", full.Setting(), chosen)
	}

	s := must.Get(meanHeads{Mean: MeanPLDAPlus}.leaveOut(context.Background(), nil, full, few, names))(t)
	fold, _ := foldsOf(few, names)
	var kept, out []int
	var rest []string
	for i := range names {
		if fold[i] == 0 {
			out = append(out, i)
		} else {
			kept, rest = append(kept, i), append(rest, names[i])
		}
	}
	again := must.Get(full.Unfitted())(t)
	must.Do(t, again.Learn(context.Background(), dense.Gather32(few, kept), rest))
	want := scored(t, again, dense.Gather32(few, out))
	for i, r := range out {
		if !slices.Equal(dense.Row(s.logProb, r), dense.Row(want, i)) {
			t.Errorf("example %d: %g, want %g", r, dense.Row(s.logProb, r), dense.Row(want, i))
		}
	}
}

// TestAnotherTemperatureIsNoResidual: a residual that only makes the mean sharper, as a
// lower T would, does not pay; one that corrects wrong labels does.
func TestAnotherTemperatureIsNoResidual(t *testing.T) {
	const n = 40
	odds := func(i int) float64 { // of the own class; one in ten is named wrongly
		if i%10 == 0 {
			return -1 - float64(i)/n
		}
		return 1 + float64(i)/n
	}
	s := seen{logProb: dense.New(n, 3), left: slices.Repeat([]bool{true}, n), own: make([]int, n)}
	for i := range n {
		s.own[i] = 1 + i%2
		dense.Row(s.logProb, i)[s.own[i]] = odds(i) / 10
	}
	for _, c := range []struct {
		name string
		with func(odds float64) float64
		pays bool
	}{
		{"sharper", func(odds float64) float64 { return odds }, false},
		{"right", func(odds float64) float64 { return math.Abs(odds) + 1 }, true},
	} {
		v := s.verdict([]int{2, 1}, 1)
		rows, with := dense.Range(0, n), make([]float64, n)
		for i := range with {
			with[i] = -softplus(-c.with(odds(i)))
		}
		v.add(rows, with)
		if got := v.pays(); got != c.pays {
			t.Errorf("%s: pays %t", c.name, got)
		}
	}
}

// scattered returns n examples of each of some classes, which differ above all in the
// direction in which they vary.
func scattered(seed uint64, n, classes int) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(seed, 4))
	x, y := blas32.General{Rows: n * classes, Cols: classes, Stride: classes}, []string(nil)
	for c := range classes {
		for range n {
			for j := range classes {
				centre, deviation := 0.0, 0.1
				if j == c {
					centre, deviation = 0.3, 1
				}
				x.Data = append(x.Data, float32(centre+deviation*rng.NormFloat64()))
			}
			y = append(y, fmt.Sprintf("class%d", c))
		}
	}
	return x, y
}

// TestModelsWithoutAMeanLoad: models written before there was one have the mean zero.
func TestModelsWithoutAMeanLoad(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Mean = MeanZero
	x, y := blobs(1, 3, "ant", "bee")
	h := fitted(t, cfg, x, y)
	s := must.Get(h.Save())(t)
	s.Settings = []byte(strings.Replace(string(s.Settings), `"mean":"zero",`, "", 1))
	back := must.Get(Load(s))(t)
	if back.Settings().Mean != MeanZero || !slices.Equal(scored(t, back, x).Data, scored(t, h, x).Data) {
		t.Errorf("mean %q", back.Settings().Mean)
	}
}

// TestLoneExamplesDoNotDecide: a session in which every class has one example is left
// to the mean.
func TestLoneExamplesDoNotDecide(t *testing.T) {
	x, y := blobs(1, 1, "ant", "bee", "cat")
	for _, mean := range []Mean{MeanPLDA, MeanPLDAPlus} {
		cfg := DefaultConfig()
		cfg.Mean = mean
		h := fitted(t, cfg, x, y)
		if with, _ := h.residual(); with > 0 || h.temperature != 1 {
			t.Errorf("mean %s: %d splits with a residual, temperature %g", mean, with, h.temperature)
		}
	}
}
