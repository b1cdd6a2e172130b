package ppca

import (
	"errors"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

const (
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
	// spanRows is how many rows of the stack are multiplied at a time, at most:
	// 256 rows of products are 1.3 MiB. Spans get smaller towards the end, so
	// that no core waits long for another, but not below lastRows.
	spanRows = 1344
	lastRows = spanRows / 4
)

// A scorer holds what scoring needs of all classes, stacked for one product a
// batch. It is immutable.
type scorer struct {
	mul       linalg.Backend
	normalize bool
	lambda    float64
	precision float64   // 1/λ
	centre    []float64 // c, the mean of the class means
	// stack is, class by class, its components and below them μ − c.
	stack   blas32.General
	classes []scored
	spans   []span
	buffers sync.Pool // of *[]float32, for the products of a span
	batches sync.Pool // of *pairs
}

// scored is one class as the scorer sees it.
type scored struct {
	class
	first    int       // its first row in the stack
	origin32 []float32 // Lᵀ(μ−c)
	weight32 []float32 // D/(D+λ)
	norm     float64   // ‖μ−c‖
	logDet   float64   // log|Σ| − d·log λ, or 0 without log-determinant
}

func newScorer(mul linalg.Backend, cfg Config, dim int, classes []class) *scorer {
	rows := len(classes)
	for _, c := range classes {
		rows += len(c.values)
	}
	s := &scorer{
		mul: mul, normalize: *cfg.Normalize, lambda: cfg.Lambda, precision: 1 / cfg.Lambda, centre: meanOfMeans(dim, classes),
		stack: dense.New32(rows, dim), classes: make([]scored, len(classes)),
	}
	row := 0
	for i, c := range classes {
		s.put(i, row, c, *cfg.LogDet)
		row += len(c.values) + 1
	}
	s.spans = spansOf(s.classes, rows)
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

// put stacks class i from the given row on.
func (s *scorer) put(i, row int, c class, logDet bool) {
	d, q := len(c.mean), len(c.values)
	k := scored{class: c, first: row, origin32: make([]float32, q), weight32: make([]float32, q)}
	k.basis = s.stack.Data[row*d : (row+q)*d : (row+q)*d]
	copy(k.basis, c.basis)
	shift := make([]float64, d)
	below := dense.Row32(s.stack, row+q)
	for j, v := range c.mean {
		shift[j] = v - s.centre[j]
		below[j] = float32(shift[j])
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

// A span is the classes first … last−1, which are rows from … to−1 of the
// stack: what one goroutine multiplies and scores at a time, so that the
// products never leave its cache.
type span struct{ first, last, from, to int }

// spansOf divides the classes, which are so many rows; a span ends with the
// class that fills it.
func spansOf(classes []scored, rows int) []span {
	var all []span
	var next span
	for i, k := range classes {
		next.last, next.to = i+1, k.first+len(k.values)+1
		full := min(spanRows, max(lastRows, (rows-next.from)/4))
		if next.to-next.from >= full || i == len(classes)-1 {
			all = append(all, next)
			next = span{first: next.last, from: next.to}
		}
	}
	return all
}

// batch scores a few rows: float32 products span by span, then float64 where
// they leave too few digits.
func (s *scorer) batch(x blas32.General) (blas64.General, error) {
	b := s.pairs(x)
	defer s.batches.Put(b)
	errs := make([]error, len(s.spans))
	dense.Parallel(len(s.spans), func(i int) { errs[i] = s.scoreSpan(b, s.spans[i]) })
	if err := errors.Join(errs...); err != nil {
		return blas64.General{}, err
	}
	dense.Parallel(x.Rows, func(i int) { s.refineLeaders(b, i) })
	return b.scores, nil
}

// pairs is a batch: its rows z, relative to c in float32, ‖z−c‖, and by class
// the scores and what those may be off by (nats).
type pairs struct {
	z      blas64.General
	z32    blas32.General
	length []float64
	scores blas64.General
	doubts blas32.General
}

// pairs makes rows of x ready to be scored.
func (s *scorer) pairs(x blas32.General) *pairs {
	b, _ := s.batches.Get().(*pairs)
	if b == nil || b.z.Rows != x.Rows {
		b = &pairs{
			z: dense.New(x.Rows, x.Cols), z32: dense.New32(x.Rows, x.Cols),
			length: make([]float64, x.Rows), doubts: dense.New32(x.Rows, len(s.classes)),
		}
	}
	b.scores = dense.New(x.Rows, len(s.classes)) // the caller's
	dense.Parallel(x.Rows, func(i int) {
		s.place(dense.Row(b.z, i), dense.Row32(x, i))
		b.length[i] = s.relative(dense.Row32(b.z32, i), dense.Row(b.z, i))
	})
	return b
}

// scoreSpan writes −½(r + log|Σ|) of all rows for the classes of a span.
func (s *scorer) scoreSpan(b *pairs, sp span) error {
	width, n := sp.to-sp.from, b.z.Rows
	buffer, _ := s.buffers.Get().(*[]float32)
	if buffer == nil || cap(*buffer) < n*width {
		buffer = new(make([]float32, n*width))
	}
	defer s.buffers.Put(buffer)
	products := blas32.General{Rows: n, Cols: width, Stride: width, Data: (*buffer)[:n*width]}
	if err := s.mul.Mul32(products, b.z32, dense.Rows32(s.stack, sp.from, sp.to)); err != nil {
		return err
	}
	for i := range n {
		s.scoreRow(b, i, sp, dense.Row32(products, i))
	}
	return nil
}

// place writes x in float64, of length 1 if so configured. It rounds to
// float32 in between, as learning does.
func (s *scorer) place(z []float64, x []float32) {
	classifier.Place(z, x, s.normalize)
	for j, v := range z {
		z[j] = float64(float32(v))
	}
}

// relative writes z − c in float32 and returns its length.
func (s *scorer) relative(dst []float32, z []float64) float64 {
	var sq float64
	for j, c := range s.centre {
		v := z[j] - c
		dst[j] = float32(v)
		sq += v * v
	}
	return math.Sqrt(sq)
}

// scoreRow scores one row for the classes of a span; products are those of
// z − c with the rows of the span.
func (s *scorer) scoreRow(b *pairs, i int, sp span, products []float32) {
	scores, doubts := dense.Row(b.scores, i), dense.Row32(b.doubts, i)
	length := b.length[i]
	sq := length * length
	for c := sp.first; c < sp.last; c++ {
		k := &s.classes[c]
		q := len(k.weight32)
		p := products[:q+1]
		products = products[q+1:]
		uu := weightedSquares(p[:q], k.origin32, k.weight32)
		t := sq - 2*float64(p[q]) + k.norm*k.norm - uu
		terms := length * (k.norm + math.Sqrt(uu))
		if t > guard*terms && t <= math.MaxFloat64 {
			scores[c] = -(t*s.precision + k.logDet) / 2
			doubts[c] = float32(productError / 2 * terms * s.precision)
			continue
		}
		scores[c], doubts[c] = -(k.exact(dense.Row(b.z, i), s.lambda)+k.logDet)/2, 0
	}
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
func (s *scorer) refineLeaders(b *pairs, i int) {
	scores, doubts := dense.Row(b.scores, i), dense.Row32(b.doubts, i)
	floor := math.Inf(-1)
	for c, doubt := range doubts {
		floor = max(floor, scores[c]-float64(doubt))
	}
	floor -= leaderNats
	for c, doubt := range doubts {
		if doubt > doubtNats && scores[c]+float64(doubt) >= floor {
			k := &s.classes[c]
			scores[c] = -(k.exact(dense.Row(b.z, i), s.lambda) + k.logDet) / 2
		}
	}
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
