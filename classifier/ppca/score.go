package ppca

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

const (
	// Rows scored at a time: batchValues bounds rows × components, 16 MiB.
	batchValues = 4 << 20
	maxBatch    = 256
	// guard is the share of the terms of a difference below which float32
	// products leave too few digits of it. They are good to about 1e−6 of
	// ‖x‖·‖y‖, so that what passes is good to 1e−4.
	guard = 1.0 / 50
)

// A scorer holds what scoring needs of all classes, stacked for one product a
// batch. It is immutable.
type scorer struct {
	mul       linalg.Multiplier
	normalize bool
	lambda    float64
	centre    []float64 // c, the mean of the class means
	basis     blas32.General
	means     blas32.General // μ − c (C×d)
	classes   []scored
}

// scored is one class as the scorer sees it.
type scored struct {
	class
	first  int       // its first row in basis
	origin []float64 // Lᵀ(μ−c)
	weight []float64 // D/(D+λ)
	norm   float64   // ‖μ−c‖
	logDet float64   // log|Σ| − d·log λ, or 0 without log-determinant
}

func newScorer(cfg Config, dim int, classes []class) *scorer {
	rows := 0
	for _, c := range classes {
		rows += len(c.values)
	}
	s := &scorer{
		mul: linalg.Default(), normalize: *cfg.Normalize, lambda: cfg.Lambda, centre: meanOfMeans(dim, classes),
		basis: linalg.New32(rows, dim), means: linalg.New32(len(classes), dim), classes: make([]scored, len(classes)),
	}
	row := 0
	for i, c := range classes {
		s.stack(i, row, c, *cfg.LogDet)
		row += len(c.values)
	}
	return s
}

func meanOfMeans(dim int, classes []class) []float64 {
	centre := make([]float64, dim)
	for _, c := range classes {
		for j, v := range c.mean {
			centre[j] += v / float64(len(classes))
		}
	}
	return centre
}

// stack puts class i into the scorer, its components from the given row on.
func (s *scorer) stack(i, row int, c class, logDet bool) {
	d := len(c.mean)
	k := scored{class: c, first: row, origin: make([]float64, len(c.values)), weight: make([]float64, len(c.values))}
	k.basis = s.basis.Data[row*d : (row+len(c.values))*d]
	copy(k.basis, c.basis)
	shift := make([]float64, d)
	for j, v := range c.mean {
		shift[j] = v - s.centre[j]
		s.means.Data[i*d+j] = float32(shift[j])
		k.norm += shift[j] * shift[j]
	}
	k.norm = math.Sqrt(k.norm)
	for r, v := range c.values {
		k.origin[r] = dot(k.basis[r*d:(r+1)*d], shift)
		k.weight[r] = v / (v + s.lambda)
		if logDet {
			k.logDet += math.Log1p(v / s.lambda) // eq. 2.11 without d·log λ
		}
	}
	s.classes[i] = k
}

// share makes the classes use the scorer's copies of their components, so that
// they are held once.
func (s *scorer) share(classes []class) {
	for i := range classes {
		classes[i].basis = s.classes[i].basis
	}
}

// batchSize is the number of rows to score at a time.
func (s *scorer) batchSize() int {
	return min(maxBatch, max(8, batchValues/max(s.basis.Rows, 1)))
}

// batch scores a few rows: two float32 products, then float64 per pair.
func (s *scorer) batch(x blas32.General) (blas64.General, error) {
	z := s.place(x)
	z32 := s.relative(z)
	projected := linalg.New32(x.Rows, s.basis.Rows)
	crossed := linalg.New32(x.Rows, len(s.classes))
	if s.basis.Rows > 0 {
		if err := s.mul.MulTrans(projected, z32, s.basis); err != nil {
			return blas64.General{}, err
		}
	}
	if err := s.mul.MulTrans(crossed, z32, s.means); err != nil {
		return blas64.General{}, err
	}
	scores := linalg.New64(x.Rows, len(s.classes))
	linalg.Parallel(x.Rows, func(i int) {
		s.scoreRow(scores.Data[i*scores.Stride:(i+1)*scores.Stride], z.Data[i*z.Stride:(i+1)*z.Stride],
			projected.Data[i*s.basis.Rows:(i+1)*s.basis.Rows], classifier.Row(crossed, i))
	})
	return scores, nil
}

// place returns x in float64, of length 1 if so configured. It rounds to
// float32 in between, as learning does.
func (s *scorer) place(x blas32.General) blas64.General {
	z := classifier.Placed(x, classifier.Range(0, x.Rows), s.normalize)
	if s.normalize {
		for i, v := range z.Data {
			z.Data[i] = float64(float32(v))
		}
	}
	return z
}

// relative returns z − c in float32.
func (s *scorer) relative(z blas64.General) blas32.General {
	out := linalg.New32(z.Rows, z.Cols)
	for i := range z.Rows {
		for j, c := range s.centre {
			out.Data[i*out.Stride+j] = float32(z.Data[i*z.Stride+j] - c)
		}
	}
	return out
}

// scoreRow writes −½(r + log|Σ|) of one example for every class. projected is
// Lᵀ(z−c) of all classes, crossed is (μ−c)ᵀ(z−c).
func (s *scorer) scoreRow(dst, z []float64, projected, crossed []float32) {
	var sq float64
	for j, v := range z {
		sq += (v - s.centre[j]) * (v - s.centre[j])
	}
	for i := range s.classes {
		k := &s.classes[i]
		r, ok := s.quick(k, sq, projected[k.first:], float64(crossed[i]))
		if !ok {
			r = k.exact(z, s.lambda)
		}
		dst[i] = -(r + k.logDet) / 2
	}
}

// quick returns r by Theorem 1 (eq. 2.10) from float32 products, and whether
// enough digits of it are left.
func (s *scorer) quick(k *scored, sq float64, projected []float32, cross float64) (float64, bool) {
	var uu float64
	for i, w := range k.weight {
		a := float64(projected[i]) - k.origin[i]
		uu += w * a * a
	}
	t := sq - 2*cross + k.norm*k.norm - uu
	terms := math.Sqrt(sq) * (k.norm + math.Sqrt(uu))
	return t / s.lambda, t > guard*terms && t <= math.MaxFloat64
}

// exact returns r in float64 from δ = z−μ: the residual is formed as a
// vector, so that nothing cancels. O(qd).
func (k *scored) exact(z []float64, lambda float64) float64 {
	d := len(z)
	delta := make([]float64, d)
	for j, v := range k.mean {
		delta[j] = z[j] - v
	}
	within := 0.0
	residual := append([]float64(nil), delta...)
	for i, v := range k.values {
		row := k.basis[i*d : (i+1)*d]
		a := dot(row, delta)
		within += a * a / (v + lambda)
		for j, l := range row {
			residual[j] -= a * float64(l)
		}
	}
	var sq float64
	for _, v := range residual {
		sq += v * v
	}
	return sq/lambda + within
}

func dot(a []float32, b []float64) float64 {
	var sum float64
	for j, v := range a {
		sum += float64(v) * b[j]
	}
	return sum
}
