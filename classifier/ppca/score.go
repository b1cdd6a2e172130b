package ppca

import (
	"errors"
	"math"
	"sync"

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
	// productError is about what float32 products, and sums of their squares,
	// are off by as a share of ‖x‖·‖y‖. A score whose error may exceed
	// doubtNats is computed again if its class may have a probability above
	// exp(−leaderNats): no probability is off by more than 1e−5.
	productError = 3e-7
	doubtNats    = 2.5e-5
	leaderNats   = 14
	// spanRows is how many components are multiplied at a time: 256 rows of
	// products are 0.5 MiB.
	spanRows = 512
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
	buffers   sync.Pool // of *[]float32, for the products of a span
}

// scored is one class as the scorer sees it.
type scored struct {
	class
	first    int       // its first row in basis
	origin32 []float32 // Lᵀ(μ−c)
	weight32 []float32 // D/(D+λ)
	norm     float64   // ‖μ−c‖
	logDet   float64   // log|Σ| − d·log λ, or 0 without log-determinant
}

func newScorer(mul linalg.Multiplier, cfg Config, dim int, classes []class) *scorer {
	rows := 0
	for _, c := range classes {
		rows += len(c.values)
	}
	s := &scorer{
		mul: mul, normalize: *cfg.Normalize, lambda: cfg.Lambda, centre: meanOfMeans(dim, classes),
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
	k := scored{class: c, first: row, origin32: make([]float32, len(c.values)), weight32: make([]float32, len(c.values))}
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
		k.origin32[r] = float32(dot(k.basis[r*d:(r+1)*d], shift))
		k.weight32[r] = float32(v / (v + s.lambda))
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

// A span is the classes first … last−1, whose components are rows from …
// to−1 of the basis: what one goroutine multiplies and scores at a time, so
// that the products never leave its cache.
type span struct{ first, last, from, to int }

// spans divides the classes; a span ends with the class that fills it.
func (s *scorer) spans() []span {
	var all []span
	var next span
	for i, k := range s.classes {
		next.last, next.to = i+1, k.first+len(k.values)
		if next.to-next.from >= spanRows || i == len(s.classes)-1 {
			all = append(all, next)
			next = span{first: next.last, from: next.to}
		}
	}
	return all
}

// batch scores a few rows: float32 products span by span, then float64 where
// they leave too few digits.
func (s *scorer) batch(x blas32.General) (blas64.General, error) {
	b := pairs{z: s.place(x), crossed: linalg.New32(x.Rows, len(s.classes)), scores: linalg.New64(x.Rows, len(s.classes))}
	b.z32 = s.relative(b.z)
	b.sq = make([]float64, x.Rows)
	for i := range b.sq {
		b.sq[i] = s.squaredDistance(b.z.Data[i*b.z.Stride : (i+1)*b.z.Stride])
	}
	if err := s.mul.MulTrans(b.crossed, b.z32, s.means); err != nil {
		return blas64.General{}, err
	}
	spans := s.spans()
	errs := make([]error, len(spans))
	linalg.Parallel(len(spans), func(i int) { errs[i] = s.scoreSpan(b, spans[i]) })
	if err := errors.Join(errs...); err != nil {
		return blas64.General{}, err
	}
	linalg.Parallel(x.Rows, func(i int) { s.refineLeaders(b, i) })
	return b.scores, nil
}

// pairs is a batch: rows relative to c, their squared length, (μ−c)ᵀ(z−c),
// and the scores.
type pairs struct {
	z       blas64.General
	z32     blas32.General
	sq      []float64
	crossed blas32.General
	scores  blas64.General
}

// squaredDistance is ‖z−c‖².
func (s *scorer) squaredDistance(z []float64) float64 {
	var sq float64
	for j, v := range z {
		sq += (v - s.centre[j]) * (v - s.centre[j])
	}
	return sq
}

// scoreSpan writes −½(r + log|Σ|) of all rows for the classes of a span.
func (s *scorer) scoreSpan(b pairs, sp span) error {
	width := sp.to - sp.from
	d := s.basis.Cols
	buffer, _ := s.buffers.Get().(*[]float32)
	if buffer == nil || cap(*buffer) < b.z.Rows*width {
		buffer = new(make([]float32, b.z.Rows*width))
	}
	defer s.buffers.Put(buffer)
	projected := blas32.General{Rows: b.z.Rows, Cols: width, Stride: max(width, 1), Data: (*buffer)[:b.z.Rows*width]}
	if width > 0 {
		components := blas32.General{Rows: width, Cols: d, Stride: d, Data: s.basis.Data[sp.from*d : sp.to*d]}
		if err := s.mul.Mul32(projected, b.z32, components); err != nil {
			return err
		}
	}
	for i := range b.z.Rows {
		s.scoreRow(b, i, sp, projected.Data[i*width:(i+1)*width])
	}
	return nil
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

// scoreRow scores one row for the classes of a span; projected is Lᵀ(z−c) of
// these.
func (s *scorer) scoreRow(b pairs, i int, sp span, projected []float32) {
	dst := b.scores.Data[i*b.scores.Stride : i*b.scores.Stride+b.scores.Cols]
	crossed := classifier.Row(b.crossed, i)
	for c := sp.first; c < sp.last; c++ {
		k := &s.classes[c]
		r, ok := s.quick(k, b.sq[i], projected[k.first-sp.from:], float64(crossed[c]))
		if !ok {
			r = k.exact(b.z.Data[i*b.z.Stride:(i+1)*b.z.Stride], s.lambda)
		}
		dst[c] = -(r + k.logDet) / 2
	}
}

// quick returns r by Theorem 1 (eq. 2.10) from float32 products, and whether
// enough digits of it are left.
func (s *scorer) quick(k *scored, sq float64, projected []float32, cross float64) (float64, bool) {
	uu := weightedSquares(projected, k.origin32, k.weight32)
	t := sq - 2*cross + k.norm*k.norm - uu
	return t / s.lambda, t > guard*k.terms(sq, uu) && t <= math.MaxFloat64
}

// terms bounds the terms of the difference that t is.
func (k *scored) terms(sq, uu float64) float64 {
	return math.Sqrt(sq) * (k.norm + math.Sqrt(max(uu, 0)))
}

// weightedSquares returns ‖u‖² = Σ w·(p−o)², in four sums that the processor
// can work on at once.
func weightedSquares(p, o, w []float32) float64 {
	n := len(w)
	p, o = p[:n], o[:n]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= n; i += 4 {
		a0, a1, a2, a3 := p[i]-o[i], p[i+1]-o[i+1], p[i+2]-o[i+2], p[i+3]-o[i+3]
		s0 += w[i] * a0 * a0
		s1 += w[i+1] * a1 * a1
		s2 += w[i+2] * a2 * a2
		s3 += w[i+3] * a3 * a3
	}
	for ; i < n; i++ {
		a := p[i] - o[i]
		s0 += w[i] * a * a
	}
	return float64(s0) + float64(s1) + (float64(s2) + float64(s3))
}

// refineLeaders computes again, in float64, the classes that may share in the
// probability of a row, where the float32 products leave r with an error that
// would show in it.
func (s *scorer) refineLeaders(b pairs, i int) {
	dst := b.scores.Data[i*b.scores.Stride : i*b.scores.Stride+b.scores.Cols]
	crossed := classifier.Row(b.crossed, i)
	floor := math.Inf(-1)
	for c := range dst {
		floor = max(floor, dst[c]-s.doubt(c, dst[c], b.sq[i], float64(crossed[c])))
	}
	floor -= leaderNats
	for c, score := range dst {
		doubt := s.doubt(c, score, b.sq[i], float64(crossed[c]))
		if doubt > doubtNats && score+doubt >= floor {
			k := &s.classes[c]
			dst[c] = -(k.exact(b.z.Data[i*b.z.Stride:(i+1)*b.z.Stride], s.lambda) + k.logDet) / 2
		}
	}
}

// doubt bounds the error of a score (nats) that comes from float32 products.
func (s *scorer) doubt(c int, score, sq, cross float64) float64 {
	k := &s.classes[c]
	t := (-2*score - k.logDet) * s.lambda
	uu := sq - 2*cross + k.norm*k.norm - t
	return productError * k.terms(sq, uu) / (2 * s.lambda)
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

// dot has four sums that the processor can work on at once.
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
