package gauss

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// batchValues bounds rows × low-rank rows scored at a time: 16 MiB.
	batchValues = 4 << 20
	maxBatch    = 256
	// guard is the share of the terms of a squared distance below which the
	// float32 product leaves too few digits of it. The product is accurate to
	// about 1e−6 of its terms, so that what passes is accurate to 1e−4.
	guard = 1.0 / 50
	// largestDegrees is where Student's t is Gaussian to working precision.
	largestDegrees = 1e9
)

// A Stack scores whitened rows against all classes with one product of each
// kind per batch. It is immutable.
type Stack struct {
	mul       linalg.Backend
	space     *Space
	densities []*Density
	weights   blas64.General // C×d, D⁻¹μ
	// Classes with equal D share a row of precision: 1/(a+v) along V, and in the
	// last column that of the other directions. The last row is that of a class that
	// has not been seen.
	precision blas64.General
	shared    []int
	unseen    float64        // log|D| of a class that has not been seen
	factors   blas32.General // F of all classes, stacked
	first     []int          // first row of each class in factors
	constants []float64      // of Student's t
}

// Stack returns the scorer of densities in this space.
func (sp *Space) Stack(densities []*Density) *Stack {
	s := &Stack{
		mul: sp.Backend(), space: sp, densities: densities, weights: dense.New(len(densities), sp.Dim()),
		shared: make([]int, len(densities)), first: make([]int, len(densities)),
		constants: make([]float64, len(densities)),
	}
	rows := 0
	for i, p := range densities {
		s.first[i] = rows
		s.constants[i] = p.constant()
		rows += len(p.values)
	}
	s.stackFactors(rows)
	s.stackPrecisions()
	return s
}

// StackOf returns the scorer of classes, which then share its memory; of
// returns the address of a class's density.
func StackOf[C any](sp *Space, classes []C, of func(*C) **Density) *Stack {
	densities := make([]*Density, len(classes))
	for i := range classes {
		densities[i] = *of(&classes[i])
	}
	s := sp.Stack(densities)
	for i, p := range s.densities {
		*of(&classes[i]) = p
	}
	return s
}

// stackFactors makes the densities use the stack's copy of their factors and
// weights, so that these are stored once.
func (s *Stack) stackFactors(rows int) {
	d := s.space.Dim()
	s.factors = dense.New32(rows, d)
	s.densities = append([]*Density(nil), s.densities...)
	for i, p := range s.densities {
		own := *p
		own.factor = s.factors.Data[s.first[i]*d : (s.first[i]+len(p.values))*d]
		copy(own.factor, p.factor)
		own.weight = s.weights.Data[i*d : (i+1)*d]
		copy(own.weight, p.weight)
		s.densities[i] = &own
	}
}

func (s *Stack) stackPrecisions() {
	row := make(map[[2]float64]int)
	var values []float64
	for i, p := range s.densities {
		key := [2]float64{p.n, p.noise}
		at, ok := row[key]
		if !ok {
			at = len(row)
			row[key] = at
			along, rest := s.space.precisions(p)
			values = append(append(values, along...), rest)
		}
		s.shared[i] = at
	}
	unseen := &Density{noise: 1}
	along, rest := s.space.precisions(unseen)
	values = append(append(values, along...), rest)
	s.unseen = s.space.logDet(unseen)
	cols := len(s.space.Beta) + 1
	s.precision = blas64.General{Rows: len(row) + 1, Cols: cols, Stride: cols, Data: values}
}

// constant returns the constant of Student's t besides −½(df+d)·log(1+r/df) −
// ½·log|C|, relative to the Gaussian without (2π)^(−d/2).
func (p *Density) constant() float64 {
	if !p.student() {
		return 0
	}
	d, df := float64(len(p.mean)), p.degrees
	a, _ := math.Lgamma((df + d) / 2)
	b, _ := math.Lgamma(df / 2)
	return a - b - d/2*math.Log(df/2)
}

