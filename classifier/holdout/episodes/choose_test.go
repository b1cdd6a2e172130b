package episodes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// rote recognises the examples it learned by their number (the first value) and
// classifies all others at random, with the number of the candidate as the
// seed.
type rote struct {
	candidate int
	known     map[float32]string
	classes   []string
	seen      func(what string, numbers []float32)
}

// fresh returns the Fit of heads whose candidates share nothing.
func fresh[T any](unfitted func(T) (classifier.Learner, error)) episodes.Fit[T] {
	return func(ctx context.Context, x blas32.General, y []string) (func(T) (classifier.Learner, error), error) {
		return func(candidate T) (classifier.Learner, error) {
			head, err := unfitted(candidate)
			if err != nil {
				return nil, err
			}
			return head, head.Learn(ctx, x, y)
		}, nil
	}
}

func (r *rote) Classes() []string { return r.classes }
func (r *rote) Dim() int          { return 2 }

func (r *rote) Learn(_ context.Context, x blas32.General, y []string) error {
	r.seen("learn", numbers(x))
	for i, n := range numbers(x) {
		if r.known[n] = y[i]; !slices.Contains(r.classes, y[i]) {
			r.classes = append(r.classes, y[i])
		}
	}
	return nil
}

func (r *rote) Score(dst blas64.General, _ []float64, x blas32.General) error {
	r.seen("score", numbers(x))
	for i, n := range numbers(x) {
		answer, ok := r.known[n]
		if !ok {
			answer = r.classes[(int(n)*7+r.candidate)%len(r.classes)]
		}
		for j, c := range r.classes {
			dst.Data[i*dst.Stride+j] = -10
			if c == answer {
				dst.Data[i*dst.Stride+j] = 0
			}
		}
	}
	return nil
}

func numbers(x blas32.General) []float32 {
	var out []float32
	for i := range x.Rows {
		out = append(out, dense.Row32(x, i)[0])
	}
	return out
}

// TestNothingHeldOutIsLearned checks that a head learns exactly the examples of
// the plan, and that it has seen neither the held-out examples nor the padding
// or the memory behind the base session.
func TestNothingHeldOutIsLearned(t *testing.T) {
	x, y := classes(12, 9, 10, 8, 11, 7)
	wide := blas32.General{Rows: x.Rows, Cols: 2, Stride: 3,
		Data: slices.Repeat([]float32{float32(math.NaN())}, 3*(x.Rows+50))}
	for i := range x.Rows {
		copy(dense.Row32(wide, i), dense.Row32(x, i))
	}
	var lock sync.Mutex
	shown := map[string]int{}
	unfitted := func(candidate int) (classifier.Learner, error) {
		own := map[float32]bool{}
		return &rote{candidate: candidate, known: map[float32]string{}, seen: func(what string, numbers []float32) {
			lock.Lock()
			defer lock.Unlock()
			for _, n := range numbers {
				if n != n || own[n] {
					t.Errorf("%s: example %g is a NaN, or was learned before", what, n)
				}
				own[n] = own[n] || what == "learn"
				shown[what]++
			}
		}}, nil
	}
	cfg := episodes.DefaultConfig()
	c := must.Get(episodes.Choose(context.Background(), wide, y, cfg, []int{0, 1, 2}, fresh(unfitted)))(t)
	want := map[string]int{}
	for _, s := range plan(t, x, y, cfg).Splits {
		want["learn"] += 3 * len(slices.Concat(s.Base, s.Shots))
		want["score"] += 3 * len(slices.Concat(s.BaseTest, s.NovelTest))
	}
	if !reflect.DeepEqual(shown, want) {
		t.Errorf("shown %v, planned %v", shown, want)
	}
	for _, s := range c.Scores {
		if s.Mean > 0.5 {
			t.Errorf("candidate %d reaches %g by heart", s.Candidate, s.Mean)
		}
	}
}

// biased recognises a given share of the base and of the novel examples.
type biased struct {
	classifier.Learner
	base, novel int // of ten
	logProb     float64
	fresh       []string
	all         []string
}

func (b *biased) Classes() []string { return b.all }

