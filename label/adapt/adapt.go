// Package adapt moves the class means of a model that has seen few images of each
// class towards the unlabelled images that it is to label.
//
// A few steps of expectation maximisation: with p(c|x) and T of the model, the
// share π_c of the photos that show class c, and log p(x|0) the log-density of an
// image of a class that the model has never seen (its prior for class means),
//
//	r_c(x) ∝ π_c·p(c|x)²        r_0(x) ∝ π_0·p(x|0)^(2/T), on the same scale
//	π_c    = (Σ_x r_c + 1)/(Σ_c Σ_x r_c + C + 1)
//	x̄_c    = Σ_x r_c(x)²·x / Σ_x r_c(x)²
//
// A class is then the one that was trained with one more example, x̄_c. What keeps
// this from harm: only classes of at most Thin images are moved, and only by one
// example, however many photos there are; photos of unknown classes belong to class
// 0; and r² leaves out classes that the folder does not have, which collect only
// doubtful photos, since a class is moved only if Σ r_c² is at least leastPhotos. The
// squares, leastPhotos and the number of steps were chosen on folders of CLIP
// embeddings (docs/results/labelling.md compares).
//
// Adapting is undone if it makes photos of the same name less alike: classes that
// were moved have then taken photos of others. With x̄_{−i} the mean of the other
// photos that have the name of photo i, Σ x_i·x̄_{−i} must not fall, where the x are
// centred at the mean of the folder.
//
// The photos that moved a class agree with it because they moved it. T is therefore
// raised until the adapted model is on average no surer of the folder than the
// trained one.
package adapt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/dense"
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

// ErrCannot means that the classifier's class means cannot be adapted.
var ErrCannot = errors.New("only plda can be adapted: train the model with --classifier plda")

// A Head scores like a model whose class means were adapted. Novelty is that of
// the model, so that thresholds keep their meaning.
type Head struct {
	*model.Predictor
	adapted *model.Predictor
	// Moved counts the classes that were moved, Few those that had few enough
	// images for it, Images the different images that they were adapted to.
	Moved, Few, Images int
	// Undone reports that photos of the same name would have been less alike.
	Undone bool
}

// Score implements classifier.Head.
func (h *Head) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if novelty != nil {
		if err := h.Predictor.Score(dst, novelty, x); err != nil {
			return err
		}
	}
	return h.adapted.Score(dst, nil, x)
}

// Note says in a sentence what was done.
func (h *Head) Note() string {
	if h.Few == 0 {
		return fmt.Sprintf("not adapted: every class has more than %d images", Thin)
	}
	if h.Undone {
		return fmt.Sprintf("not adapted to %d different images: those of the same label would be less alike than "+
			"without", h.Images)
	}
	return fmt.Sprintf("adapted to %d different images: moved %d of the %d classes of at most %d images", h.Images,
		h.Moved, h.Few, Thin)
}

// Fit adapts a model to the rows, in any order; it reads all of them once. The
// error wraps ErrCannot if its method is not plda. Cost: six scorings of every
// row, up to maxImages, which are held in memory.
func Fit(ctx context.Context, m *model.Model, rows embed.Rows) (*Head, error) {
	p := m.Predictor
	if head, ok := p.Head.(gauss.Adaptable); !ok || head.Space() == nil || !head.Adaptable() {
		return nil, fmt.Errorf("adapt %s: %w", m.Method, ErrCannot)
	}
	out := &Head{Predictor: p, adapted: p}
	few := make([]bool, len(m.Classes()))
	for c, class := range m.ClassSizes() {
		if few[c] = class.Samples <= Thin; few[c] {
			out.Few++
		}
	}
	if out.Few == 0 {
		return out, nil
	}
	x, err := collect(ctx, rows, p.Dim())
	if err != nil {
		return nil, err
	}
	out.Images = x.Rows
	share := make([]float64, len(few)+1) // π, the last that of unknown classes
	for c := range share {
		share[c] = 1 / float64(len(share))
	}
	for range steps {
		sums, err := out.expect(ctx, share, x)
		if err != nil {
			return nil, err
		}
		if err := out.teach(ctx, few, sums); err != nil {
			return nil, err
		}
	}
	if out.Moved == 0 {
		return out, nil
	}
	return out, out.check(ctx, x)
}

