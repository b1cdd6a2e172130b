package lowrank

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// negligible is the share of λ below which a component matters less than the
// error of rounding its direction to float32.
const negligible = 1e-9

// A Gaussian is N(Mean, Basisᵀ·diag(Values)·Basis + Lambda·I). It is never
// changed, only replaced.
type Gaussian struct {
	N      int // examples behind it
	Mean   []float64
	Values []float64 // positive
	Basis  []float32 // one row of d per value
	Lambda float64
}

// Fit returns the Gaussian of the examples in m with at most q components (eq.
// 2.8, 2.9), fewer if there are no more than q examples or they do not vary.
func Fit(m *moments.Moments, q int, lambda float64) (Gaussian, error) {
	e, err := m.TopEigen(q)
	if err != nil {
		return Gaussian{}, err
	}
	q = len(e.Values)
	for q > 0 && e.Values[q-1] < negligible*lambda {
		q--
	}
	return Gaussian{N: m.N(), Mean: m.Mean(), Values: e.Values[:q], Basis: dense.Narrowed(e.Vectors.Data[:q*m.Dim()]),
		Lambda: lambda}, nil
}

// Dim returns d.
func (g *Gaussian) Dim() int { return len(g.Mean) }

// LogDet returns log|Σ| (eq. 2.11).
func (g *Gaussian) LogDet() float64 {
	return float64(g.Dim())*math.Log(g.Lambda) + g.logDetBeyond()
}

// logDetBeyond returns log|Σ| − d·log λ.
func (g *Gaussian) logDetBeyond() float64 {
	var sum float64
	for _, v := range g.Values {
		sum += math.Log1p(v / g.Lambda)
	}
	return sum
}

func (g *Gaussian) row(i int) []float32 {
	return g.Basis[i*g.Dim() : (i+1)*g.Dim()]
}

// project returns L·v.
func (g *Gaussian) project(v []float64) []float64 {
	out := make([]float64, len(g.Values))
	for i := range out {
		out[i] = dot(g.row(i), v)
	}
	return out
}

// Block returns the components of all Gaussians as one matrix, copying them
// unless they are already adjacent in memory.
func Block(gs []Gaussian) blas32.General {
	rows, d := 0, 0
	for i := range gs {
		rows, d = rows+len(gs[i].Values), max(d, gs[i].Dim())
	}
	if b, ok := adjacent(gs, rows*d); ok {
		return blas32.General{Rows: rows, Cols: d, Stride: max(d, 1), Data: b}
	}
	out := fresh(rows, d)
	at := 0
	for i := range gs {
		at += copy(out.Data[at:], gs[i].Basis)
	}
	return out
}

// fresh returns a zero matrix that starts at a multiple of 16 bytes, as Go
// allocates everything of 32 bytes or more: the float32 kernels sum in an order
// that depends on the alignment of a row.
func fresh(rows, cols int) blas32.General {
	const least = 8
	m := blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1)}
	m.Data = make([]float32, max(rows*cols, least))[:rows*cols]
	return m
}

// adjacent returns the memory of all components if it is in one piece. Rows
// whose size is not a multiple of 16 bytes are always copied, so that they have
// the alignment of any other fresh matrix.
func adjacent(gs []Gaussian, size int) ([]float32, bool) {
	if len(gs) == 0 || gs[0].Dim()%4 != 0 {
		return nil, size == 0
	}
	var all []float32
	at := 0
	for i := range gs {
		b := gs[i].Basis
		if len(b) == 0 {
			continue
		}
		if all == nil {
			if cap(b) < size {
				return nil, false
			}
			all = b[:size]
		}
		if &all[at] != &b[0] {
			return nil, false
		}
		at += len(b)
	}
	return all, true
}

// Pack moves the components of all Gaussians into one piece of memory, where
// Block finds them without copying, and releases the old memory.
func Pack(gs []Gaussian) {
	block, at := Block(gs), 0
	for i := range gs {
		n := len(gs[i].Basis)
		gs[i].Basis = block.Data[at : at+n : len(block.Data)]
		at += n
	}
}

// MeanOfMeans returns the mean of the means (d), a good origin for float32
// products.
func MeanOfMeans(gs []Gaussian) []float64 {
	if len(gs) == 0 {
		return nil
	}
	centre := make([]float64, gs[0].Dim())
	for i := range gs {
		for j, v := range gs[i].Mean {
			centre[j] += v / float64(len(gs))
		}
	}
	return centre
}

func minus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for j, v := range a {
		out[j] = v - b[j]
	}
	return out
}

// dot uses four sums that the processor can compute in parallel.
func dot(a []float32, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	j := 0
	for ; j+4 <= len(a); j += 4 {
		s0 += float64(a[j]) * b[j]
		s1 += float64(a[j+1]) * b[j+1]
		s2 += float64(a[j+2]) * b[j+2]
		s3 += float64(a[j+3]) * b[j+3]
	}
	for ; j < len(a); j++ {
		s0 += float64(a[j]) * b[j]
	}
	return s0 + s1 + (s2 + s3)
}
