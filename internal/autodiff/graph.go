package autodiff

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// A Graph holds what was computed. The zero Graph is empty and ready for use.
type Graph struct {
	// Products multiplies what is large; nil is gonum.
	Products linalg.Raw
	back     []func()
}

// A Var is a matrix on a tape.
type Var struct {
	// Value must not be changed.
	Value blas64.General
	grad  blas64.General
	needs bool // a derivative
	// inverse of a triangle that equations were solved with
	inverse blas64.General
}

// Constant returns a matrix that nothing is differentiated with respect to.
func Constant(m blas64.General) *Var { return &Var{Value: m} }

// Variable returns a matrix whose derivative Backward finds.
func Variable(m blas64.General) *Var { return &Var{Value: m, needs: true} }

// Needs reports whether anything asks for the derivative with respect to v.
func (v *Var) Needs() bool { return v.needs }

// Grad returns the derivative with respect to v, zero where nothing depends on
// it: after Backward, or inside an Op to add to.
func (v *Var) Grad() blas64.General {
	if v.grad.Data == nil {
		v.grad = dense.New(v.Value.Rows, v.Value.Cols)
	}
	return v.grad
}

// Number returns the only element of a 1×1 matrix.
func (v *Var) Number() float64 { return v.Value.Data[0] }

// Op writes down a value computed from inputs, and back, which gets its
// derivative and adds to the Grad of those inputs that Needs one. Back is not
// called where none does.
func (t *Graph) Op(value blas64.General, back func(grad blas64.General), inputs ...*Var) *Var {
	v := &Var{Value: value}
	for _, in := range inputs {
		v.needs = v.needs || in.needs
	}
	if v.needs {
		t.back = append(t.back, func() {
			if v.grad.Data != nil {
				back(v.grad)
			}
		})
	}
	return v
}

// Backward finds the derivative of v, a 1×1 matrix, with respect to everything.
// It is called once.
func (t *Graph) Backward(v *Var) {
	v.Grad().Data[0] = 1
	for i := len(t.back) - 1; i >= 0; i-- {
		t.back[i]()
	}
}