// collect returns different images as rows, in the order of their hashes: all, or
// those with the smallest.
func collect(ctx context.Context, rows embed.Rows, d int) (blas32.General, error) {
	type image struct {
		hash   [sha256.Size]byte
		vector []float32
	}
	var images []image
	cut := func() {
		slices.SortFunc(images, func(a, b image) int { return bytes.Compare(a.hash[:], b.hash[:]) })
		images = slices.CompactFunc(images, func(a, b image) bool { return a.hash == b.hash })
		clear(images[min(len(images), maxImages):]) // frees the vectors
		images = images[:min(len(images), maxImages)]
	}
	_, err := rows.Each(ctx, func(item embed.Item) error {
		if item.Err != nil {
			return nil // the pass that labels reports it
		}
		if len(item.Vector) != d {
			return fmt.Errorf("adapt to %s: its embedding has %d dimensions, the model %d", item.Sample.Path,
				len(item.Vector), d)
		}
		if images = append(images, image{item.Hash, item.Vector}); len(images) >= 2*maxImages {
			cut()
		}
		return nil
	})
	cut()
	x := blas32.General{Rows: len(images), Cols: d, Stride: d}
	for _, v := range images {
		x.Data = append(x.Data, v.vector...)
	}
	return x, err
}

// sums are those of the images of each class.
type sums struct {
	weight []float64      // Σ r²
	rows   blas64.General // Σ r²·x, x of length 1
}

// expect sums up the images by class, and updates the shares of the classes.
func (h *Head) expect(ctx context.Context, share []float64, x blas32.General) (sums, error) {
	classes := len(share) - 1
	found, mass := sums{weight: make([]float64, classes)}, make([]float64, len(share))
	for first := 0; first < x.Rows; first += blockRows {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		block := dense.Rows32(x, first, min(first+blockRows, x.Rows))
		r, rows, err := h.belonging(ctx, share, block)
		if err != nil {
			return found, err
		}
		if first == 0 {
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
	}
	for c := range share {
		share[c] = (mass[c] + 1) / float64(x.Rows+len(share))
	}
	return found, nil
}

// belonging returns r (n×(C+1), the last column that of unknown classes) and the
// head's rows for embeddings, scaled to length 1.
func (h *Head) belonging(ctx context.Context, share []float64, x blas32.General) (r, rows blas64.General, err error) {
	if rows, err = h.placed(x); err != nil {
		return r, rows, err
	}
	unknown, err := h.unknown(ctx, x)
	if err != nil {
		return r, rows, err
	}
	classes := len(share) - 1
	logProb, novelty := dense.New(x.Rows, classes), make([]float64, x.Rows)
	even := *h.adapted
	even.OldShare = 0 // share has the proportions of the classes
	if err := even.Score(logProb, novelty, x); err != nil {
		return r, rows, err
	}
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
		row[classes] = 2*(unknown[i]+novelty[i])/t + math.Log(share[classes])
		classifier.LogSoftmax(row)
		for c := range row {
			row[c] = math.Exp(row[c])
		}
	}
	return r, rows, nil
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

// unknown returns what makes log p(x|0) − max log p(x|c) of the novelty: nothing, unless
// the novelty is the negative largest log-density, as in models of version 0.1.
func (h *Head) unknown(ctx context.Context, x blas32.General) ([]float64, error) {
	w, _, err := h.Predictor.Head.(classifier.Linear).Unseen()
	if err != nil || w != nil {
		return make([]float64, x.Rows), err
	}
	space, white, err := h.Compare(ctx, x)
	if err != nil {
		return nil, err
	}
	density, err := space.Densities([]gauss.Class{{Mean: make([]float64, space.Dim()), Noise: 1}})
	if err != nil {
		return nil, err
	}
	out, err := space.Stack(density).LogDensities(white)
	return out.Data, err
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
