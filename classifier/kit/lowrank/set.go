package lowrank

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// setChunk is the number of Gaussians compared at a time: their components are
// multiplied as one matrix.
const setChunk = 64

// A Set holds Gaussians of one dimension, prepared for repeated comparison with
// others.
type Set struct {
	gs     []Gaussian
	items  []stacked      // gs, prepared
	centre []float64      // mean of the means: the origin of all products
	means  blas32.General // μ − centre
	mul    linalg.Backend
}

// NewSet prepares at least one Gaussian, with mul as the backend.
func NewSet(gs []Gaussian, mul linalg.Backend) *Set {
	s := &Set{gs: gs, centre: MeanOfMeans(gs), items: make([]stacked, len(gs)), mul: mul}
	s.means = fresh(len(gs), len(s.centre))
	dense.Parallel(len(gs), func(i int) { s.items[i] = stackedOf(&gs[i], 0, s.centre, true, dense.Row32(s.means, i)) })
	return s
}

// others holds what the Gaussians of a Set are compared with.
type others struct {
	items []stacked
	rows  blas32.General // their components; for Bhattacharyya, μ − centre below
	means blas32.General // μ − centre
}

func (s *Set) against(gs []Gaussian) others {
	o := others{items: make([]stacked, len(gs)), rows: Block(gs), means: fresh(len(gs), len(s.centre))}
	row := 0
	for i := range gs {
		o.items[i] = stackedOf(&gs[i], row, s.centre, true, dense.Row32(o.means, i))
		row += len(gs[i].Values)
	}
	return o
}

// compared holds the products of a chunk of the set, Gaussians first …, with
// the rows of others.
type compared struct {
	first   int
	basis   blas32.General // components × rows
	means   blas32.General // Gaussians × rows
	offsets []int          // first component of each Gaussian
}

// each compares all Gaussians of the set with o and calls do for each of them,
// on all cores.
func (s *Set) each(o *others, do func(i int, c *compared)) error {
	for first := 0; first < len(s.gs); first += setChunk {
		last := min(first+setChunk, len(s.gs))
		c, err := s.compare(s.gs[first:last], dense.Rows32(s.means, first, last), o.rows)
		if err != nil {
			return err
		}
		c.first = first
		dense.Parallel(last-first, func(i int) { do(first+i, &c) })
	}
	return nil
}

func (s *Set) compare(gs []Gaussian, means, rows blas32.General) (compared, error) {
	block := Block(gs)
	c := compared{offsets: make([]int, len(gs)), basis: dense.New32(block.Rows, rows.Rows)}
	at := 0
	for i := range c.offsets {
		c.offsets[i] = at
		at += len(gs[i].Values)
	}
	var err error
	if block.Rows > 0 && rows.Rows > 0 {
		err = s.mul.MulTrans(c.basis, block, rows)
	}
	if err == nil {
		c.means, err = s.project(means, rows)
	}
	return c, err
}

// project multiplies means, minus the centre, with components.
func (s *Set) project(means, rows blas32.General) (blas32.General, error) {
	out := dense.New32(means.Rows, rows.Rows)
	if rows.Rows == 0 {
		return out, nil
	}
	return out, s.mul.MulTrans(out, means, rows)
}

// of returns the products of component b of Gaussian i with m rows from row on.
func (c *compared) of(i, b, row, m int) []float32 {
	r := c.offsets[i-c.first] + b
	return c.basis.Data[r*c.basis.Cols+row : r*c.basis.Cols+row+m]
}

// meanOf returns the products of the mean of Gaussian i, minus the centre.
func (c *compared) meanOf(i, row, m int) []float32 {
	at := (i-c.first)*c.means.Cols + row
	return c.means.Data[at : at+m]
}

// KL writes KL(i ‖ q[j]) in nats (eq. 4.11) into dst (Len × len(q)) for every
// Gaussian i of the set.
func (s *Set) KL(dst blas64.General, q []Gaussian) error {
	o := s.against(q)
	return s.each(&o, func(i int, c *compared) {
		row := dense.Row(dst, i)
		for j := range o.items {
			to := &o.items[j]
			row[j] = s.items[i].kl(to, c.meanOf(i, to.first, len(to.Values)), func(b int) []float32 {
				return c.of(i, b, to.first, len(to.Values))
			})
		}
	})
}

// KLOf is KL for some Gaussians of the set only (len(which) × len(q)).
func (s *Set) KLOf(which []int, q []Gaussian) (blas64.General, error) {
	part := &Set{gs: make([]Gaussian, len(which)), items: make([]stacked, len(which)), centre: s.centre,
		means: fresh(len(which), len(s.centre)), mul: s.mul}
	for k, i := range which {
		part.gs[k], part.items[k] = s.gs[i], s.items[i]
		copy(dense.Row32(part.means, k), dense.Row32(s.means, i))
	}
	dst := dense.New(len(which), len(q))
	return dst, part.KL(dst, q)
}

// KLBound writes lower bounds of the values of KL, for the cost of the means
// alone: the mean term is exact, and the trace is at least the sum of products
// of the eigenvalues, the largest of one matrix with the smallest of the
// inverse of the other (von Neumann).
func (s *Set) KLBound(dst blas64.General, q []Gaussian) error {
	o := s.against(q)
	projected, err := s.project(s.means, o.rows)
	if err != nil {
		return err
	}
	dense.Parallel(len(s.gs), func(i int) {
		row, products := dense.Row(dst, i), dense.Row32(projected, i)
		for j := range o.items {
			to := &o.items[j]
			row[j] = s.items[i].kl(to, products[to.first:to.first+len(to.Values)], nil)
		}
	})
	return nil
}

// kl computes eq. 4.11 with Σ⁻¹ = (I − L·diag(W)·Lᵀ)/λ, W = D/(D+λ) of q, from
// the products of the mean and of each component of p with the components of q;
// without the latter it returns a lower bound. Values below 0, which only
// rounding can produce, are set to 0.
func (p *stacked) kl(q *stacked, mean []float32, component func(b int) []float32) float64 {
	var within, used float64 // of δ and of the identity, in the components of q
	w := q.weight
	for a, x := range mean {
		t := float64(x) - q.origin[a]
		within += w[a] * t * t
		used += w[a]
	}
	var trace float64
	for b, v := range p.Values {
		outside := 1.0
		switch {
		case component != nil:
			for a, x := range component(b) {
				outside -= w[a] * float64(x) * float64(x)
			}
		case b < len(w):
			outside -= w[b]
		}
		trace += v * max(outside, 0)
	}
	d, ratio := float64(p.Dim()), p.Lambda/q.Lambda
	quadratic := max(dense.SquaredDistance(p.Mean, q.Mean)-within, 0)
	logDets := q.logDet - p.logDet
	return max(0, (logDets-d*math.Log(ratio)+d*(ratio-1)-used*ratio+(trace+quadratic)/q.Lambda)/2)
}

// KL returns KL(p ‖ q) in nats (eq. 4.11).
func KL(p, q Gaussian) (float64, error) {
	dst := dense.New(1, 1)
	err := NewSet([]Gaussian{p}, linalg.Backend{}).KL(dst, []Gaussian{q})
	return dst.Data[0], err
}
