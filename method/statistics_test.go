package method_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

const exactDim = 24

// exact draws embeddings whose length is exactly 1, with 16 of 24 values being
// ±1/4, so that scaling them rounds nothing. Classes have n, n+1, … examples.
func exact(n, first, classes int, seed uint64) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(seed, 9))
	x := blas32.General{Cols: exactDim, Stride: exactDim}
	var y []string
	for c := first; c < first+classes; c++ {
		kind := rand.New(rand.NewPCG(uint64(c), 1))
		signs, order := make([]float32, exactDim), kind.Perm(exactDim)
		for j := range signs {
			signs[j] = float32(kind.IntN(2))/2 - 0.25
		}
		for range n + c - first {
			row := make([]float32, exactDim)
			for _, j := range order[rng.IntN(3):16] {
				row[j] = signs[j]
			}
			for left := 16 - nonzero(row); left > 0; {
				if j := rng.IntN(exactDim); row[j] == 0 {
					row[j] = float32(rng.IntN(2))/2 - 0.25
					left--
				}
			}
			x.Data, x.Rows = append(x.Data, row...), x.Rows+1
			y = append(y, fmt.Sprintf("c%02d", c))
		}
	}
	return x, y
}

func nonzero(row []float32) int {
	n := 0
	for _, v := range row {
		if v != 0 {
			n++
		}
	}
	return n
}

// statisticsOf returns statistics collected in parts and merged.
func statisticsOf(t *testing.T, x blas32.General, y []string, parts int) ([]string, []*moments.Moments) {
	t.Helper()
	var names []string
	var stats []*moments.Moments
	for _, g := range classifier.GroupByClass(y) {
		sum := moments.New(x.Cols)
		for p := range parts {
			part := moments.New(x.Cols)
			must.Do(t, part.Add(dense.Gather32(x, g.Rows[p*len(g.Rows)/parts:(p+1)*len(g.Rows)/parts])))
			must.Do(t, sum.Merge(part))
		}
		names, stats = append(names, g.Class), append(stats, sum)
	}
	slices.Reverse(names) // the order does not matter
	slices.Reverse(stats)
	return names, stats
}

// fixed leaves nothing to be chosen on examples.
func fixed() method.Config {
	return configured("ncm.temperature", 0.05)
}

func allLogProb(t *testing.T, h classifier.Head, x blas32.General) []float64 {
	t.Helper()
	dst := blas64.General{Rows: x.Rows, Cols: len(h.Classes()), Stride: len(h.Classes()),
		Data: make([]float64, x.Rows*len(h.Classes()))}
	must.Do(t, h.Score(dst, nil, x))
	return dst.Data
}

func within(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > tol*max(1, math.Abs(want[i])) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// Learning statistics equals learning the examples, in the base session and
// later, with classes in the thin and in the full form.
func TestLearningStatisticsIsLearningExamples(t *testing.T) {
	x1, y1 := exact(6, 0, 30, 1) // 6 … 35 examples of 24 values
	x2, y2 := exact(1, 25, 8, 2) // more of old classes, and new ones from one example on
	queries, _ := exact(2, 0, 33, 3)
	for _, m := range method.Methods() {
		direct, from := unfitted(t, m.Name), unfitted(t, m.Name)
		l, ok := from.(moments.Learner)
		if !ok {
			continue
		}
		// float32 components of ppca, squared and divided by λ, see its contract.
		tol := map[string]float64{"ncm": 1e-8, "plda": 1e-8}[m.Name]
		if tol == 0 {
			tol = 2e-5
		}
		for i, s := range []struct {
			x blas32.General
			y []string
		}{{x1, y1}, {x2, y2}} {
			must.Do(t, direct.Learn(context.Background(), s.x, s.y))
			names, stats := statisticsOf(t, s.x, s.y, 1+2*i)
			if err := l.LearnMoments(context.Background(), names, stats); err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			if !slices.Equal(direct.Classes(), from.Classes()) {
				t.Fatalf("%s: classes %v", m.Name, from.Classes())
			}
			within(t, m.Name, allLogProb(t, from, queries), allLogProb(t, direct, queries), tol)
		}
	}
}

func unfitted(t *testing.T, name string) classifier.Learner {
	t.Helper()
	return must.Get(method.New(name, fixed()))(t)
}

func TestLearningStatisticsRefuses(t *testing.T) {
	x, y := exact(3, 0, 4, 1)
	names, stats := statisticsOf(t, x, y, 1)
	other := moments.New(exactDim + 1)
	must.Do(t, other.Add(blas32.General{Rows: 1, Cols: exactDim + 1, Stride: exactDim + 1,
		Data: make([]float32, exactDim+1)}))
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, m := range method.Methods() {
		h := unfitted(t, m.Name)
		l, ok := h.(moments.Learner)
		if !ok {
			continue
		}
		for what, err := range map[string]error{
			"no classes":      l.LearnMoments(context.Background(), nil, nil),
			"one too many":    l.LearnMoments(context.Background(), append(names[:4:4], "x"), stats),
			"twice":           l.LearnMoments(context.Background(), []string{"a", "a", "b", "c"}, stats),
			"without a name":  l.LearnMoments(context.Background(), []string{"a", "", "b", "c"}, stats),
			"no examples":     l.LearnMoments(context.Background(), names, append(stats[:3:3], moments.New(exactDim))),
			"other dimension": l.LearnMoments(context.Background(), names, append(stats[:3:3], other)),
			"cancelled":       l.LearnMoments(cancelled, names, stats),
		} {
			if err == nil || len(h.Classes()) != 0 {
				t.Errorf("%s: %s: %v, classes %v", m.Name, what, err, h.Classes())
			}
			if what == "cancelled" && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	}
}

// What only examples can choose gets its default, and that is recorded.
func TestStatisticsChooseTheDefault(t *testing.T) {
	x, y := exact(12, 0, 6, 1)
	names, stats := statisticsOf(t, x, y, 1)
	c := configured("plda.epsilon", 0, "ppca.lambda", 0)
	for _, m := range method.Methods() {
		h := must.Get(method.New(m.Name, c))(t)
		l, ok := h.(moments.Learner)
		if !ok {
			continue
		}
		must.Do(t, l.LearnMoments(context.Background(), names, stats))
		s := must.Get(h.(classifier.Saver).Save())(t)
		if _, err := method.Load(m.Name, s); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
