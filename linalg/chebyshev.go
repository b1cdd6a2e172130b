package linalg

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Sizes of the filtered subspace iteration.
const (
	spareRows   = 12   // least number of vectors besides the q wanted ones
	firstDegree = 4    // degree of the filter for random vectors
	mostDegree  = 40   // largest degree of one filter
	mostProduct = 1000 // largest number of products in total
)

// A precision defines when eigenpairs have converged.
type precision struct {
	// ofLargest and ofLast bound the residual ‖a·v − θv‖ relative to the largest
	// and the last wanted eigenvalue; a residual below floor may also stagnate.
	ofLargest, ofLast, floor float64
	// noise is the rounding error of a zero eigenvalue, relative to the largest.
	noise float64
	// steepest bounds how much more a filter amplifies the first vector than the
	// last wanted one, so that the latter keeps enough digits.
	steepest float64
}

func (p precision) tolerance(values []float64) float64 {
	return min(p.ofLargest*values[0], p.ofLast*values[len(values)-1])
}

// rough is the limit of float32 products, full is for vectors in float64, and
// single is for vectors that are rounded to float32 afterwards.
func rough() precision  { return precision{8e-7, math.Inf(1), 1e-4, 1e-7, 1e6} }
func full() precision   { return precision{1e-10, math.Inf(1), 1e-9, 1e-15, 1e11} }
func single() precision { return precision{1e-6, 2e-5, 1e-9, 1e-15, 1e11} }

// A filter finds the q leading eigenpairs of a matrix (m×m) that is positive
// semi-definite up to rounding, by subspace iteration with a Chebyshev filter
// (Zhou, Saad, Tiago and Chelikowsky 2006): a polynomial that stays small on
// [0, θ], where θ is the smallest Ritz value of the block, and grows as fast as
// possible beyond. Its work is products of the matrix with a block wider than any
// expected multiplicity. The random numbers are fixed.
type filter struct {
	kernel   Kernel
	q        int
	rng      *rand.Rand
	v, image blas64.General // the block (b×m), and v·a
}

func (s Solver) newFilter(m, q int) *filter {
	width := min(m, (q+max(spareRows, q/2)+rowUnit-1)/rowUnit*rowUnit)
	f := &filter{kernel: s.Raw(), q: q, rng: rand.New(rand.NewPCG(0x70, 0x71)), image: dense.New(width, m)}
	f.v = f.random(width, m)
	return f
}

// filtered returns the q leading eigenpairs of a, or an error if they do not
// converge. The first rounds multiply in float32, which is faster and accurate
// enough far from convergence.
func (s Solver) filtered(a blas64.General, q int) (Eigen, error) {
	return s.refined(s.newFilter(a.Rows, q), s.times32(narrow(a)), s.times64(a))
}

// thin returns the q leading eigenpairs of x·xᵀ for vectors that are rounded to
// float32 afterwards. x·xᵀ itself is formed only in float32, for the first rounds;
// the eigenvalues and the residuals are computed from x in float64.
func (s Solver) thin(x blas64.General, q int) (Eigen, error) {
	g, err := s.gram32(narrow(x))
	if err != nil {
		return Eigen{}, err
	}
	return s.refined(s.newFilter(x.Rows, q), s.times32(g), s.timesThin(x))
}

// refined iterates with rough products and then with exact ones.
func (s Solver) refined(f *filter, near, exact times) (Eigen, error) {
	if _, err := f.iterate(near, rough()); err != nil {
		return Eigen{}, err
	}
	values, err := f.iterate(exact, s.precision())
	return Eigen{Values: values, Vectors: dense.Clone(dense.Rows(f.v, 0, f.q))}, err
}

// errSlow reports that a filter did not converge.
var errSlow = errors.New("eigenpairs: the iteration did not converge")

