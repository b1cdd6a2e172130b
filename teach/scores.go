package teach

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// block is the number of rows that are read and scored at a time.
const block = 256

// few is the number of classes up to which one row after another is faster than a
// product.
const few = 4

// negligible is how many nats a class lies below the first one not to count: e⁻²⁵ is
// 10⁻¹¹.
const negligible = 25

// scores are those of n photos for the classes of a live model.
type scores struct {
	classes []string
	// columns has n scores of each class: those of classifier.Linear, or
	// log-probabilities.
	columns [][]float32
	novelty []float32
	// Of each photo the most probable class, its probability and that of the next.
	first        []uint16
	prob, runner []float32
	t            float64
	normalised   bool
	phi          *rows // features; nil unless the head is linear
}

func newScores(l *live) *scores {
	s := &scores{classes: slices.Clone(l.Classes()), t: l.temperature(), normalised: l.linear == nil}
	if s.normalised {
		s.t = 1 // Score has applied it
	}
	s.columns = make([][]float32, len(s.classes))
	return s
}

func (s *scores) len() int { return len(s.novelty) }

// resize makes room for n photos.
func (s *scores) resize(n int) {
	more := n - s.len()
	for c := range s.columns {
		s.columns[c] = append(s.columns[c], make([]float32, n-len(s.columns[c]))...)
	}
	s.novelty, s.prob, s.runner = append(s.novelty, make([]float32, more)...), append(s.prob, make([]float32, more)...), append(s.runner, make([]float32, more)...)
	s.first = append(s.first, make([]uint16, more)...)
}

// arrange gives the classes the columns that the live model has; columns of new
// classes are empty until they are scored.
func (s *scores) arrange(classes []string) {
	old := make(map[string][]float32, len(s.classes))
	for c, name := range s.classes {
		old[name] = s.columns[c]
	}
	s.classes, s.columns = slices.Clone(classes), make([][]float32, len(classes))
	for c, name := range classes {
		if s.columns[c] = old[name]; s.columns[c] == nil {
			s.columns[c] = make([]float32, s.len())
		}
	}
}

// blocks calls do for blocks of the rows first to last-1, in parallel.
func blocks(ctx context.Context, first, last int, do func(first, last int) error) error {
	n := (last - first + block - 1) / block
	return dense.ParallelErr(n, func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := first + i*block
		return do(at, min(at+block, last))
	})
}

// features appends the features of rows first to last-1 of x to s.phi.
func (s *scores) features(ctx context.Context, l *live, x *rows, first, last int) error {
	if l.linear == nil || first == last {
		return nil
	}
	return blocks(ctx, first, last, func(first, last int) error {
		raw, err := x.read(first, last, nil)
		if err != nil {
			return err
		}
		phi, err := l.Predictor.Features(raw)
		if err != nil {
			return err
		}
		return s.phi.write(first, dense.Narrowed(phi.Data))
	})
}

// score scores rows first to last-1 for the classes in the given columns; a head
// that is not linear scores all.
func (s *scores) score(ctx context.Context, l *live, x *rows, first, last int, columns []int) error {
	if l.linear == nil {
		return s.scoreAll(ctx, l, x, first, last)
	}
	w, b, err := l.linear.Weights(columns)
	if err != nil {
		return err
	}
	buffers := sync.Pool{}
	return blocks(ctx, first, last, func(first, last int) error {
		values := dense.Borrowed[float32](&buffers, (last-first)*s.phi.cols)
		defer buffers.Put(values)
		phi, err := s.phi.read(first, last, *values)
		if err != nil {
			return err
		}
		out, err := products(phi, w)
		if err != nil {
			return err
		}
		for k, c := range columns {
			for i := range phi.Rows {
				s.columns[c][first+i] = float32(out.Data[i*out.Stride+k] + b[k])
			}
		}
		return nil
	})
}

// products returns φ·wᵀ.
func products(phi blas32.General, w blas64.General) (blas64.General, error) {
	out := dense.New(phi.Rows, w.Rows)
	if w.Rows <= few {
		for i := range phi.Rows {
			for k := range w.Rows {
				out.Data[i*out.Stride+k] = mixedDot(dense.Row32(phi, i), dense.Row(w, k))
			}
		}
		return out, nil
	}
	wide := blas64.General{Rows: phi.Rows, Cols: phi.Cols, Stride: phi.Cols, Data: make([]float64, len(phi.Data))}
	dense.Widen(wide.Data, phi.Data)
	return out, linalg.Default().MulTrans64(out, wide, w)
}

// mixedDot returns the product of a float32 and a float64 vector, summed in float64.
func mixedDot(x []float32, w []float64) float64 {
	var a, b, c, d float64 // sums that do not wait for each other
	w = w[:len(x)]
	for len(x) >= 4 {
		a += float64(x[0]) * w[0]
		b += float64(x[1]) * w[1]
		c += float64(x[2]) * w[2]
		d += float64(x[3]) * w[3]
		x, w = x[4:], w[4:]
	}
	for i, v := range x {
		a += float64(v) * w[i]
	}
	return a + b + (c + d)
}

func (s *scores) scoreAll(ctx context.Context, l *live, x *rows, first, last int) error {
	for at := first; at < last; at += block { // the head computes in parallel
		if err := ctx.Err(); err != nil {
			return err
		}
		raw, err := x.read(at, min(at+block, last), nil)
		if err != nil {
			return err
		}
		logProb, novelty := dense.New(raw.Rows, len(s.classes)), make([]float64, raw.Rows)
		if err := l.Predictor.Score(logProb, novelty, raw); err != nil {
			return err
		}
		for i := range raw.Rows {
			s.novelty[at+i] = float32(novelty[i])
			for c, v := range dense.Row(logProb, i) {
				s.columns[c][at+i] = float32(v)
			}
		}
	}
	return nil
}

// summarise brings first, prob, runner and novelty of rows first to last-1 up to
// date.
func (s *scores) summarise(first, last int) {
	_ = blocks(context.Background(), first, last, func(first, last int) error {
		for i := first; i < last; i++ {
			best, next, at := math.Inf(-1), math.Inf(-1), 0
			for c, column := range s.columns {
				switch v := float64(column[i]); {
				case v > best:
					best, next, at = v, best, c
				case v > next:
					next = v
				}
			}
			var sum float64
			for _, column := range s.columns {
				if v := (float64(column[i]) - best) / s.t; v > -negligible {
					sum += math.Exp(v)
				}
			}
			s.first[i], s.prob[i] = uint16(at), float32(1/sum)
			s.runner[i] = float32(math.Exp((next-best)/s.t) / sum)
			if !s.normalised {
				s.novelty[i] = float32(-best)
			}
		}
		return nil
	})
}

// probabilities returns those of all classes for row i.
func (s *scores) probabilities(i int) []float64 {
	out := make([]float64, len(s.columns))
	for c, column := range s.columns {
		out[c] = float64(column[i]) / s.t
	}
	classifier.LogSoftmax(out)
	for c := range out {
		out[c] = math.Exp(out[c])
	}
	return out
}

// ranked returns the k most probable classes of row i.
func (s *scores) ranked(i, k int) []classifier.Ranked {
	logProb := make([]float64, len(s.columns))
	for c, column := range s.columns {
		logProb[c] = float64(column[i]) / s.t
	}
	classifier.LogSoftmax(logProb)
	return classifier.FromLogProb(s.classes, logProb, k).TopK
}
