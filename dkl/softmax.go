package dkl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Softmax is the linear classifier on top of the projection in phase 1:
// p(c|z) = softmax_c(V z + c). It starts at V = 0, c = 0.
type Softmax struct {
	classes, dim int
	theta        []float64
	w            affine // views of theta
	products     linalg.Backend
}

// NewSoftmax returns a classifier of projections of dim values.
func NewSoftmax(dim, classes int) (*Softmax, error) {
	if err := checkSoftmax(dim, classes); err != nil {
		return nil, fmt.Errorf("softmax: %w", err)
	}
	return newSoftmax(dim, classes, make([]float64, classes*(dim+1))), nil
}

func checkSoftmax(dim, classes int) error {
	if dim < 1 || dim > maxWidth {
		return fmt.Errorf("dimension %d is outside 1 … %d", dim, maxWidth)
	}
	if classes < 1 || classes > maxParameters/(dim+1) {
		return fmt.Errorf("%d classes, want 1 … %d at dimension %d", classes, maxParameters/(dim+1), dim)
	}
	return nil
}

func newSoftmax(dim, classes int, theta []float64) *Softmax {
	w, _ := cutAffine(theta, classes, dim)
	return &Softmax{classes: classes, dim: dim, theta: theta, w: w, products: linalg.Backend{}}
}

// UseBackend implements classifier.BackendUser.
func (s *Softmax) UseBackend(m linalg.Backend) { s.products = m }

// Classes returns C.
func (s *Softmax) Classes() int { return s.classes }

// Dim returns D, the width of a projection.
func (s *Softmax) Dim() int { return s.dim }

// Theta returns V and c as one vector, for an optimiser to change.
func (s *Softmax) Theta() []float64 { return s.theta }

// LogProb writes log p(c|z) in nats into dst (n×C) for the rows of z (n×D).
func (s *Softmax) LogProb(dst, z blas64.General) error {
	err := checkMatrix("log-probabilities", dst, z.Rows, s.classes)
	if err == nil {
		err = checkFinite("projections", z, z.Rows, s.dim)
	}
	if err == nil && z.Rows > 0 {
		err = s.w.forward(s.products, dst, z)
	}
	if err == nil {
		err = checkFinite("logits", dst, z.Rows, s.classes)
	}
	if err != nil {
		return fmt.Errorf("softmax: %w", err)
	}
	for i := range dst.Rows {
		classifier.LogSoftmax(dense.Row(dst, i))
	}
	return nil
}

// Loss returns the mean cross-entropy in nats of the rows of z (n×D), whose
// classes are y (n values of 0 … C−1). It writes the gradient with respect to V
// and c into gradTheta, in the order of Theta, and that with respect to z into
// gradZ (n×D). A loss that is not finite is an error; on error the gradients are
// undefined. The arguments must not overlap.
func (s *Softmax) Loss(gradTheta []float64, gradZ, z blas64.General, y []int) (float64, error) {
	loss, err := s.loss(gradTheta, gradZ, z, y)
	if err != nil {
		return 0, fmt.Errorf("cross-entropy: %w", err)
	}
	return loss, nil
}

func (s *Softmax) loss(gradTheta []float64, gradZ, z blas64.General, y []int) (float64, error) {
	if err := s.checkLoss(gradTheta, gradZ, z, y); err != nil {
		return 0, err
	}
	p := dense.New(z.Rows, s.classes)
	if err := s.LogProb(p, z); err != nil {
		return 0, err
	}
	loss := crossEntropy(p, y)
	if loss-loss != 0 {
		return 0, fmt.Errorf("the loss is not finite: training diverged, lower the rate")
	}
	g, _ := cutAffine(gradTheta, s.classes, s.dim)
	if err := g.gradient(s.products, z, p); err != nil {
		return 0, err
	}
	return loss, s.w.input(s.products, gradZ, p)
}

// crossEntropy returns the mean of −log p(y) and turns the log-probabilities into
// the gradient with respect to the logits, (p − onehot(y))/n. p(y) − 1 is computed
// as minus the sum of the others, which is accurate even if p(y) is close to 1.
func crossEntropy(logProb blas64.General, y []int) float64 {
	var sum float64
	n := float64(len(y))
	for i, class := range y {
		r := dense.Row(logProb, i)
		sum -= r[class]
		var others float64
		for c, l := range r {
			r[c] = math.Exp(l) / n
			if c != class {
				others += r[c]
			}
		}
		r[class] = -others
	}
	return sum / n
}

func (s *Softmax) checkLoss(gradTheta []float64, gradZ, z blas64.General, y []int) error {
	if z.Rows == 0 || len(y) != z.Rows {
		return fmt.Errorf("%d examples with %d labels", z.Rows, len(y))
	}
	for i, class := range y {
		if class < 0 || class >= s.classes {
			return fmt.Errorf("example %d: class %d is outside 0 … %d", i, class, s.classes-1)
		}
	}
	if len(gradTheta) != len(s.theta) {
		return fmt.Errorf("a gradient of %d values for %d parameters", len(gradTheta), len(s.theta))
	}
	return checkMatrix("gradient", gradZ, z.Rows, s.dim)
}
