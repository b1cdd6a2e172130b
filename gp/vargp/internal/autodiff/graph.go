package autodiff

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Graph records a computation. The zero Graph is empty and ready for use.
type Graph struct {
	// Products computes large products; nil means gonum.
	Products linalg.Kernel
	back     []func()
}

// A Var is a matrix in a graph.
type Var struct {
	// Value must not be changed.
	Value blas64.General
	grad  blas64.General
	needs bool // whether a derivative is needed
	// inverse of a lower triangle used by Solve, once computed
	inverse blas64.General
}

// Constant returns a matrix without a derivative.
func Constant(m blas64.General) *Var { return &Var{Value: m} }

// Variable returns a matrix whose derivative Backward computes.
func Variable(m blas64.General) *Var { return &Var{Value: m, needs: true} }

// Needs reports whether the derivative with respect to v is needed.
func (v *Var) Needs() bool { return v.needs }

// Grad returns the derivative with respect to v, which is zero if nothing depends
// on v. It is valid after Backward, and inside an Op to add to.
func (v *Var) Grad() blas64.General {
	if v.grad.Data == nil {
		v.grad = dense.New(v.Value.Rows, v.Value.Cols)
	}
	return v.grad
}

// Number returns the only element of a 1×1 matrix.
func (v *Var) Number() float64 { return v.Value.Data[0] }

// Op records a value computed from inputs, and back, which receives the derivative
// of the value and adds to the Grad of each input that Needs one. Back is not
// called if none does.
func (graph *Graph) Op(value blas64.General, back func(grad blas64.General), inputs ...*Var) *Var {
	v := &Var{Value: value}
	for _, in := range inputs {
		v.needs = v.needs || in.needs
	}
	if v.needs {
		graph.back = append(graph.back, func() {
			if v.grad.Data != nil {
				back(v.grad)
			}
		})
	}
	return v
}

// Backward computes the derivative of v, a 1×1 matrix, with respect to every Var.
// It may be called only once.
func (graph *Graph) Backward(v *Var) {
	v.Grad().Data[0] = 1
	for i := len(graph.back) - 1; i >= 0; i-- {
		graph.back[i]()
	}
}