func (b *biased) Learn(_ context.Context, _ blas32.General, y []string) error {
	b.fresh = nil
	for _, g := range classifier.GroupByClass(y) {
		b.all, b.fresh = append(b.all, g.Class), append(b.fresh, g.Class)
	}
	return nil
}

func (b *biased) Score(dst blas64.General, _ []float64, x blas32.General) error {
	for i := range x.Rows {
		row := dense.Row32(x, i)
		own := slices.Index(b.all, fmt.Sprintf("c%02d", int(row[1])))
		limit := b.base
		if slices.Contains(b.fresh, b.all[own]) {
			limit = b.novel
		}
		for j := range b.all {
			dst.Data[i*dst.Stride+j] = -3
		}
		at := own
		if int(row[0])%10 >= limit {
			at = (own + 1) % len(b.all)
		}
		dst.Data[i*dst.Stride+at] = b.logProb
	}
	return nil
}

func chooseBiased(t *testing.T, candidates ...biased) episodes.Choice[int] {
	t.Helper()
	sizes := slices.Repeat([]int{60}, 10)
	x, y := classes(sizes...)
	var order []int
	for i := range candidates {
		order = append(order, i)
	}
	c := must.Get(episodes.Choose(context.Background(), x, y, episodes.DefaultConfig(), order,
		fresh(func(i int) (classifier.Learner, error) {
			head := candidates[i]
			return &head, nil
		})))(t)
	return c
}

func TestCriterionIsTheMeanOfBothAccuracies(t *testing.T) {
	// Of 36 base and 60 novel examples, the last candidate has the most right in
	// total; the mean of the two accuracies decides.
	c := chooseBiased(t, biased{base: 10, novel: 0, logProb: -1}, biased{base: 6, novel: 6, logProb: -1},
		biased{base: 0, novel: 10, logProb: -1})
	if c.Value != 1 || math.Abs(c.Scores[0].Mean-0.5) > 1e-9 || math.Abs(c.Scores[2].Mean-0.5) > 1e-9 ||
		math.Abs(c.Scores[1].Mean-0.6) > 0.03 {
		t.Errorf("%+v", c)
	}
	if c.Scores[0].SEM > 1e-12 || c.Scores[1].SEM <= 0 || c.Scores[1].SEM > 0.02 {
		t.Errorf("standard errors %g and %g", c.Scores[0].SEM, c.Scores[1].SEM)
	}
}

func TestNearTiesGoToTheLikelihood(t *testing.T) {
	sure, unsure := biased{base: 5, novel: 5, logProb: -0.1}, biased{base: 5, novel: 5, logProb: -2}
	if c := chooseBiased(t, unsure, sure, sure); c.Value != 1 {
		t.Errorf("equal accuracies: candidate %d", c.Value)
	}
	better := biased{base: 9, novel: 9, logProb: -2}
	if c := chooseBiased(t, sure, better); c.Value != 1 {
		t.Errorf("a clear difference of accuracy: candidate %d", c.Value)
	}
}

// cloud returns n examples of C classes whose variance within the class is much
// larger in some dimensions than in others.
func cloud(C, n, d int) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := blas32.General{Rows: C * n, Cols: d, Stride: d}
	var y []string
	for c := range C {
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		for range n {
			for j := range d {
				x.Data = append(x.Data, float32(mean[j]+rng.NormFloat64()))
			}
			y = append(y, fmt.Sprintf("c%02d", c))
		}
	}
	return x, y
}

// shrunk is a nearest-mean head whose means are shrunk toward 0 by a share; an
// offset of the data puts the optimum strictly between 0 and 1.
type shrunk struct {
	share   float64
	classes []string
	means   [][]float64
}

func (h *shrunk) Classes() []string { return h.classes }
func (h *shrunk) Dim() int          { return len(h.means[0]) }

func (h *shrunk) Learn(_ context.Context, x blas32.General, y []string) error {
	for _, g := range classifier.GroupByClass(y) {
		mean := make([]float64, x.Cols)
		for _, r := range g.Rows {
			for j, v := range dense.Row32(x, r) {
				mean[j] += float64(v) / (float64(len(g.Rows)) + h.share)
			}
		}
		h.classes, h.means = append(h.classes, g.Class), append(h.means, mean)
	}
	return nil
}

