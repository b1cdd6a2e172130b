package gptree

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// A noveltyHead is the mean of a GPTree that fits no nodes.
type noveltyHead struct {
	classifier.Learner // what it has learned, nil before the base session

	heads meanHeads
	like  classifier.Learner
	cfg   Config
	frame classifier.Frame
}

// NoveltyHead implements classifier.Guided: the novelty is that of the mean. With the zero
// mean, or if Gibbs sampling stores the base session, it is nil.
func (h *GPTree) NoveltyHead() classifier.Learner {
	if h.cfg.Mean == MeanZero || h.cfg.Base != BaseVI {
		return nil
	}
	return &noveltyHead{heads: h.meanHeads(), like: h.like, cfg: h.cfg}
}

// Learn implements classifier.Learner.
func (h *noveltyHead) Learn(ctx context.Context, x blas32.General, y []string) error {
	dim := 0
	if h.Learner != nil {
		dim = h.Dim()
	}
	next, frame := h.Learner, h.frame
	x, _, err := frame.Session(x, y, dim, h.cfg.Normalize, h.cfg.Lengthscale)
	if err == nil {
		next, err = h.heads.learned(ctx, h.Learner, h.like, x, y)
	}
	if err != nil {
		return fmt.Errorf("gptree: learn: %w", err)
	}
	h.Learner, h.frame = next, frame
	return nil
}

// Score implements classifier.Head. The log-probabilities are those of the mean at T = 1.
func (h *noveltyHead) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.Learner.Score(dst, novelty, h.frame.Of(x))
}
