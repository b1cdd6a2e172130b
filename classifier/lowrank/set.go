package lowrank

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// setChunk is how many Gaussians are compared at a time: their components are
// multiplied as one matrix.
const setChunk = 64

// A Set is Gaussians of one dimension, made ready for being compared with
// others many times.
type Set struct {
	gs     []Gaussian
	centre []float64      // mean of the means: the origin of all products
	means  blas32.General // μ − centre
	origin [][]float64    // L(μ − centre)
	mul    linalg.Multiplier
}

// NewSet takes at least one Gaussian.
func NewSet(gs []Gaussian) *Set {
	s := &Set{gs: gs, centre: MeanOfMeans(gs), origin: make([][]float64, len(gs)), mul: linalg.Default()}
	s.means = linalg.New32(len(gs), len(s.centre))
	linalg.Parallel(len(gs), func(i int) {
		shift := minus(gs[i].Mean, s.centre)
		for j, v := range shift {
			s.means.Data[i*s.means.Stride+j] = float32(v)
		}
		s.origin[i] = gs[i].project(shift)
	})
	return s
}

// Len returns the number of Gaussians.
func (s *Set) Len() int { return len(s.gs) }

// others is what the Gaussians of a Set are compared with.
type others struct {
	gs     []Gaussian
	rows   blas32.General // their components; for Bhattacharyya, μ − centre below
	first  []int
	origin [][]float64 // L(μ − centre) of each
}

func (s *Set) against(gs []Gaussian) others {
	o := others{gs: gs, rows: Block(gs), first: make([]int, len(gs)), origin: make([][]float64, len(gs))}
	row := 0
	for i := range gs {
		o.first[i] = row
		row += len(gs[i].Values)
		o.origin[i] = gs[i].project(minus(gs[i].Mean, s.centre))
	}
	return o
}

// A compared chunk holds products of Gaussians first … of the set with the
// rows of others.
type compared struct {
	first   int
	basis   blas32.General // components × rows
	means   blas32.General // Gaussians × rows
	offsets []int          // first component of each Gaussian
}

// each compares all Gaussians of the set with o and calls do for each of them,
// on all cores.
func (s *Set) each(o others, do func(i int, c *compared)) error {
	for first := 0; first < len(s.gs); first += setChunk {
		last := min(first+setChunk, len(s.gs))
		c, err := s.compare(first, last, o.rows)
		if err != nil {
			return err
		}
		linalg.Parallel(last-first, func(i int) { do(first+i, &c) })
	}
	return nil
}

func (s *Set) compare(first, last int, rows blas32.General) (compared, error) {
	block := Block(s.gs[first:last])
	c := compared{
		first: first, offsets: make([]int, last-first),
		basis: linalg.New32(block.Rows, rows.Rows), means: linalg.New32(last-first, rows.Rows),
	}
	at := 0
	for i := range c.offsets {
		c.offsets[i] = at
		at += len(s.gs[first+i].Values)
	}
	if rows.Rows == 0 {
		return c, nil
	}
	if block.Rows > 0 {
		if err := s.mul.MulTrans(c.basis, block, rows); err != nil {
			return c, err
		}
	}
	return c, s.mul.MulTrans(c.means, classifier.Rows(s.means, first, last), rows)
}

// of returns the products of component b of Gaussian i with m rows from the
// given one on.
func (c *compared) of(i, b, row, m int) []float32 {
	r := c.offsets[i-c.first] + b
	return c.basis.Data[r*c.basis.Cols+row : r*c.basis.Cols+row+m]
}

// meanOf returns the products of the mean of Gaussian i, less the centre.
func (c *compared) meanOf(i, row, m int) []float32 {
	at := (i-c.first)*c.means.Cols + row
	return c.means.Data[at : at+m]
}

// KL writes KL(i ‖ q[j]) in nats (eq. 4.11) of every Gaussian i of the set into
// dst (Len × len(q)).
func (s *Set) KL(dst blas64.General, q []Gaussian) error {
	o := s.against(q)
	constants := make([]float64, len(q))
	for j := range q {
		constants[j] = q[j].logDetBeyond()
	}
	return s.each(o, func(i int, c *compared) {
		row := dst.Data[i*dst.Stride : i*dst.Stride+len(q)]
		own := s.gs[i].logDetBeyond()
		for j := range q {
			row[j] = s.kl(i, j, &o, c, constants[j]-own)
		}
	})
}

// kl is eq. 4.11 with Σ⁻¹ = (I − L·diag(W)·Lᵀ)/λ, W = D/(D+λ) of q. What
// cannot be negative but for rounding is kept from being so.
func (s *Set) kl(i, j int, o *others, c *compared, logDets float64) float64 {
	p, q := &s.gs[i], &o.gs[j]
	m := len(q.Values)
	w := make([]float64, m)
	var within, used float64 // of δ and of the identity, in the components of q
	for a, x := range c.meanOf(i, o.first[j], m) {
		w[a] = q.Values[a] / (q.Values[a] + q.Lambda)
		t := float64(x) - o.origin[j][a]
		within += w[a] * t * t
		used += w[a]
	}
	var trace float64
	for b, v := range p.Values {
		outside := 1.0
		for a, x := range c.of(i, b, o.first[j], m) {
			outside -= w[a] * float64(x) * float64(x)
		}
		trace += v * max(outside, 0)
	}
	d, ratio := float64(p.Dim()), p.Lambda/q.Lambda
	quadratic := max(squared(p.Mean, q.Mean)-within, 0)
	return max(0, (logDets-d*math.Log(ratio)+d*(ratio-1)-used*ratio+(trace+quadratic)/q.Lambda)/2)
}

// squared is the squared distance.
func squared(a, b []float64) float64 {
	var sum float64
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return sum
}

// KL returns KL(p ‖ q) in nats (eq. 4.11).
func KL(p, q Gaussian) (float64, error) {
	dst := linalg.New64(1, 1)
	err := NewSet([]Gaussian{p}).KL(dst, []Gaussian{q})
	return dst.Data[0], err
}
