package adapt

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// drawn returns a graph of n photos and their log-probabilities for some classes.
func drawn(t *testing.T, n, classes int) (graph, [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := dense.New32(n, 6)
	var logProb [][]float64
	for i := range n {
		row := dense.Row32(x, i)
		length := 0.0
		for k := range row {
			row[k] = float32(rng.NormFloat64())
			length += float64(row[k] * row[k])
		}
		for k := range row {
			row[k] /= float32(math.Sqrt(length))
		}
		b := make([]float64, classes)
		for c := range b {
			b[c] = 3 * rng.NormFloat64()
		}
		classifier.LogSoftmax(b)
		logProb = append(logProb, b)
	}
	g := must.Get(newGraph(t.Context(), linalg.Backend{}, x, func(i, j int) bool { return i+j == 3 }))(t)
	return g, logProb
}

// Weights of a photo sum to 1, neighbours are neighbours both ways, and those that are to be apart are.
func TestGraph(t *testing.T) {
	g, _ := drawn(t, 60, 3)
	for i, edges := range g {
		sum := 0.0
		for _, e := range edges {
			sum += float64(e.weight)
			back := slices.ContainsFunc(g[e.to], func(e edge) bool { return int(e.to) == i })
			if !back || i+int(e.to) == 3 || int(e.to) == i || e.weight <= 0 {
				t.Errorf("%d: %+v", i, e)
			}
		}
		if math.Abs(sum-1) > 1e-6 || len(edges) < 5 {
			t.Errorf("weights of %d: %d, sum %g", i, len(edges), sum)
		}
	}
}

// With as many classes as are kept, or fewer, the updates are those of the formula; of more classes, those that
// are not kept stay as probable as they were beside each other, and probabilities sum to 1.
func TestLean(t *testing.T) {
	for _, classes := range []int{2, 7, likely, likely + 20} {
		g, b := drawn(t, 80, classes)
		l := newLeaning(g, classes)
		for i := range b {
			l.set(i, b[i], map[bool]int{true: 1, false: -1}[i%9 == 0])
		}
		const lambda, usual = 1.7, 0.6
		must.Do(t, l.lean(t.Context(), lambda, usual))
		want := formula(g, b, lambda, usual)
		worst := 0.0
		for i := range b {
			got := slices.Clone(b[i])
			l.write(i, got)
			if i%9 != 0 {
				if sum := floats.LogSumExp(got); math.Abs(sum) > 1e-5 {
					t.Errorf("%d classes: the probabilities of %d sum to exp %g", classes, i, sum)
				}
				for c := range got {
					worst = max(worst, math.Abs(math.Exp(got[c])-want[i][c]))
				}
			} else if !slices.Equal(got, b[i]) {
				t.Errorf("%d was decided and is changed", i)
			}
		}
		if classes <= likely && worst > 1e-5 || worst > 0.02 {
			t.Errorf("%d classes: probabilities differ by %g", classes, worst)
		}
	}
}

// formula makes the updates with all classes in double precision. Of every ninth photo class 1 was decided.
func formula(g graph, b [][]float64, lambda, usual float64) [][]float64 {
	p := make([][]float64, len(b))
	for i := range b {
		p[i] = make([]float64, len(b[i]))
		for c, v := range b[i] {
			p[i][c] = math.Exp(v)
		}
		if i%9 == 0 {
			clear(p[i])
			p[i][1] = 1
		}
	}
	for range rounds {
		mean := make([]float64, len(b[0]))
		for i := range p {
			floats.AddScaled(mean, 1/float64(len(p)), p[i])
		}
		next := slices.Clone(p)
		for i := range b {
			if i%9 == 0 {
				continue
			}
			next[i] = slices.Clone(b[i])
			floats.AddScaled(next[i], -lambda*usual, mean)
			for _, e := range g[i] {
				floats.AddScaled(next[i], lambda*float64(e.weight), p[e.to])
			}
			classifier.LogSoftmax(next[i])
			for c, v := range next[i] {
				next[i][c] = math.Exp(v)
			}
		}
		p = next
	}
	return p
}
