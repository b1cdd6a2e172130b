package dkl

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Projection is the projection g_θ. Forward and Backward are safe for concurrent
// use as long as nothing changes Theta.
type Projection struct {
	cfg   Config
	frame classifier.Frame // of the embeddings, before they are scaled
	shape shape
	theta []float64
	w     weights // views of theta

	products linalg.Backend
}

// New returns a head for embeddings of in values, with its initial θ.
func New(in int, cfg Config) (*Projection, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("projection head: %w", err)
	}
	s, err := newShape(in, cfg)
	if err != nil {
		return nil, fmt.Errorf("projection head: %w", err)
	}
	h := newHead(cfg, s, make([]float64, s.parameters()))
	h.initialise()
	return h, nil
}

func newHead(cfg Config, s shape, theta []float64) *Projection {
	return &Projection{cfg: cfg, shape: s, theta: theta, w: s.view(theta), products: linalg.Backend{}}
}

// UseBackend implements classifier.BackendUser.
func (h *Projection) UseBackend(m linalg.Backend) { h.products = m }

// Config returns the settings of the head.
func (h *Projection) Config() Config { return h.cfg }

// In returns d, the width of the embeddings.
func (h *Projection) In() int { return h.shape.in }

// Dim returns D, the width of the projection.
func (h *Projection) Dim() int { return h.shape.out }

// Theta returns all parameters as one vector, through which an optimiser changes
// the head. Backward writes gradients in the same order.
func (h *Projection) Theta() []float64 { return h.theta }

// Forward writes z = g_θ(x) into dst (n×D) for the rows of x (n×d). A row of x
// that is not finite is a *classifier.NotFiniteError; a result that is not finite
// is also an error. dst must not overlap x.
func (h *Projection) Forward(dst, x blas64.General) error {
	err := checkMatrix("result", dst, x.Rows, h.Dim())
	if err == nil {
		err = h.checkEmbeddings(x)
	}
	if err == nil && x.Rows > 0 {
		err = h.forward(dst, x)
	}
	if err != nil {
		return fmt.Errorf("projection head: %w", err)
	}
	return checkFinite("projection head: result", dst, x.Rows, h.Dim())
}

func (h *Projection) forward(dst, x blas64.General) error {
	a, err := h.beforeOut(x)
	if err != nil {
		return err
	}
	if err := h.w.out.forward(h.products, dst, a); err != nil || !h.shape.residual {
		return err
	}
	if h.shape.trainedSkip() {
		skip := dense.New(x.Rows, h.shape.out)
		if err := h.w.skip.forward(h.products, skip, x); err != nil {
			return err
		}
		x = skip
	}
	dense.Add(dst, 1, x)
	return nil
}

// beforeOut returns the input of the last layer: relu(U x + a), or x.
func (h *Projection) beforeOut(x blas64.General) (blas64.General, error) {
	if h.shape.hidden == 0 {
		return x, nil
	}
	a := dense.New(x.Rows, h.shape.hidden)
	if err := h.w.hidden.forward(h.products, a, x); err != nil {
		return a, err
	}
	for i, v := range a.Data {
		a.Data[i] = max(v, 0)
	}
	return a, nil
}

// Backward propagates ∂L/∂z (gradZ, n×D) of a loss at z = g_θ(x) back to ∂L/∂θ,
// written into gradTheta in the order of Theta, and to ∂L/∂x, written into gradX
// (n×d) unless gradX is the zero matrix. The derivative of a ReLU at 0 is taken
// as 0. There must be at least one row, and the arguments must not overlap. On
// error the gradients are undefined.
func (h *Projection) Backward(gradTheta []float64, gradX, x, gradZ blas64.General) error {
	err := h.checkBackward(gradTheta, gradX, x, gradZ)
	if err == nil {
		err = h.backward(h.shape.view(gradTheta), gradX, x, gradZ)
	}
	if err != nil {
		return fmt.Errorf("projection head: gradient: %w", err)
	}
	return nil
}

func (h *Projection) backward(g weights, gradX, x, gradZ blas64.General) error {
	a, err := h.beforeOut(x)
	if err != nil {
		return err
	}
	if err := g.out.gradient(h.products, a, gradZ); err != nil {
		return err
	}
	if h.shape.trainedSkip() {
		if err := g.skip.gradient(h.products, x, gradZ); err != nil {
			return err
		}
	}
	if h.shape.hidden == 0 {
		return h.inputGradient(gradX, h.w.out, gradZ, gradZ)
	}
	gradA := dense.New(a.Rows, a.Cols)
	if err := h.w.out.input(h.products, gradA, gradZ); err != nil {
		return err
	}
	for i, v := range a.Data {
		if v == 0 {
			gradA.Data[i] = 0
		}
	}
	if err := g.hidden.gradient(h.products, x, gradA); err != nil {
		return err
	}
	return h.inputGradient(gradX, h.w.hidden, gradA, gradZ)
}

// inputGradient writes ∂L/∂x, given the first layer and the gradient of its
// output.
func (h *Projection) inputGradient(gradX blas64.General, first affine, grad, gradZ blas64.General) error {
	if gradX.Rows == 0 {
		return nil
	}
	if err := first.input(h.products, gradX, grad); err != nil || !h.shape.residual {
		return err
	}
	if h.shape.trainedSkip() {
		skip := dense.New(gradX.Rows, gradX.Cols)
		if err := h.w.skip.input(h.products, skip, gradZ); err != nil {
			return err
		}
		gradZ = skip
	}
	dense.Add(gradX, 1, gradZ)
	return nil
}