// iterate improves the block until its first q rows are eigenvectors to the given
// precision, and returns their eigenvalues. Stagnation by rounding below the floor
// of the precision is not an error.
func (f *filter) iterate(a times, p precision) ([]float64, error) {
	before := math.Inf(1)
	for left := mostProduct; left > 0; {
		values, err := f.ritz(a)
		if err != nil {
			return nil, err
		}
		wanted := values[:f.q]
		worst := residual(wanted, f.v, f.image)
		if worst <= p.tolerance(wanted) || worst < p.floor*values[0] && worst > before/2 {
			return wanted, nil
		}
		before = worst
		cut := max(values[len(values)-1], p.noise*values[0])
		degree := f.degree(values, cut, worst, p)
		if err := f.apply(a, values[0], cut, degree); err != nil {
			return nil, err
		}
		left -= degree
	}
	return nil, errSlow
}

func (f *filter) random(rows, m int) blas64.General {
	v := dense.New(rows, m)
	for i := range v.Data {
		v.Data[i] = f.rng.NormFloat64()
	}
	return v
}

// growth returns the log of the filter's gain per degree at a value beyond
// [0, cut].
func growth(value, cut float64) float64 { return math.Acosh(max(2*value/cut-1, 1)) }

// degree returns the degree that should bring the largest residual down to the
// tolerance, as far as the digits allow. For vectors far from convergence it is at
// most firstDegree, since their residual predicts nothing.
func (f *filter) degree(values []float64, cut, worst float64, p precision) int {
	slow, fast := growth(values[f.q-1], cut), growth(values[0], cut)
	wanted := math.Ceil(math.Log(worst/p.tolerance(values[:f.q]))/max(slow, 1e-9)) + 1
	if worst > 0.1*values[0] {
		wanted = min(wanted, firstDegree)
	}
	able := math.Floor(math.Log(p.steepest) / max(fast-slow, 1e-9))
	return int(max(1, min(wanted, able, mostDegree)))
}

// apply filters the block, whose image is known, by the three-term recurrence,
// scaled to 1 at the largest value.
func (f *filter) apply(a times, largest, cut float64, degree int) error {
	centre := cut / 2 // of [0, cut], and half its width
	sigma := centre / max(largest-centre, centre)
	tau := 2 / sigma
	before, now := f.v, dense.New(f.v.Rows, f.v.Cols)
	for i, x := range f.image.Data {
		now.Data[i] = sigma / centre * (x - centre*before.Data[i])
	}
	for range degree - 1 {
		if err := a(f.image, now); err != nil {
			return err
		}
		next := 1 / (tau - sigma)
		grow, back := 2*next/centre, sigma*next
		for i, x := range f.image.Data {
			before.Data[i] = grow*(x-centre*now.Data[i]) - back*before.Data[i]
		}
		before, now, sigma = now, before, next
	}
	f.v = now
	return nil
}

// ritz replaces the block by the Ritz vectors of its span and returns the Ritz
// values, largest first.
func (f *filter) ritz(a times) ([]float64, error) {
	if err := f.orthonormalise(f.v); err != nil {
		return nil, err
	}
	if err := a(f.image, f.v); err != nil {
		return nil, err
	}
	h := dense.New(f.v.Rows, f.v.Rows)
	if err := f.kernel.Mul64(h, f.image, f.v); err != nil {
		return nil, err
	}
	e, err := fullEigen(h, h.Rows)
	if err != nil {
		return nil, err
	}
	if err := f.turn(e.Vectors, f.v); err != nil {
		return nil, err
	}
	if !(e.Values[0] > 0) {
		return nil, errSlow // zero or NaN: the caller falls back to a full decomposition
	}
	return e.Values, f.turn(e.Vectors, f.image)
}

// turn replaces v by r·v.
func (f *filter) turn(r, v blas64.General) error {
	out := dense.New(v.Rows, v.Cols)
	if err := f.kernel.MulPlain64(out, r, v); err != nil {
		return err
	}
	copy(v.Data, out.Data)
	return nil
}

// residual returns the largest ‖v·a − θv‖ of the pairs.
func residual(values []float64, v, image blas64.General) float64 {
	var worst float64
	for i, theta := range values {
		var sq float64
		row := dense.Row(v, i)
		for j, x := range dense.Row(image, i) {
			r := x - theta*row[j]
			sq += r * r
		}
		worst = max(worst, math.Sqrt(sq))
	}
	return worst
}