func (p *Density) student() bool { return p.degrees > 0 && p.degrees < largestDegrees }

// logDensity converts a squared Mahalanobis distance to a log-density in nats.
func (p *Density) logDensity(r, constant float64) float64 {
	if !p.student() {
		return -(r + p.logDet) / 2
	}
	d := float64(len(p.mean))
	return constant - p.logDet/2 - (p.degrees+d)/2*math.Log1p(r/p.degrees)
}

// Batch returns the number of rows to score at a time.
func (s *Stack) Batch() int {
	return min(maxBatch, max(8, batchValues/max(s.factors.Rows, 1)))
}

// LogDensities returns log p(z|c) (n×C, nats, without the common factor
// (2π)^(−d/2)) for whitened rows. O(d(Σk + C + r) + Cr) per row.
func (s *Stack) LogDensities(white blas64.General) (blas64.General, error) {
	out, err := s.OpenLogDensities(white)
	return dense.View(out, 0, 0, out.Rows, len(s.densities)), err
}

// OpenLogDensities returns LogDensities, followed by the log-density of a class that has
// not been seen (n×(C+1)): n = 0, so that its mean has the variance β.
func (s *Stack) OpenLogDensities(white blas64.General) (blas64.General, error) {
	C := len(s.densities)
	out := dense.New(white.Rows, C+1)
	along, err := s.space.along(white)
	if err != nil {
		return out, err
	}
	quadratic := dense.New(white.Rows, s.precision.Rows)
	if err := s.mul.MulTrans64(quadratic, squares(white, along), s.precision); err != nil {
		return out, err
	}
	if err := s.mul.MulTrans64(dense.View(out, 0, 0, out.Rows, C), white, s.weights); err != nil {
		return out, err
	}
	projected := dense.New32(white.Rows, s.factors.Rows)
	if s.factors.Rows > 0 {
		narrow := blas32.General{Rows: white.Rows, Cols: white.Cols, Stride: white.Stride,
			Data: dense.Narrowed(white.Data)}
		if err := s.mul.MulTrans(projected, narrow, s.factors); err != nil {
			return out, err
		}
	}
	dense.Parallel(white.Rows, func(i int) {
		row, squared := dense.Row(out, i), dense.Row(quadratic, i)
		s.finish(row[:C], dense.Row(white, i), squared, projected.Data[i*s.factors.Rows:(i+1)*s.factors.Rows])
		row[C] = -(squared[len(squared)-1] + s.unseen) / 2
	})
	return out, nil
}

// finish turns the cross products D⁻¹μ·z of one row into log-densities.
// quadratic holds zᵀD⁻¹z, projected holds Fz.
func (s *Stack) finish(row, z, quadratic []float64, projected []float32) {
	for c, p := range s.densities {
		terms := quadratic[s.shared[c]] + p.square
		r := terms - 2*row[c]
		for i, shift := range p.shift {
			a := float64(projected[s.first[c]+i]) - shift
			r -= a * a
		}
		if len(p.shift) > 0 && !(r > guard*terms) {
			r = p.exact(s.space, z)
		}
		row[c] = p.logDensity(r, s.constants[c])
	}
}

// squares returns the squared coordinates of every row along V, and in the last
// column the squared length of the remainder.
func squares(white, along blas64.General) blas64.General {
	r := along.Cols
	out := dense.New(white.Rows, r+1)
	for i := range white.Rows {
		v := blas64.Vector{N: white.Cols, Data: white.Data[i*white.Stride:], Inc: 1}
		beside := blas64.Dot(v, v)
		for j := range r {
			a := along.Data[i*along.Stride+j]
			out.Data[i*out.Stride+j] = a * a
			beside -= a * a
		}
		if r < white.Cols {
			out.Data[i*out.Stride+r] = max(beside, 0)
		}
	}
	return out
}
