package dkl

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// An entropy is phase 1: cross-entropy as a function of one vector, θ followed by
// V and c.
type entropy struct {
	head    *Projection // on views of the vector
	softmax *Softmax    // a view of the vector
	vector  []float64
}

func newEntropy(h *Projection, classes int, m linalg.Backend) (*entropy, error) {
	if err := checkSoftmax(h.Dim(), classes); err != nil {
		return nil, err
	}
	p := len(h.theta)
	e := &entropy{vector: make([]float64, p+classes*(h.Dim()+1))}
	copy(e.vector, h.theta)
	e.head = newHead(h.cfg, h.shape, e.vector[:p:p])
	e.softmax = newSoftmax(h.Dim(), classes, e.vector[p:])
	e.head.products, e.softmax.products = m, m
	return e, nil
}

// gradient returns the loss of a batch and writes its gradient.
func (e *entropy) gradient(grad []float64, x blas64.General, class []int) (float64, error) {
	z, gradZ := dense.New(x.Rows, e.head.Dim()), dense.New(x.Rows, e.head.Dim())
	if err := e.head.Forward(z, x); err != nil {
		return 0, err
	}
	p := len(e.head.theta)
	loss, err := e.softmax.Loss(grad[p:], gradZ, z, class)
	if err != nil {
		return 0, err
	}
	return loss, e.head.Backward(grad[:p], blas64.General{}, x, gradZ)
}

func (e *entropy) logProb(x blas64.General) (blas64.General, error) {
	out, z := dense.New(x.Rows, e.softmax.Classes()), dense.New(x.Rows, e.head.Dim())
	if err := e.head.Forward(z, x); err != nil {
		return out, err
	}
	return out, e.softmax.LogProb(out, z)
}
