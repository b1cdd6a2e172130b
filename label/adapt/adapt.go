// Package adapt labels a folder of photos as a whole: what is known of one photo counts for those like it, and
// a model that has seen one image of each class learns from the photos that it is to label.
//
// # Labels that lean on each other
//
// With b the calibrated log-probabilities of a photo and a its neighbours in the folder (package-private graph:
// the 10 nearest by the cosine of z∘√(β/(1+2β)), z the row in the whitened space of the head, or of the images
// that the model keeps; weights are the positive cosines, made symmetric and normalised), the posterior minimises
//
//	Σᵢ KL(pᵢ ‖ softmax bᵢ) − λ/2 (Σᵢⱼ aᵢⱼ pᵢ·pⱼ − n·|p̄|²),  p̄ = Σᵢ pᵢ/n
//
// by ten updates p = softmax(b + λ·(a·p − p̄)) of all photos at once (after Ziko et al., Laplacian Regularized
// Few-Shot Learning, ICML 2020, who have no p̄: without it neighbours that are so by chance favour the classes of
// many photos). λ = t·min(2, 1.5+1.5/n̄), n̄ the images per class that the model has learned; t grows from 0
// to 1 with the photos per class in the folder, since with one of each all neighbours are of other classes. What a
// person decided stays, and leads.
//
// If the folder shows few of the classes, by the perplexity of its labels, the others become less probable:
// ½·h·log(π+0.05) is added, π the mean of the three largest p of the class, and the updates are made again with
// λ(1+h) and without p̄, since how usual a class is then says that it is there.
//
// In the end log-probabilities are divided by the T′ ≥ 1 with which the half of the photos that looks most like
// those learned is as sure of its labels as the model was. Novelty, and with it what is called unknown, stays.
//
// # Means that move
//
// If the model has seen less than 1.5 images of each class, its class means move first
// towards the photos of the folder.
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
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// mostMoved is the number of images per class of a model below which its class means are moved.
const mostMoved = 1.5

// A Head scores like a model whose class means were adapted. Novelty is that of
// the model, so that thresholds keep their meaning.
type Head struct {
	*model.Predictor
	adapted *model.Predictor
	// Images counts the different images of the folder.
	Images int
	// Moved counts the classes that were moved.
	Moved int
	// Undone reports that classes stay where they were, since photos of the same name would have been less
	// alike.
	Undone bool
	// Strength is λ, how much a photo leans on those like it, and Few how certainly the folder shows few of the
	// classes, from 0 to 1.
	Strength, Few float64
	// Present is the number of classes that the folder shows, as the perplexity of its labels.
	Present float64
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

// Adapted says what was done, nil for nothing.
func (h *Head) Adapted() *label.Adapted {
	if h.Images < leastGraph {
		return nil
	}
	return &label.Adapted{By: "graph", Photos: h.Images, Neighbours: near, Present: int(math.Round(h.Present))}
}

// Note says in a sentence what was done.
func (h *Head) Note() string {
	if h.Images < leastGraph {
		return fmt.Sprintf("%d different images are too few to compare with each other", h.Images)
	}
	did := []string{fmt.Sprintf("compared %d different images with each other", h.Images)}
	if h.Few > 0 {
		did = append(did, "the folder shows few of the classes")
	}
	if h.Moved > 0 {
		did = append(did, fmt.Sprintf("moved %d classes towards them", h.Moved))
	}
	return strings.Join(did, "; ")
}

// Fit adapts a model to rows, in any order. It returns the rows too, kept in temporary files of a folder, with
// what a scorer but for its head knows of them and what all of them tell of each: each is embedded once, and
// each head, the trained one and those on the way to the adapted one, asked once about it. Cost: that of
// neighbours.Find, and O(n·(10·32+C)) for each round. Memory: that of label.Kept, and 4r+400 bytes per different
// image of up to 50 000, r the dimension in which they are compared.
func Fit(ctx context.Context, m *model.Model, by label.Scorer, rows embedding.Rows, dir string) (*Head, *label.Kept,
	error) {
	h, kept, _, err := fit(ctx, m, by, rows, dir, nil)
	return h, kept, err
}

// fit is Fit; it adds the graphs of the folder's parts to joined, unless that is nil.
func fit(ctx context.Context, m *model.Model, by label.Scorer, rows embedding.Rows, dir string, joined *graph) (h *Head,
	kept *label.Kept, f folder, err error) {
	h = &Head{Predictor: m.Predictor, adapted: m.Predictor}
	by.Head = model.Untempered{Predictor: m.Predictor}
	if kept, err = label.Keep(ctx, by, rows, dir, true); err != nil {
		return nil, nil, f, err
	}
	f = different(kept)
	if err := h.fit(ctx, m, kept, f, joined); err != nil {
		kept.Close()
		return nil, nil, f, err
	}
	return h, kept, f, nil
}

func (h *Head) fit(ctx context.Context, m *model.Model, kept *label.Kept, f folder, joined *graph) error {
	head, moves := m.Predictor.Head.(gauss.Adaptable)
	perClass := float64(m.SampleCount()) / float64(len(m.Classes()))
	if moves && perClass < mostMoved && head.Space() != nil && head.Adaptable() {
		few := make([]bool, len(m.Classes()))
		for c, class := range m.ClassSizes() {
			few[c] = class.Samples <= Thin
		}
		if err := h.move(ctx, few, kept, f); err != nil {
			return err
		}
	}
	all := dense.Range(0, kept.Len())
	err := kept.Change(ctx, all, func(_ int, logProb blas64.General) { h.adapted.Temper(logProb) })
	if err != nil {
		return err
	}
	return h.lean(ctx, perClass, kept, f, joined)
}