func (h *shrunk) Score(dst blas64.General, _ []float64, x blas32.General) error {
	for i := range x.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+dst.Cols]
		for c, mean := range h.means {
			row[c] = 0
			for j, v := range dense.Row32(x, i) {
				row[c] -= (float64(v) - mean[j]) * (float64(v) - mean[j]) / 2
			}
		}
		classifier.LogSoftmax(row)
	}
	return nil
}

func chooseShrunk(t *testing.T, x blas32.General, y []string) episodes.Choice[float64] {
	t.Helper()
	c := must.Get(episodes.Choose(context.Background(), x, y, episodes.DefaultConfig(), []float64{0, 1, 100, 10000},
		fresh(func(share float64) (classifier.Learner, error) {
			return &shrunk{share: share}, nil
		})))(t)
	return c
}

// TestNumberOfCoresAndOrderMakeNoDifference compares results to the last bit.
func TestNumberOfCoresAndOrderMakeNoDifference(t *testing.T) {
	x, y := cloud(12, 30, 6)
	want := chooseShrunk(t, x, y)
	if want.Value > 1 {
		t.Errorf("means pulled by %g", want.Value)
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(y))
	mixed := make([]string, len(y))
	for i, r := range order {
		mixed[i] = y[r]
	}
	if got := chooseShrunk(t, dense.Gather32(x, order), mixed); !reflect.DeepEqual(got, want) {
		t.Errorf("another order of rows: %+v, want %+v", got, want)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := chooseShrunk(t, x, y); !reflect.DeepEqual(got, want) {
		t.Errorf("one core: %+v, want %+v", got, want)
	}
}

func TestChooseOrSaysWhyNot(t *testing.T) {
	x, y := classes(9, 9, 9)
	never := func(context.Context, blas32.General, []string) (func(int) (classifier.Learner, error), error) {
		return nil, errors.New("too little data, but something was fitted")
	}
	c, err := episodes.ChooseOr(context.Background(), x, y, episodes.DefaultConfig(), []int{1, 2}, 7, never)
	if err != nil || c.Value != 7 || c.Fallback == "" || len(c.Scores) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
	var little *episodes.TooLittleError
	if _, err := episodes.Choose(context.Background(), x, y, episodes.DefaultConfig(), []int{1, 2},
		never); !errors.As(err, &little) {
		t.Error(err)
	}
	x, y = classes(9, 9, 9, 9)
	if _, err := episodes.ChooseOr(context.Background(), x, y, episodes.DefaultConfig(), []int{1, 2}, 7,
		never); err == nil {
		t.Error("an error of the head was taken for too little data")
	}
	if _, err := episodes.Choose(context.Background(), x, y, episodes.DefaultConfig(), nil, never); err == nil {
		t.Error("no candidates were accepted")
	}
}

func TestCancelled(t *testing.T) {
	x, y := cloud(6, 10, 3)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := episodes.Choose(ctx, x, y, episodes.DefaultConfig(), []float64{0, 1},
		fresh(func(share float64) (classifier.Learner, error) {
			cancel()
			return &shrunk{share: share}, nil
		}))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestValidRefusesWhatWasNeverChosen(t *testing.T) {
	positive := func(v float64) error {
		if v > 0 {
			return nil
		}
		return fmt.Errorf("%g is not positive", v)
	}
	scores := []episodes.Score[float64]{{Candidate: 1}, {Candidate: 2}}
	for name, c := range map[string]episodes.Choice[float64]{
		"out of range": {Value: -1, Fallback: "why"}, "not a candidate": {Value: 3, Scores: scores},
		"no scores, no reason": {Value: 1}, "both": {Value: 1, Scores: scores, Fallback: "why"},
	} {
		if episodes.Valid(c, positive) == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
	for _, c := range []episodes.Choice[float64]{{Value: 2, Scores: scores}, {Value: 5, Fallback: "why"}} {
		if err := episodes.Valid(c, positive); err != nil {
			t.Error(err)
		}
	}
}
