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
	"github.com/seed-90d10d51/pipeline/linalg"
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
	columns    [][]float32
	photos     []summary
	t          float64
	normalised bool
	phi        rows // features; nil unless the head is linear
}

// A summary is what the scores of a photo amount to.
type summary struct {
	novelty float32
	// unseen is the score of a class that has not been seen, of a linear head.
	unseen float32
	// first is the most probable class; prob is its probability, and runner that of the next.
	first        uint16
	prob, runner float32
	// next is the second largest score, and sum that over all classes of how probable each
	// is relative to the first.
	next float32
	sum  float64
}

func newScores(l *live) *scores {
	s := &scores{classes: slices.Clone(l.Classes()), t: l.temperature(), normalised: l.linear == nil}
	if s.normalised {
		s.t = 1 // Score has applied it
	}
	s.columns = make([][]float32, len(s.classes))
	return s
}

func (s *scores) len() int { return len(s.photos) }

// resize makes room for n photos.
func (s *scores) resize(n int) {
	for c := range s.columns {
		s.columns[c] = append(s.columns[c], make([]float32, n-len(s.columns[c]))...)
	}
	s.photos = append(s.photos, make([]summary, n-s.len())...)
}

// arrange gives the classes the columns that the live model has; in columns of new
// classes every score is -Inf. It reports whether the columns that there were stay
// where they are.
func (s *scores) arrange(classes []string) (stay bool) {
	old := make(map[string][]float32, len(s.classes))
	for c, name := range s.classes {
		old[name] = s.columns[c]
	}
	stay = len(classes) >= len(s.classes) && slices.Equal(classes[:len(s.classes)], s.classes)
	s.classes, s.columns = slices.Clone(classes), make([][]float32, len(classes))
	for c, name := range classes {
		if s.columns[c] = old[name]; s.columns[c] == nil {
			s.columns[c] = slices.Repeat([]float32{float32(math.Inf(-1))}, s.len())
		}
	}
	return stay
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

// features appends the features of rows first to last-1 of x to s.phi, and scores a
// class that has not been seen.
func (s *scores) features(ctx context.Context, l *live, x rows, first, last int) error {
	if l.linear == nil || first == last {
		return nil
	}
	w, b, err := l.linear.Unseen()
	if err != nil {
		return err
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
		for i := range phi.Rows {
			s.photos[first+i].unseen = float32(b + dense.Dot(w, dense.Row(phi, i)))
		}
		return s.phi.Write(first, dense.Narrowed(phi.Data))
	})
}

// score scores rows first to last-1 for the classes in the given columns and brings
// the summary of the rows up to date; with all it recomputes every summary. A head that is
// not linear scores all classes.
func (s *scores) score(ctx context.Context, l *live, x rows, first, last int, columns []int, all bool) error {
	if l.linear == nil {
		return s.scoreAll(ctx, l, x, first, last)
	}
	w, b, err := l.linear.Weights(columns)
	if err != nil {
		return err
	}
	buffers := sync.Pool{}
	return blocks(ctx, first, last, func(first, last int) error {
		values := dense.Borrowed[float32](&buffers, (last-first)*s.phi.Cols())
		defer buffers.Put(values)
		phi, err := s.phi.read(first, last, *values)
		if err != nil {
			return err
		}
		out := products(phi, w)
		for i := range phi.Rows {
			current := !all
			for k, c := range columns {
				at := &s.columns[c][first+i]
				was, is := *at, float32(out.Data[i*out.Stride+k]+b[k])
				*at = is
				current = current && s.replace(first+i, c, was, is)
			}
			if !current {
				s.summarise(first + i)
			}
		}
		return nil
	})
}

// replace brings the summary of row i up to date after the score of class c changed.
// It returns false if that takes the scores of all classes.
func (s *scores) replace(i, c int, was, is float32) bool {
	p := &s.photos[i]
	best := s.columns[p.first][i]
	if c == int(p.first) || is >= best || was == p.next && is < was {
		return false
	}
	p.sum += s.relative(is, best) - s.relative(was, best)
	p.next = max(p.next, is)
	p.prob, p.runner = float32(1/p.sum), float32(s.relative(p.next, best)/p.sum)
	return true
}

// relative returns how probable a class is relative to the first one.
func (s *scores) relative(score, best float32) float64 {
	if v := (float64(score) - float64(best)) / s.t; v > -negligible {
		return math.Exp(v)
	}
	return 0
}

// products returns φ·wᵀ.
func products(phi blas32.General, w blas64.General) blas64.General {
	out := dense.New(phi.Rows, w.Rows)
	if w.Rows <= few {
		for k := range w.Rows {
			row := vector(dense.Narrowed(dense.Row(w, k)))
			for i := range phi.Rows {
				out.Data[i*out.Stride+k] = blas32.DDot(vector(dense.Row32(phi, i)), row)
			}
		}
		return out
	}
	wide := blas64.General{Rows: phi.Rows, Cols: phi.Cols, Stride: phi.Cols, Data: make([]float64, len(phi.Data))}
	dense.Widen(wide.Data, phi.Data)
	linalg.MulTrans64(out, wide, w)
	return out
}

func (s *scores) scoreAll(ctx context.Context, l *live, x rows, first, last int) error {
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
			s.photos[at+i].novelty = float32(novelty[i])
			for c, v := range dense.Row(logProb, i) {
				s.columns[c][at+i] = float32(v)
			}
			s.summarise(at + i)
		}
	}
	return nil
}

// summarise makes the summary of row i from its scores.
func (s *scores) summarise(i int) {
	best, next, at := float32(math.Inf(-1)), float32(math.Inf(-1)), 0
	for c, column := range s.columns {
		switch v := column[i]; {
		case v > best:
			best, next, at = v, best, c
		case v > next:
			next = v
		}
	}
	var sum float64
	for _, column := range s.columns {
		sum += s.relative(column[i], best)
	}
	p := &s.photos[i]
	p.first, p.next, p.sum = uint16(at), next, sum
	p.prob, p.runner = float32(1/sum), float32(s.relative(next, best)/sum)
	if !s.normalised {
		p.novelty = p.unseen - best
	}
}

// logProb returns the log-probabilities of all classes for row i.
func (s *scores) logProb(i int) []float64 {
	out := make([]float64, len(s.columns))
	for c, column := range s.columns {
		out[c] = float64(column[i]) / s.t
	}
	classifier.LogSoftmax(out)
	return out
}

// ranked returns the k most probable classes of row i.
func (s *scores) ranked(i, k int) []classifier.Ranked {
	return classifier.FromLogProb(s.classes, s.logProb(i), k).TopK
}
