package dkl

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Trained is the result of training: the head of its best epoch.
type Trained struct {
	Projection *Projection
	// Start is the tree with its trained inducing inputs and kernel, or nil if
	// there was no phase 2.
	Start *gptree.Start
	// Best is the epoch it comes from, or 0 if there was none.
	Best int
}

// Trained returns the result of training so far.
func (t *Trainer) Trained() Trained {
	p := Trained{Projection: t.initial, Best: t.best.Epoch}
	if t.best.vector == nil {
		return p
	}
	n := len(t.initial.theta)
	p.Projection = newHead(t.initial.cfg, t.initial.shape, slices.Clone(t.best.vector[:n]))
	p.Projection.frame, p.Projection.products = t.initial.frame, t.products
	if t.two != nil {
		o := *t.two
		o.lay(t.initial, t.two.inducing.Rows)
		copy(o.vector, t.best.vector)
		s := o.start(t.data.classes)
		p.Start = &s
	}
	return p
}

// Softmax returns the classifier of the best epoch of phase 1: the projection
// with the linear classifier on top. It returns an error before the first epoch
// and in phase 2.
func (t *Trainer) Softmax() (classifier.Head, error) {
	if t.two != nil || t.best.vector == nil {
		return nil, fmt.Errorf("dkl: there is no softmax after %d epochs, %d of cross-entropy",
			len(t.history), t.cfg.Pretrain)
	}
	n := len(t.initial.theta)
	c := softmaxed{classes: t.data.classes, head: t.Trained().Projection,
		softmax: newSoftmax(t.initial.Dim(), len(t.data.classes), slices.Clone(t.best.vector[n:]))}
	c.softmax.products = t.products
	return c, nil
}

// softmaxed is a linear classifier behind a projection.
type softmaxed struct {
	classes []string
	head    *Projection
	softmax *Softmax
}

func (c softmaxed) Classes() []string { return c.classes }
func (c softmaxed) Dim() int          { return c.head.In() }

// Score implements classifier.Head. The novelty is the negative largest
// log-probability.
func (c softmaxed) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if err := classifier.CheckScore(c, dst, novelty, x); err != nil {
		return fmt.Errorf("softmax: %w", err)
	}
	z, err := c.head.Project(x)
	if err != nil {
		return err
	}
	if err := c.softmax.LogProb(dst, classifier.Placed(z, dense.Range(0, z.Rows), false)); err != nil {
		return err
	}
	for i := range novelty {
		novelty[i] = -slices.Max(dense.Row(dst, i))
	}
	return nil
}

// projectRows is the number of embeddings that Project processes at a time.
const projectRows = 1024

// Project returns g_θ of the rows of x (n×d), each moved to the frame of the base
// session and scaled to length √d first, as new embeddings (n×D). A zero vector is
// not scaled.
func (h *Projection) Project(x blas32.General) (blas32.General, error) {
	out := dense.New32(x.Rows, h.Dim())
	for first := 0; first < x.Rows; first += projectRows {
		last := min(first+projectRows, x.Rows)
		from := h.frame.Of(dense.Rows32(x, first, last))
		z, in := dense.New(last-first, h.Dim()), dense.New(last-first, x.Cols)
		for i := range in.Rows {
			rescale(dense.Row(in, i), dense.Row32(from, i))
		}
		if err := h.Forward(z, in); err != nil {
			return out, err
		}
		for i := range z.Rows {
			to := dense.Row32(out, first+i)
			for j, v := range dense.Row(z, i) {
				to[j] = float32(v)
				if to[j]-to[j] != 0 {
					return out, fmt.Errorf("projection head: result of row %d is beyond float32: training diverged, "+
						"lower the rate", first+i)
				}
			}
		}
	}
	return out, nil
}
