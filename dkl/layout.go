package dkl

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
)

// A tensor is the name and shape of a section of a flat parameter vector.
type tensor struct {
	name  string
	shape []int
}

func (t tensor) size() int {
	size := 1
	for _, n := range t.shape {
		size *= n
	}
	return size
}

// An affine map is y = x·wᵀ + b; b is nil in a skip.
type affine struct {
	w blas64.General
	b []float64
}

// weights are the layers of a head, or their gradients, as views of one flat
// vector. Layers that a head does not have are zero.
type weights struct {
	hidden, out, skip affine
}

// shape describes the layers of a head.
type shape struct {
	in, hidden, out int
	residual        bool
}

func newShape(in int, cfg Config) (shape, error) {
	s := shape{in: in, hidden: cfg.Hidden, out: cfg.Dim, residual: cfg.Residual}
	if in < 1 || in > maxWidth {
		return s, fmt.Errorf("embeddings of %d values, want 1 … %d", in, maxWidth)
	}
	if s.residual && s.hidden == 0 && in != s.out {
		return s, fmt.Errorf("residual: a linear head can have it only from %d to %d values: set dim to %d or add a "+
			"hidden layer", in, in, in)
	}
	if n := s.parameters(); n > maxParameters {
		return s, fmt.Errorf("%d parameters, more than %d: choose a smaller dim or hidden", n, maxParameters)
	}
	return s, nil
}

// trainedSkip reports whether the skip is a matrix and not the identity.
func (s shape) trainedSkip() bool { return s.residual && s.in != s.out }

// beforeOut returns the width of the input of the last layer.
func (s shape) beforeOut() int {
	if s.hidden > 0 {
		return s.hidden
	}
	return s.in
}

// tensors lists the parameters in the order of the flat vector.
func (s shape) tensors() []tensor {
	var list []tensor
	if s.hidden > 0 {
		list = append(list, tensor{"hidden.weight", []int{s.hidden, s.in}}, tensor{"hidden.bias", []int{s.hidden}})
	}
	list = append(list, tensor{"out.weight", []int{s.out, s.beforeOut()}}, tensor{"out.bias", []int{s.out}})
	if s.trainedSkip() {
		list = append(list, tensor{"skip.weight", []int{s.out, s.in}})
	}
	return list
}

func (s shape) parameters() int {
	n := 0
	for _, t := range s.tensors() {
		n += t.size()
	}
	return n
}

// view returns the layers as views of a flat vector of the right length.
func (s shape) view(flat []float64) weights {
	var w weights
	if s.hidden > 0 {
		w.hidden, flat = cutAffine(flat, s.hidden, s.in)
	}
	w.out, flat = cutAffine(flat, s.out, s.beforeOut())
	if s.trainedSkip() {
		w.skip.w, _ = cutMatrix(flat, s.out, s.in)
	}
	return w
}

func cutAffine(flat []float64, rows, cols int) (affine, []float64) {
	w, rest := cutMatrix(flat, rows, cols)
	return affine{w: w, b: rest[:rows:rows]}, rest[rows:]
}

func cutMatrix(flat []float64, rows, cols int) (blas64.General, []float64) {
	n := rows * cols
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: flat[:n:n]}, flat[n:]
}
