package vargp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestPublished: the authors' estimate of the last term of eq. 19 is the same
// number, its derivative with respect to θ is that of the densities of ũ alone, and
// it has no other derivative.
func TestPublished(t *testing.T) {
	for _, own := range []bool{false, true} {
		c := testConfig(RetrainPublished, own)
		m, old := learnedTasks(t, c, 3)
		theta := autodiff.Variable(row(m.mean))
		gr, s, leaves := headGroupOf(t, m, old, theta)
		a := anchorOf(old.groups[0], old.headsOf()[0])
		exact := must.Get(s.correction(a))(t)
		got := must.Get(s.published(a))(t)
		if math.Abs(got.Number()-exact.Number()) > 1e-9*math.Abs(exact.Number()) {
			t.Errorf("own %v: %.12g, in closed form %.12g", own, got.Number(), exact.Number())
		}
		gr.Backward(got)
		for _, l := range leaves {
			for _, v := range append([]*autodiff.Var{l.z, l.mean}, l.chol...) {
				for _, g := range v.Grad().Data {
					if g != 0 {
						t.Fatalf("own %v: a derivative of %g by what it treats as drawn", own, g)
					}
				}
			}
		}
		densities := densitiesOfStill(m, old)
		for i, was := range m.mean {
			const h = 1e-5
			at := append([]float64{}, m.mean...)
			at[i] = was + h
			up := densities(at)
			at[i] = was - h
			want := (up - densities(at)) / (2 * h)
			if g := theta.Grad().Data[i]; math.Abs(g-want) > 1e-5*max(math.Abs(want), 5e-2) {
				t.Errorf("own %v, θ_%d: %.10g, central difference %.10g", own, i, g, want)
			}
		}
	}
}

func row(v []float64) blas64.General {
	return blas64.General{Rows: 1, Cols: len(v), Stride: len(v), Data: v}
}

// headGroupOf puts the first group of a model in a graph.
func headGroupOf(t *testing.T, m, old *Model, theta *autodiff.Var) (*autodiff.Graph, *headGroup, []leaf) {
	t.Helper()
	gr, p := &autodiff.Graph{}, newProblem(m, old)
	leaves := p.leaves(0, p.view(someBatch.x).z[0], p.trainedRows()[0])
	s := must.Get(newHeadGroup(gr, m.cfg, theta, leaves, p.whole[0]))(t)
	return gr, s, leaves
}

// densitiesOfStill returns E[log p(ũ|θ) − log q(ũ|θ)] as a function of θ, where ũ
// has the distribution for m's θ, whatever θ is.
func densitiesOfStill(m, old *Model) func(theta []float64) float64 {
	var heads []int
	for h, p := range m.home {
		if p.group == 0 {
			heads = append(heads, h)
		}
	}
	means, covs := make([]*mat.VecDense, len(heads)), make([]*mat.Dense, len(heads))
	for i, h := range heads {
		z, _ := old.groups[0].all()
		means[i], covs[i] = denseOf(m, h, m.mean).at(m.mean, z, m.cfg.Jitter)
	}
	expected := func(i int, mean *mat.VecDense, cov *mat.Dense) float64 {
		var inverse, product mat.Dense
		if err := inverse.Inverse(cov); err != nil {
			panic(err)
		}
		product.Mul(&inverse, covs[i])
		return logGauss(means[i], mean, cov) - mat.Trace(&product)/2
	}
	return func(theta []float64) float64 {
		sum := 0.0
		for i, h := range heads {
			q := denseOf(old, h, theta)
			sum += expected(i, mat.NewVecDense(q.mean.Len(), nil), q.k) - expected(i, q.mean, q.cov)
		}
		return sum
	}
}
