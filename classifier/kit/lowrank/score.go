package lowrank

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// guard is the share of the terms of a difference below which float32
	// products leave too few digits of it. They are accurate to about 1e−6 of
	// ‖x‖·‖y‖, so that what passes is accurate to 1e−4.
	guard = 1.0 / 50
	// productError is about the error of float32 products, and of sums of their
	// squares, as a share of ‖x‖·‖y‖. A score whose error may exceed doubtNats is
	// recomputed if its Gaussian may have a probability above exp(−leaderNats):
	// no probability is off by more than 1e−5.
	productError = 3e-7
	doubtNats    = 2.5e-5
	leaderNats   = 14
)

// Placed returns x in float64, scaled to length 1 if unit. It rounds to float32
// in between, as learning does.
func Placed(x blas32.General, unit bool) blas64.General {
	z := dense.New(x.Rows, x.Cols)
	dense.Parallel(x.Rows, func(i int) {
		row := dense.Row(z, i)
		classifier.Place(row, dense.Row32(x, i), unit)
		for j, v := range row {
			row[j] = float64(float32(v))
		}
	})
	return z
}

// Queries holds the rows to score, prepared once for all stacks with the same
// centre.
type Queries struct {
	z       blas64.General
	z32     blas32.General // z − centre
	length  []float64      // ‖z − centre‖
	scratch sync.Pool      // of *scratch
}

// NewQueries prepares the rows of z (n×d), which must not change afterwards.
func NewQueries(z blas64.General, centre []float64) *Queries {
	q := &Queries{z: z, z32: dense.New32(z.Rows, z.Cols), length: make([]float64, z.Rows)}
	dense.Parallel(z.Rows, func(i int) {
		row := dense.Row32(q.z32, i)
		var sq float64
		for j, v := range dense.Row(z, i) {
			shift := v - centre[j]
			row[j], sq = float32(shift), sq+shift*shift
		}
		q.length[i] = math.Sqrt(sq)
	})
	return q
}

func (q *Queries) row(i int) []float64 { return dense.Row(q.z, i) }

// stacked is a Gaussian prepared for a Stack.
type stacked struct {
	*Gaussian
	first     int       // its first row in the stack
	origin    []float64 // L(μ−c)
	weight    []float64 // D/(D+λ)
	origin32  []float32 // both for sums in float32
	weight32  []float32
	norm      float64 // ‖μ−c‖
	precision float64 // 1/λ
	logDet    float64 // log|Σ| − d·log λ, or 0 without log-determinant
}

// stackedOf prepares a Gaussian and writes μ − c into below.
func stackedOf(g *Gaussian, first int, centre []float64, logDet bool, below []float32) stacked {
	shift := minus(g.Mean, centre)
	k := stacked{Gaussian: g, first: first, origin: g.project(shift), weight: make([]float64, len(g.Values)),
		precision: 1 / g.Lambda}
	for j, v := range shift {
		below[j] = float32(v)
		k.norm += v * v
	}
	k.norm = math.Sqrt(k.norm)
	for i, v := range g.Values {
		k.weight[i] = v / (v + g.Lambda)
	}
	k.origin32, k.weight32 = dense.Narrowed(k.origin), dense.Narrowed(k.weight)
	if logDet {
		k.logDet = g.logDetBeyond()
	}
	return k
}

// distance returns λr of a row z by Theorem 1 (eq. 2.10) from length = ‖z−c‖
// and the float32 products uu = ‖u‖² and cross = (μ−c)ᵀ(z−c), and the size of
// the terms of this difference. Scores use it if it is sure.
func (k *stacked) distance(length, uu, cross float64) (t, terms float64) {
	return length*length - 2*cross + k.norm*k.norm - uu, length * (k.norm + math.Sqrt(uu))
}

// sure reports whether enough digits of a distance are left.
func sure(t, terms float64) bool { return t > guard*terms && t <= math.MaxFloat64 }

// score returns −½(r + log|Σ|) and a bound of its error, for a sure distance.
func (k *stacked) score(t, terms float64) (float64, float32) {
	return -(t*k.precision + k.logDet) / 2, float32(productError / 2 * terms * k.precision)
}

func (k *stacked) exactScore(z []float64) float64 { return -(k.exact(z) + k.logDet) / 2 }

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
	return dense.SumSquares(residual)/g.Lambda + within
}

// weightedSquares returns ‖u‖² = Σ w·(p−o)², in four sums that the processor
// can compute in parallel.
func weightedSquares[T float32 | float64](p []float32, o, w []T) float64 {
	n := len(w)
	p, o = p[:n], o[:n]
	var s0, s1, s2, s3 T
	i := 0
	for ; i+4 <= n; i += 4 {
		a0, a1, a2, a3 := T(p[i])-o[i], T(p[i+1])-o[i+1], T(p[i+2])-o[i+2], T(p[i+3])-o[i+3]
		s0 += w[i] * a0 * a0
		s1 += w[i+1] * a1 * a1
		s2 += w[i+2] * a2 * a2
		s3 += w[i+3] * a3 * a3
	}
	for ; i < n; i++ {
		a := T(p[i]) - o[i]
		s0 += w[i] * a * a
	}
	return float64(s0) + float64(s1) + (float64(s2) + float64(s3))
}
