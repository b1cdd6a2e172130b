package adapt

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
)

// A folder has one row of each different photo, and which of them every row is of.
type folder struct{ rows, of []int }

// together is the most photos that are compared with each other. More are divided into parts of equal size,
// each a random sample of the folder, so that memory does not grow.
const together = 50_000

// lean lets the labels of a folder lean on each other. The log-probabilities of kept are tempered, and changed.
func (h *Head) lean(ctx context.Context, perClass float64, kept *label.Kept, f folder, joined *graph) error {
	n := len(f.rows)
	h.Images = n
	if n < leastGraph {
		return nil
	}
	parts := (n + together - 1) / together
	for part := range parts {
		first, last := part*n/parts, (part+1)*n/parts
		g, err := h.leanPart(ctx, perClass, kept, f, first, last)
		if err != nil {
			return err
		}
		if joined != nil {
			*joined = g.after(*joined)
		}
	}
	return nil
}

// leanPart is lean of the different photos from first to last, whose graph it returns.
func (h *Head) leanPart(ctx context.Context, perClass float64, kept *label.Kept, f folder, first, last int) (g graph,
	err error) {
	rows := f.rows[first:last]
	x, mul, err := h.comparable(ctx, kept, rows)
	if err != nil {
		return nil, err
	}
	g, err = newGraph(ctx, mul, x, func(i, j int) bool {
		return kept.Path(rows[i]) == kept.Path(rows[j]) // boxes of one photo
	})
	if err != nil {
		return nil, err
	}
	l, novelty, err := h.leaning(g, kept, rows)
	if err != nil {
		return nil, err
	}
	lambda, t, err := l.settle(ctx, perClass)
	if err != nil {
		return nil, err
	}
	half, err := l.familiar(kept, rows, novelty)
	if err != nil {
		return nil, err
	}
	by := l.tempered(half)
	few, err := l.narrow(ctx, lambda, t)
	if err != nil {
		return nil, err
	}
	if few > 0 {
		// That the other classes are not there makes labels surer, and is the more certain the more the model
		// has seen of each class.
		by *= math.Pow(l.tempered(half)/by, 1/max(1, perClass))
	}
	share := float64(last-first) / float64(len(f.rows))
	h.Strength, h.Few, h.Present = h.Strength+share*lambda, h.Few+share*few, h.Present+share*l.perplexity()
	all := slices.DeleteFunc(dense.Range(0, kept.Len()), func(row int) bool {
		return f.of[row] < first || f.of[row] >= last
	})
	return g, kept.Change(ctx, all, func(row int, logProb blas64.General) {
		l.write(f.of[row]-first, logProb.Data)
		floats.Scale(1/by, logProb.Data)
		classifier.LogSoftmax(logProb.Data)
	})
}

// leaning returns the beliefs that photos begin with, and their novelty.
func (h *Head) leaning(g graph, kept *label.Kept, rows []int) (l *leaning, novelty []float64, err error) {
	classes := h.Classes()
	l = newLeaning(g, len(classes))
	for first := 0; first < len(rows); first += blockRows {
		some := rows[first:min(first+blockRows, len(rows))]
		logProb, novel, err := kept.Scores(some)
		if err != nil {
			return nil, nil, err
		}
		novelty = append(novelty, novel...)
		dense.Parallel(len(some), func(i int) {
			l.set(first+i, dense.Row(logProb, i), slices.Index(classes, kept.Class(some[i])))
		})
	}
	return l, novelty, nil
}

// different finds the different photos, in an order that depends on nothing but them.
func different(kept *label.Kept) (f folder) {
	order := dense.Range(0, kept.Len())
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := kept.Content(a), kept.Content(b)
		return bytes.Compare(x[:], y[:])
	})
	f.of = make([]int, kept.Len())
	for k, row := range order {
		if k == 0 || kept.Content(row) != kept.Content(order[k-1]) {
			f.rows = append(f.rows, row)
		}
		f.of[row] = len(f.rows) - 1
	}
	return f
}

// Familiar photos are those that look most like those learned: which they are, and what the model says of them.
type familiar struct {
	photos  []int
	logProb blas64.General
	labels  []int
	sure    float64 // the mean probability of the labels
}

// familiar returns up to temperRows of the half of the photos that looks most like those learned, without those
// that people decided.
func (l *leaning) familiar(kept *label.Kept, rows []int, novelty []float64) (s familiar, err error) {
	order := dense.Range(0, len(rows))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(novelty[a], novelty[b]) })
	half := order[:(len(order)+1)/2]
	slices.Sort(half) // by content: the first are a random sample
	half = slices.DeleteFunc(half, func(i int) bool { return l.decided[i] >= 0 })
	s.photos = half[:min(len(half), temperRows)]
	at := make([]int, len(s.photos))
	for k, i := range s.photos {
		at[k] = rows[i]
	}
	if s.logProb, _, err = kept.Scores(at); err != nil || len(at) == 0 {
		return s, err
	}
	s.labels = labels(s.logProb)
	s.sure = sureness(s.logProb, s.labels, 1)
	return s, nil
}

// tempered returns T′ ≥ 1, by which log-probabilities have to be divided so that the labels which the model gave
// familiar photos are as probable on average as they were.
func (l *leaning) tempered(s familiar) float64 {
	if len(s.photos) == 0 {
		return 1
	}
	now := dense.Clone(s.logProb)
	for k, i := range s.photos {
		l.write(i, dense.Row(now, k))
	}
	return raised(now, s.labels, s.sure)
}
