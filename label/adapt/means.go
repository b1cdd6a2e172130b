package adapt

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

const (
	// Thin is the largest number of images of a class that is moved. With eight
	// there is nothing to gain, with sixteen much to lose.
	Thin = 4
	// maxImages is the number of images that a model is adapted to, of more a random
	// sample.
	maxImages = 20_000
	// leastPhotos is Σ r² from which a class is moved: fewer photos may all be of
	// an unknown class that looks like it.
	leastPhotos = 4
	steps       = 3
	blockRows   = 256
)

// move moves the classes that have few images, and leaves the kept rows as the adapted model scores
// them, before its temperature.
func (h *Head) move(ctx context.Context, few []bool, kept *label.Kept, f folder) error {
	images, err := sample(kept, f)
	if err != nil {
		return err
	}
	share := make([]float64, len(few)+1) // π, the last that of unknown classes
	for c := range share {
		share[c] = 1 / float64(len(share))
	}
	for range steps {
		sums, err := h.expect(ctx, share, images)
		if err != nil {
			return err
		}
		if err := h.teach(ctx, few, sums); err != nil {
			return err
		}
	}
	if h.Moved == 0 {
		return nil
	}
	adapted, err := kept.As(ctx, model.Untempered{Predictor: h.adapted})
	if err != nil {
		return err
	}
	if err := h.check(ctx, images, adapted); err != nil || h.Undone {
		adapted.Close()
		return err
	}
	kept.Take(adapted)
	return nil
}

// images are different ones among kept rows, in the order of their hashes: all, or those with the
// smallest.
type images struct {
	kept *label.Kept
	rows []int
	x    blas32.General
}

func sample(kept *label.Kept, f folder) (images, error) {
	rows := f.rows[:min(len(f.rows), maxImages)]
	x, err := kept.Embeddings(rows)
	return images{kept, rows, x}, err
}

// blocks calls do with some rows after another: their places among the kept ones, and embeddings.
func (s images) blocks(ctx context.Context, do func(rows []int, x blas32.General) error) error {
	for first := 0; first < len(s.rows); first += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		last := min(first+blockRows, len(s.rows))
		if err := do(s.rows[first:last], dense.Rows32(s.x, first, last)); err != nil {
			return err
		}
	}
	return nil
}

// sums are those of the images of each class.
type sums struct {
	weight []float64      // Σ r²
	rows   blas64.General // Σ r²·x, x of length 1
}

// expect sums up the images by class, and updates the shares of the classes.
func (h *Head) expect(ctx context.Context, share []float64, all images) (sums, error) {
	classes := len(share) - 1
	found, mass := sums{weight: make([]float64, classes)}, make([]float64, len(share))
	err := all.blocks(ctx, func(at []int, x blas32.General) error {
		logProb, novelty, err := h.ask(all.kept, at, x)
		if err != nil {
			return err
		}
		r, rows, err := h.belonging(ctx, share, x, logProb, novelty)
		if err != nil {
			return err
		}
		if found.rows.Data == nil {
			found.rows = dense.New(classes, rows.Cols)
		}
		for i := range r.Rows {
			for c, v := range dense.Row(r, i) {
				mass[c] += v
				if w := v * v; c < classes && w > 1e-6 {
					found.weight[c] += w
					blas64.Axpy(w, dense.Vector(dense.Row(rows, i)), dense.Vector(dense.Row(found.rows, c)))
				}
			}
		}
		return nil
	})
	for c := range share {
		share[c] = (mass[c] + 1) / float64(len(all.rows)+len(share))
	}
	return found, err
}

// ask scores kept rows, whose embeddings are x, with the head of this step. The scores of the trained head
// were kept with the rows.
func (h *Head) ask(kept *label.Kept, rows []int, x blas32.General) (logProb blas64.General, novelty []float64,
	err error) {
	if h.adapted == h.Predictor {
		return kept.Scores(rows)
	}
	logProb, novelty = dense.New(x.Rows, len(h.Classes())), make([]float64, x.Rows)
	return logProb, novelty, model.Untempered{Predictor: h.adapted}.Score(logProb, novelty, x)
}

// belonging returns r (n×(C+1), the last column that of unknown classes) and the head's rows for
// embeddings, scaled to length 1. It tempers logProb.
func (h *Head) belonging(ctx context.Context, share []float64, x blas32.General, logProb blas64.General,
	novelty []float64) (r, rows blas64.General, err error) {
	if rows, err = h.placed(x); err != nil {
		return r, rows, err
	}
	classes := len(share) - 1
	even(h.adapted).Temper(logProb)
	t := 1.0
	if h.Temperature != nil {
		t = h.Temperature.T
	}
	r = dense.New(x.Rows, classes+1)
	for i := range r.Rows {
		row, log := dense.Row(r, i), dense.Row(logProb, i)
		best := floats.Max(log)
		for c, v := range log {
			row[c] = 2*(v-best) + math.Log(share[c])
		}
		row[classes] = 2*novelty[i]/t + math.Log(share[classes])
		classifier.LogSoftmax(row)
		for c := range row {
			row[c] = math.Exp(row[c])
		}
	}
	return r, rows, nil
}

// even returns a Predictor for which all classes are as probable before it sees a photo.
func even(p *model.Predictor) *model.Predictor {
	out := *p
	out.OldShare = 0
	return &out
}

// placed returns the head's rows for embeddings, scaled to length 1.
func (h *Head) placed(x blas32.General) (rows blas64.General, err error) {
	if h.Projection != nil {
		if x, err = h.Projection.Project(x); err != nil {
			return rows, err
		}
	}
	return classifier.Placed(x, dense.Range(0, x.Rows), true), nil
}

// teach replaces the adapted head by the trained one with one more example of each
// class that has few.
func (h *Head) teach(ctx context.Context, few []bool, found sums) error {
	var names []string
	var examples []*moments.Moments
	for c, name := range h.Classes() {
		if !few[c] || found.weight[c] < leastPhotos {
			continue
		}
		mean := blas32.General{Rows: 1, Cols: found.rows.Cols, Stride: found.rows.Cols}
		for _, v := range dense.Row(found.rows, c) {
			mean.Data = append(mean.Data, float32(v/found.weight[c]))
		}
		example := moments.New(mean.Cols)
		if err := example.Add(mean); err != nil {
			return err
		}
		names, examples = append(names, name), append(examples, example)
	}
	head, err := h.Predictor.Head.(gauss.Adaptable).Clone()
	if err != nil {
		return err
	}
	if len(names) > 0 {
		if err := head.(moments.Learner).LearnMoments(ctx, names, examples); err != nil {
			return err
		}
	}
	next := *h.Predictor
	next.Head = head
	h.adapted, h.Moved = &next, len(names)
	return nil
}
