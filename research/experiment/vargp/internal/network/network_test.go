package network

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func fixed() *rand.Rand { return rand.New(rand.NewPCG(4, 2)) }

func normals(rows, cols int, seed uint64) blas64.General {
	rng, m := rand.New(rand.NewPCG(seed, 1)), dense.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// TestGradients: central differences of the loss and of what keeps old tasks, in every
// weight and every log-variance.
func TestGradients(t *testing.T) {
	x, y := normals(7, 3, 1), []int{0, 1, 3, 2, 2, 1, 0}
	for _, m := range Methods() {
		l := NewLearner(Config{Method: m, Hidden: []int{5, 4}, Strength: 0.7, Seed: 3}, 3, 4)
		n, rng := l.net, fixed()
		for k := range n.Mean {
			l.hold[k], l.pull[k] = rng.Float64(), rng.NormFloat64()
			if l.prior != nil {
				n.LogVar[k] = -1 + 0.3*rng.NormFloat64()
				l.prior.Mean[k], l.prior.LogVar[k] = rng.NormFloat64(), 0.3*rng.NormFloat64()
			}
		}
		const N = 11.0
		value := func() float64 {
			loss, _ := n.loss(x, y, fixed())
			for k, w := range n.Mean {
				switch {
				case l.prior != nil:
					ratio, d := math.Exp(n.LogVar[k]-l.prior.LogVar[k]), w-l.prior.Mean[k]
					loss += (ratio + d*d*math.Exp(-l.prior.LogVar[k]) - 1 - math.Log(ratio)) / 2 / N
				case m == SI:
					loss += 0.7 * (l.hold[k]*w*w - 2*l.pull[k]*w)
				default:
					loss += 0.7 * (l.hold[k]*w*w/2 - l.pull[k]*w)
				}
			}
			return loss
		}
		_, g := n.loss(x, y, fixed())
		l.restrain(n, l.prior, g, N)
		for name, of := range map[string][2][]float64{"weight": {n.Mean, g.mean}, "variance": {n.LogVar, g.logVar}} {
			for k, at := range of[0] {
				const h = 1e-5
				of[0][k] = at + h
				up := value()
				of[0][k] = at - h
				down := value()
				of[0][k] = at
				if want := (up - down) / (2 * h); math.Abs(want-of[1][k]) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("%s, %s %d: %g, want %g", m, name, k, of[1][k], want)
				}
			}
		}
	}
}

// TestFisher: the diagonal is the mean of squared derivatives, here of one example with
// both labels as often as they are probable.
func TestFisher(t *testing.T) {
	n, x := New([]int{2, 3, 2}, false, fixed()), normals(1, 2, 5)
	p := slices.Clone(n.forward(x, nil).logits.Data)
	softmax(p)
	want := make([]float64, len(n.Mean))
	for y, share := range p {
		_, g := n.loss(x, []int{y}, nil)
		for k, d := range g.mean {
			want[k] += share * d * d
		}
	}
	const draws = 20000
	sum, rng := make([]float64, len(n.Mean)), fixed()
	for range draws {
		n.fisher(sum, x, rng)
	}
	for k, w := range want {
		if got := sum[k] / draws; math.Abs(got-w) > 0.03*w+1e-12 {
			t.Errorf("weight %d: %g, want %g", k, got, w)
		}
	}
}

// clouds are two classes around points of the plane.
func clouds(task, n int, seed uint64) (blas64.General, []int) {
	x, y := normals(2*n, 2, seed), make([]int, 2*n)
	for i := range y {
		y[i] = 2*task + i%2
		row := dense.Row(x, i)
		row[0], row[1] = 0.2*row[0]+float64(2*task-1), 0.2*row[1]+float64(2*(i%2)-1)
	}
	return x, y
}

func accuracy(n *Network, x blas64.General, y []int) float64 {
	lp := dense.New(x.Rows, n.Sizes[len(n.Sizes)-1])
	n.LogProb(lp, x, 20, fixed())
	right := 0.0
	for i, c := range y {
		if row := dense.Row(lp, i); slices.Max(row) == row[c] {
			right++
		}
	}
	return right / float64(len(y))
}

// TestLearns: every method learns the first task, and VCL with a coreset keeps it.
func TestLearns(t *testing.T) {
	x0, y0 := clouds(0, 40, 1)
	x1, y1 := clouds(1, 40, 2)
	kept := func(m Method) float64 {
		l := NewLearner(Config{Method: m, Hidden: []int{20}, Epochs: 60, Batch: 20, Rate: 0.02, Coreset: 10,
			Seed: 1}, 2, 4)
		if a := accuracy(must.Get(l.Learn(context.Background(), x0, y0))(t), x0, y0); a < 0.95 {
			t.Errorf("%s learned %g of the first task", m, a)
		}
		n := must.Get(l.Learn(context.Background(), x1, y1))(t)
		return (accuracy(n, x0, y0) + accuracy(n, x1, y1)) / 2
	}
	if with, without := kept(VCLCoreset), kept(VCL); with < 0.9 || without > with {
		t.Errorf("with a coreset %g of both tasks, without %g", with, without)
	}
	for _, m := range []Method{EWC, SI} {
		kept(m)
	}
}

// TestCentres: the centres of three clusters are one example of each.
func TestCentres(t *testing.T) {
	x := dense.New(9, 1)
	for i := range x.Data {
		x.Data[i] = float64(10*(i/3)) + 0.1*float64(i%3)
	}
	got := centres(x, 3, fixed())
	for i := range got {
		got[i] /= 3
	}
	slices.Sort(got)
	if !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("clusters %v", got)
	}
}

// TestPenaltyHolds: weights that EWC or SI hold strongly do not move.
func TestPenaltyHolds(t *testing.T) {
	x0, y0 := clouds(0, 20, 1)
	x1, y1 := clouds(1, 20, 2)
	for _, m := range []Method{EWC, SI} {
		moved := map[float64]float64{}
		for _, strength := range []float64{0, 1000} {
			l := NewLearner(Config{Method: m, Hidden: []int{6}, Epochs: 40, Batch: 20, Rate: 0.01, Strength: strength,
				Seed: 1}, 2, 4)
			first := must.Get(l.Learn(context.Background(), x0, y0))(t)
			importance := slices.Clone(l.hold)
			second := must.Get(l.Learn(context.Background(), x1, y1))(t)
			for k, f := range importance {
				d := second.Mean[k] - first.Mean[k]
				moved[strength] += f * d * d
			}
		}
		if moved[1000] > moved[0]/10 {
			t.Errorf("%s: important weights move by %g with the penalty, %g without", m, moved[1000], moved[0])
		}
	}
}
