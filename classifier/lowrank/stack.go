package lowrank

import (
	"errors"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// guard is the share of the terms of a difference below which float32
// products leave too few digits of it. They are good to about 1e−6 of
// ‖x‖·‖y‖, so that what passes is good to 1e−4.
const guard = 1.0 / 50

// blockRows are multiplied and scored by one goroutine at a time, while their
// products are in its cache.
const blockRows = 128

// Queries are the rows to be scored, made ready once for all stacks of one
// centre.
type Queries struct {
	z      blas64.General
	z32    blas32.General // z − centre
	sq     []float64      // ‖z − centre‖²
	centre []float64
	rooms  sync.Pool // of *room
}

// NewQueries takes the rows of z (n×d), which must not change afterwards.
func NewQueries(z blas64.General, centre []float64) *Queries {
	q := &Queries{z: z, z32: dense.New32(z.Rows, z.Cols), sq: make([]float64, z.Rows), centre: centre}
	dense.Parallel(z.Rows, func(i int) {
		row := dense.Row32(q.z32, i)
		var sq float64
		for j, v := range z.Data[i*z.Stride : i*z.Stride+z.Cols] {
			shift := v - centre[j]
			row[j], sq = float32(shift), sq+shift*shift
		}
		q.sq[i] = sq
	})
	return q
}

// gather returns the given rows in float32, without a copy where it is all.
func (q *Queries) gather(rows []int) blas32.General {
	if len(rows) == q.z32.Rows {
		return q.z32
	}
	return dense.Gather32(q.z32, rows)
}

// A Stack is Gaussians that are scored together, with one product for the
// components of all of them. It is immutable.
type Stack struct {
	basis  blas32.General
	means  blas32.General // μ − centre
	joined blas32.General // both, unless few
	items  []stacked
	mul    linalg.Backend
	few    bool // rows come a handful at a time
}

// stacked is one Gaussian as a Stack sees it.
type stacked struct {
	*Gaussian
	first  int       // its first row in basis
	origin []float64 // L(μ−c)
	weight []float64 // D/(D+λ)
	norm   float64   // ‖μ−c‖
	logDet float64   // log|Σ| − d·log λ, or 0 without log-determinant
}

// NewStack stacks Gaussians, the origin of its products being at centre. Their
// components are moved into one piece of memory (Pack), so that they are held
// once; gs is kept. With few, rows are expected a handful at a time: scores
// cost less then and more otherwise, and differ in the last bits.
func NewStack(gs []Gaussian, centre []float64, logDet, few bool, mul linalg.Backend) *Stack {
	s := &Stack{few: few, mul: mul, items: make([]stacked, len(gs))}
	if few {
		s.basis, s.means = Block(gs), fresh(len(gs), len(centre))
	} else {
		s.join(gs, len(centre))
	}
	share(gs, s.basis)
	row := 0
	for i := range gs {
		s.items[i] = s.stacked(i, row, &gs[i], centre, logDet)
		row += len(gs[i].Values)
	}
	return s
}

// join puts the components and, below them, room for the means into one matrix.
func (s *Stack) join(gs []Gaussian, d int) {
	n := len(gs)
	for i := range gs {
		n += len(gs[i].Values)
	}
	s.joined = fresh(n, d)
	rows := copyComponents(s.joined, gs)
	s.basis, s.means = dense.Rows32(s.joined, 0, rows), dense.Rows32(s.joined, rows, n)
}

func (s *Stack) stacked(i, row int, g *Gaussian, centre []float64, logDet bool) stacked {
	shift := minus(g.Mean, centre)
	k := stacked{Gaussian: g, first: row, origin: g.project(shift), weight: make([]float64, len(g.Values))}
	for j, v := range shift {
		s.means.Data[i*s.means.Stride+j] = float32(v)
		k.norm += v * v
	}
	k.norm = math.Sqrt(k.norm)
	for r, v := range g.Values {
		k.weight[r] = v / (v + g.Lambda)
	}
	if logDet {
		k.logDet = g.logDetBeyond()
	}
	return k
}

// Len returns the number of Gaussians.
func (s *Stack) Len() int { return len(s.items) }

// Components returns the components of all Gaussians, a row each; not to be
// changed.
func (s *Stack) Components() blas32.General { return s.basis }

// Scores returns −½(r + log|Σ| − d·log λ) of the given rows of q for every
// Gaussian (len(rows) × Len), r being the squared Mahalanobis distance. Values
// that share λ are log-densities up to one constant.
func (s *Stack) Scores(q *Queries, rows []int) (blas64.General, error) {
	if s.few {
		return s.scoresOfFew(q, rows)
	}
	z32, scores := q.gather(rows), dense.New(len(rows), len(s.items))
	errs := make([]error, (len(rows)+blockRows-1)/blockRows)
	dense.Parallel(len(errs), func(b int) {
		first := b * blockRows
		n := min(blockRows, len(rows)-first)
		errs[b] = s.scoreBlock(scores.Data[first*scores.Stride:], q, rows[first:first+n], dense.Rows32(z32, first, first+n))
	})
	return scores, errors.Join(errs...)
}

// scoreBlock writes the scores of rows, which z32 are.
func (s *Stack) scoreBlock(dst []float64, q *Queries, rows []int, z32 blas32.General) error {
	products := dense.New32(len(rows), s.joined.Rows)
	if err := s.mul.Mul32(products, z32, s.joined); err != nil {
		return err
	}
	for i, row := range rows {
		z := q.z.Data[row*q.z.Stride : row*q.z.Stride+q.z.Cols]
		projected := dense.Row32(products, i)
		s.scoreRow(dst[i*len(s.items):(i+1)*len(s.items)], z, q.sq[row], projected, projected[s.basis.Rows:])
	}
	return nil
}

// scoreRow takes L(z−c) of all Gaussians and (μ−c)ᵀ(z−c).
func (s *Stack) scoreRow(dst, z []float64, sq float64, projected, crossed []float32) {
	for i := range s.items {
		k := &s.items[i]
		var uu float64
		for j, w := range k.weight {
			a := float64(projected[k.first+j]) - k.origin[j]
			uu += w * a * a
		}
		dst[i] = k.score(z, sq, uu, float64(crossed[i]))
	}
}

// score returns −½(r + log|Σ|) of z.
func (k *stacked) score(z []float64, sq, uu, cross float64) float64 {
	r, ok := k.quick(sq, uu, cross)
	if !ok {
		r = k.exact(z)
	}
	return -(r + k.logDet) / 2
}

// quick returns r by Theorem 1 (eq. 2.10) from uu = ‖u‖² and cross =
// (μ−c)ᵀ(z−c) of float32 products, and whether enough digits of it are left.
func (k *stacked) quick(sq, uu, cross float64) (float64, bool) {
	t := sq - 2*cross + k.norm*k.norm - uu
	terms := math.Sqrt(sq) * (k.norm + math.Sqrt(uu))
	return t / k.Lambda, t > guard*terms && t <= math.MaxFloat64
}

// exact returns r in float64 from δ = z−μ: the residual is formed as a
// vector, so that nothing cancels. O(qd).
func (g *Gaussian) exact(z []float64) float64 {
	delta := minus(z, g.Mean)
	residual := append([]float64(nil), delta...)
	within := 0.0
	for i, v := range g.Values {
		row := g.row(i)
		a := dot(row, delta)
		within += a * a / (v + g.Lambda)
		for j, l := range row {
			residual[j] -= a * float64(l)
		}
	}
	var sq float64
	for _, v := range residual {
		sq += v * v
	}
	return sq/g.Lambda + within
}
