package lowrank

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// spanRows is the maximum number of rows of a stack multiplied at a time: the
	// products of blockRows queries are 1.3 MiB. Spans get smaller toward the
	// end, so that no core waits long for another, but not below lastRows.
	spanRows = 1344
	lastRows = spanRows / 4
	// blockRows is the number of queries multiplied at a time.
	blockRows = 256
)

// A Mode selects how a Stack computes. The scores of the modes differ in the
// last bits of the float32 products, or of their sums.
type Mode int

const (
	// Fast is for many queries at a time: the squares of the products are summed
	// in float32.
	Fast Mode = iota
	// Precise is Fast with the squares summed in float64.
	Precise
	// Few is for a handful of queries at a time, which it scores faster than the
	// others; it scores many more slowly. It sums in float64, and multiplies the
	// means apart from the components, which is more accurate in a small stack.
	Few
)

// A Stack holds Gaussians that are scored together. It is immutable.
type Stack struct {
	// rows holds for each Gaussian its components and below them μ − centre; with
	// mode Few, the components of all Gaussians and below them all μ − centre.
	rows  blas32.General
	items []stacked
	mul   linalg.Backend
	mode  Mode
	spans []span
	// The pools hold *[]float32: the products of a span, and the doubts of a
	// call.
	products, doubts sync.Pool
}

// NewStack stacks Gaussians; centre is the origin of its products. Their
// components move into the stack's memory, so that they are stored once; the
// stack keeps a reference to gs.
func NewStack(gs []Gaussian, centre []float64, logDet bool, mode Mode, mul linalg.Backend) *Stack {
	d, n := len(centre), len(gs)
	for i := range gs {
		n += len(gs[i].Values)
	}
	s := &Stack{rows: fresh(n, d), items: make([]stacked, len(gs)), mul: mul, mode: mode}
	row := 0
	for i := range gs {
		g := &gs[i]
		q := len(g.Values)
		basis, mean := dense.Rows32(s.rows, row, row+q).Data, row+q
		if mode == Few {
			mean = n - len(gs) + i
		}
		copy(basis, g.Basis)
		g.Basis = basis
		s.items[i] = stackedOf(g, row, centre, logDet, dense.Row32(s.rows, mean))
		if row += q; mode != Few {
			row++
		}
	}
	if mode != Few {
		s.spans = spansOf(s.items, n)
	}
	return s
}

// A span is the Gaussians first … last−1, stored in rows from … to−1 of the
// stack. One goroutine multiplies and scores a span at a time, so that the
// products stay in its cache.
type span struct{ first, last, from, to int }

// spansOf divides the Gaussians, which have the given total of rows, into
// spans; a span ends with the Gaussian that fills it.
func spansOf(items []stacked, rows int) []span {
	var all []span
	var next span
	for i := range items {
		next.last, next.to = i+1, items[i].first+len(items[i].weight)+1
		full := min(spanRows, max(lastRows, (rows-next.from)/4))
		if next.to-next.from >= full || i == len(items)-1 {
			all = append(all, next)
			next = span{first: next.last, from: next.to}
		}
	}
	return all
}

// Len returns the number of Gaussians.
func (s *Stack) Len() int { return len(s.items) }

// Rows returns the number of rows that each query is multiplied with.
func (s *Stack) Rows() int { return s.rows.Rows }

// Scores returns −½(r + log|Σ| − d·log λ) of the given rows of q for every
// Gaussian (len(rows) × Len), r being the squared Mahalanobis distance. For
// Gaussians with the same λ these are log-densities up to one constant.
func (s *Stack) Scores(q *Queries, rows []int) (blas64.General, error) {
	if s.mode == Few {
		return s.scoresOfFew(q, rows)
	}
	scores, z32 := dense.New(len(rows), len(s.items)), q.z32
	if len(rows) != z32.Rows { // all rows need no copy
		z32 = dense.Gather32(z32, rows)
	}
	buffer := dense.Borrowed[float32](&s.doubts, len(scores.Data))
	defer s.doubts.Put(buffer)
	doubts := blas32.General{Rows: scores.Rows, Cols: scores.Cols, Stride: scores.Stride, Data: *buffer}
	blocks := (len(rows) + blockRows - 1) / blockRows
	err := dense.ParallelErr(blocks*len(s.spans), func(task int) error {
		first := task / len(s.spans) * blockRows
		last := min(first+blockRows, len(rows))
		return s.scoreSpan(s.spans[task%len(s.spans)], q, rows[first:last], dense.Rows32(z32, first, last),
			dense.Rows(scores, first, last), dense.Rows32(doubts, first, last))
	})
	if err != nil {
		return scores, err
	}
	dense.Parallel(len(rows), func(i int) { s.refine(dense.Row(scores, i), dense.Row32(doubts, i), q.row(rows[i])) })
	return scores, nil
}

// scoreSpan scores the given rows, whose float32 copies are z32, against the
// Gaussians of a span.
func (s *Stack) scoreSpan(sp span, q *Queries, rows []int, z32 blas32.General, scores blas64.General,
	doubts blas32.General) error {
	width := sp.to - sp.from
	buffer := dense.Borrowed[float32](&s.products, len(rows)*width)
	defer s.products.Put(buffer)
	products := blas32.General{Rows: len(rows), Cols: width, Stride: width, Data: *buffer}
	if err := s.mul.Mul32(products, z32, dense.Rows32(s.rows, sp.from, sp.to)); err != nil {
		return err
	}
	for i, row := range rows {
		p, z, length := dense.Row32(products, i), q.row(row), q.length[row]
		dst, doubt := dense.Row(scores, i), dense.Row32(doubts, i)
		for c := sp.first; c < sp.last; c++ {
			k := &s.items[c]
			n := len(k.weight)
			var uu float64
			if s.mode == Precise {
				uu = weightedSquares(p[:n], k.origin, k.weight)
			} else {
				uu = weightedSquares(p[:n], k.origin32, k.weight32)
			}
			t, terms := k.distance(length, uu, float64(p[n]))
			if p = p[n+1:]; sure(t, terms) {
				dst[c], doubt[c] = k.score(t, terms)
			} else {
				dst[c], doubt[c] = k.exactScore(z), 0
			}
		}
	}
	return nil
}

// refine recomputes in float64 the Gaussians that may contribute to the
// probability of a row and whose float32 error would affect it.
func (s *Stack) refine(scores []float64, doubts []float32, z []float64) {
	floor := math.Inf(-1)
	for c, doubt := range doubts {
		floor = max(floor, scores[c]-float64(doubt))
	}
	floor -= leaderNats
	for c, doubt := range doubts {
		if doubt > doubtNats && scores[c]+float64(doubt) >= floor {
			scores[c] = s.items[c].exactScore(z)
		}
	}
}
