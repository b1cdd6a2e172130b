package gauss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestLeaveOutEqualsRefits computes S, its trace and the mean of the class again
// without each example, and scores it by an inverse of that W.
func TestLeaveOutEqualsRefits(t *testing.T) { checkLeaveOut(t, 0) }

func TestLeaveOutWithAPriorEqualsRefits(t *testing.T) { checkLeaveOut(t, 9) }

// checkLeaveOut has a prior of the given weight.
func checkLeaveOut(t *testing.T, weight float64) {
	const C, d, epsilon = 4, 7, 0.3
	rng := rand.New(rand.NewPCG(3, 9))
	sizes := []int{2, 3, 5, 4}
	var y []string
	x := dense.New32(14, d)
	for c, n := range sizes {
		centre := make([]float64, d)
		for j := range centre {
			centre[j] = rng.NormFloat64()
		}
		for range n {
			row := dense.Row32(x, len(y))
			for j := range row {
				row[j] = float32(centre[j] + 0.6*rng.NormFloat64())
			}
			y = append(y, string(rune('a'+c)))
		}
	}
	s := must.Get(moments.NewSession(x, y, 0, true))(t)
	b := must.Get(basisOf(x, y))(t)
	prior := covariance(d, 2)
	if weight > 0 {
		b = must.Get(b.With(&Prior{Within: prior}, weight))(t)
	}
	left := b.LeaveOut(s)
	if left.Len() != len(y) {
		t.Fatalf("%d of %d left out", left.Len(), len(y))
	}

	rows := make([]*mat.VecDense, len(y))
	for i := range rows {
		v := make([]float64, d)
		dense.Widen(v, dense.Row32(x, i))
		rows[i] = mat.NewVecDense(d, v)
		rows[i].ScaleVec(1/mat.Norm(rows[i], 2), rows[i])
	}
	// fit returns the class means and the scatter within classes, with that of the
	// prior, without row skip.
	fit := func(skip int) (means []*mat.VecDense, scatter *mat.SymDense) {
		scatter = mat.NewSymDense(d, slices.Clone(prior.Data))
		scatter.ScaleSym(weight, scatter)
		n := make([]float64, C)
		for range C {
			means = append(means, mat.NewVecDense(d, nil))
		}
		for i, row := range rows {
			if i != skip {
				c := int(y[i][0] - 'a')
				means[c].AddVec(means[c], row)
				n[c]++
			}
		}
		for c := range means {
			means[c].ScaleVec(1/n[c], means[c])
		}
		for i, row := range rows {
			if i != skip {
				var r mat.VecDense
				r.SubVec(row, means[y[i][0]-'a'])
				scatter.SymRankOne(scatter, 1, &r)
			}
		}
		return means, scatter
	}
	all, whole := fit(-1)
	origin, noise := mat.NewVecDense(d, nil), 0.0
	for c, m := range all {
		origin.AddScaledVec(origin, 1.0/C, m)
		noise += 1 / float64(sizes[c]) / C
	}
	D := float64(len(y)-C) + weight
	var trace float64
	for i := range rows {
		_, scatter := fit(i)
		trace += mat.Trace(scatter) / float64(len(y))
	}
	// inverse returns that of (1−ε)S + ε·tr/d·I from D−1 degrees of freedom.
	inverse := func(scatter *mat.SymDense) *mat.Dense {
		W := mat.DenseCopyOf(scatter)
		W.Scale((1-epsilon)/(D-1), W)
		for j := range d {
			target := 1.0
			if weight > 0 {
				target = (2*prior.Data[j*d+j]*d/dense.Trace(prior) + 1) / 3
			}
			W.Set(j, j, W.At(j, j)+epsilon*trace/d/(D-1)*target)
		}
		var out mat.Dense
		must.Do(t, out.Inverse(W))
		return &out
	}
	var between float64
	precision := inverse(whole)
	for _, m := range all {
		var r mat.VecDense
		r.SubVec(m, origin)
		between += mat.Inner(&r, precision, &r) / (C - 1)
	}
	beta := max(between/d-noise, leastBeta)
	var want temperature.Likelihood
	for i, row := range rows {
		own := int(y[i][0] - 'a')
		means, scatter := fit(i)
		var x mat.VecDense
		x.SubVec(row, origin)
		scores, precision := make([]float64, C), inverse(scatter)
		for c, m := range means {
			n := float64(sizes[c])
			gain, v := n*beta/(1+n*beta), beta/(1+n*beta)
			var mu mat.VecDense
			mu.SubVec(m, origin)
			length := mat.Inner(&mu, precision, &mu)
			if c == own { // of a mean that is as noisy as that of n examples
				var r mat.VecDense
				r.SubVec(row, all[own])
				length -= mat.Inner(&r, precision, &r) / (n - 1) / (n - 1)
			}
			distance := mat.Inner(&x, precision, &x) - 2*gain*mat.Inner(&x, precision, &mu) + gain*gain*length
			scores[c] = -distance/(1+v)/2 - d*math.Log1p(v)/2
		}
		want.Add(scores, own)
	}
	got := must.Get(left.try(epsilon))(t)
	if w := want.Loss(); math.Abs(got.NLL-w) > 1e-6*w {
		t.Errorf("the likelihood is %.9g, of refits %.9g", got.NLL, w)
	}
}
