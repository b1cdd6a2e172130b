package gpsoftmax

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// world returns the data that chains need, for points on a line.
func world(t testing.TB, k kernel.Kernel, at []float64, own []int, classes int) data {
	t.Helper()
	x := must.Get(k.Points(blas64.General{Rows: len(at), Cols: 1, Stride: 1, Data: at}))(t)
	b := must.Get(newBasis(k, x))(t)
	return data{b, own, classes}
}

func rbf(scale float64) kernel.Kernel {
	return kernel.Kernel{Kind: kernel.RBF, Lengthscale: 1, Outputscale: scale}
}

// moments holds the moments of f under the posterior, by class and example, and
// the posterior predictive at every example.
type moments struct{ mean, square, predictive []float64 }

// integrated returns the posterior moments by Gauss–Hermite quadrature over t,
// with the given number of nodes in each of its C·r dimensions. Examples with
// own −1 are not observed.
func integrated(d data, l likelihood, nodes int) moments {
	C, n, r := d.classes, len(d.own), d.phi.Cols
	x, w := make([]float64, nodes), make([]float64, nodes)
	quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
	m := moments{make([]float64, C*n), make([]float64, C*n), make([]float64, C*n)}
	digits, f, own := make([]int, C*r), make([]float64, C*n), make([]float64, C)
	like := make([]float64, C*n)
	var total float64
	for {
		weight := 1.0
		for _, g := range digits {
			weight *= w[g]
		}
		var logs float64
		for i := range n {
			for c := range C {
				f[c*n+i] = 0
				for j, p := range dense.Row(d.phi, i) {
					f[c*n+i] += p * math.Sqrt2 * x[digits[c*r+j]]
				}
				own[c] = f[c*n+i]
			}
			l.logLikelihoods(like[i*C:(i+1)*C], own)
			if d.own[i] >= 0 {
				logs += like[i*C+d.own[i]]
			}
		}
		weight *= math.Exp(logs)
		total += weight
		for at, v := range f {
			m.mean[at] += weight * v
			m.square[at] += weight * v * v
			m.predictive[at] += weight * math.Exp(like[at%n*C+at/n])
		}
		if !count(digits, nodes) {
			break
		}
	}
	for at := range m.mean {
		m.mean[at] /= total
		m.square[at] /= total
		m.predictive[at] /= total
	}
	m.normalise(n, C)
	return m
}

func (m moments) normalise(n, C int) {
	for i := range n {
		var sum float64
		for c := range C {
			sum += m.predictive[c*n+i]
		}
		for c := range C {
			m.predictive[c*n+i] /= sum
		}
	}
}

// count advances to the next number and reports whether there is one.
func count(digits []int, base int) bool {
	for i := range digits {
		if digits[i]++; digits[i] < base {
			return true
		}
		digits[i] = 0
	}
	return false
}

// sampled returns the moments of a long chain, and their standard errors from
// the means of 50 consecutive segments.
func sampled(t testing.TB, d data, l likelihood, steps int) (m, errors moments) {
	t.Helper()
	return averaged(t, d, l, steps, func(f, u blas64.General, rng *rand.Rand) {
		must.Do(t, step(t.Context(), l, d, f, u, rng))
	})
}

func averaged(t testing.TB, d data, l likelihood, steps int, next func(f, u blas64.General, rng *rand.Rand)) (m,
	errors moments) {
	t.Helper()
	const stretches = 50
	C, n := d.classes, len(d.own)
	rng := rand.New(rand.NewPCG(7, 7))
	f, u := dense.New(C, n), dense.New(C, d.phi.Cols)
	for range steps / 20 {
		next(f, u, rng)
	}
	var parts []moments
	own, like := make([]float64, C), make([]float64, C)
	for range stretches {
		part := moments{make([]float64, C*n), make([]float64, C*n), make([]float64, C*n)}
		for range steps / stretches {
			next(f, u, rng)
			share := 1 / float64(steps/stretches)
			for i := range n {
				for c := range C {
					own[c] = dense.Row(f, c)[i]
				}
				l.logLikelihoods(like, own)
				for c := range C {
					part.mean[c*n+i] += own[c] * share
					part.square[c*n+i] += own[c] * own[c] * share
					part.predictive[c*n+i] += math.Exp(like[c]) * share
				}
			}
		}
		part.normalise(n, C)
		parts = append(parts, part)
	}
	pick := func(of func(moments) []float64) (mean, sem []float64) {
		mean, sem = make([]float64, C*n), make([]float64, C*n)
		for at := range mean {
			for _, p := range parts {
				mean[at] += of(p)[at] / stretches
			}
			for _, p := range parts {
				sem[at] += math.Pow(of(p)[at]-mean[at], 2) / (stretches * (stretches - 1))
			}
			sem[at] = math.Sqrt(sem[at])
		}
		return mean, sem
	}
	m.mean, errors.mean = pick(func(m moments) []float64 { return m.mean })
	m.square, errors.square = pick(func(m moments) []float64 { return m.square })
	m.predictive, errors.predictive = pick(func(m moments) []float64 { return m.predictive })
	return m, errors
}

// agree checks that the moments are equal within five standard errors.
func agree(t *testing.T, got, sem, want moments, slack float64) {
	t.Helper()
	for _, c := range []struct {
		what           string
		got, sem, want []float64
	}{{"mean", got.mean, sem.mean, want.mean}, {"square", got.square, sem.square, want.square},
		{"predictive", got.predictive, sem.predictive, want.predictive}} {
		for at := range c.want {
			if math.Abs(c.got[at]-c.want[at]) > 5*c.sem[at]+slack {
				t.Errorf("%s %d is %.4f ± %.4f, want %.4f", c.what, at, c.got[at], c.sem[at], c.want[at])
			}
		}
		t.Logf("%-10s %.3f, largest standard error %.1g", c.what, c.want, slices.Max(c.sem))
	}
}

// TestPosteriorIsTheIntegral compares the mean and square of f and the
// predictive probabilities with quadrature over the whole prior.
func TestPosteriorIsTheIntegral(t *testing.T) {
	linear := kernel.Kernel{Kind: kernel.Linear, Lengthscale: 1, Outputscale: 2}
	for name, c := range map[string]struct {
		kernel  kernel.Kernel
		at      []float64
		own     []int
		classes int
		nodes   int
	}{
		"n = 1, C = 2":             {rbf(2), []float64{0}, []int{1}, 2, 40},
		"n = 2, C = 2":             {rbf(3), []float64{0, 1.2}, []int{0, 1}, 2, 24},
		"n = 1, C = 3":             {rbf(4), []float64{0}, []int{2}, 3, 40},
		"n = 2, C = 3":             {rbf(2), []float64{0, 0.8}, []int{0, 2}, 3, 7},
		"duplicates":               {rbf(3), []float64{1, 1}, []int{0, 0}, 3, 40},
		"weight space, n = 3":      {linear, []float64{1, -0.5, 2}, []int{0, 1, 0}, 2, 60},
		"a class without examples": {linear, []float64{1.5, -1}, []int{0, 1}, 3, 40},
	} {
		for _, method := range []string{LSM, OVE} {
			t.Run(method+", "+name, func(t *testing.T) {
				d, l := world(t, c.kernel, c.at, c.own, c.classes), likelihoodOf(method)
				got, sem := sampled(t, d, l, 8_000)
				agree(t, got, sem, integrated(d, l, c.nodes), 2e-3)
			})
		}
	}
}
