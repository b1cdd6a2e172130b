package gauss

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Whitening is L⁻¹, W⁻¹ = L⁻ᵀL⁻¹. Of fewer examples than a sixth of d it is the symmetric
// root, Scale·I + Σ gain·v·vᵀ: k eigenpairs in O(k²d) in place of a d×d matrix in O(d³).
type Whitening struct {
	// Full is the lower triangle (d×d), empty if there are eigenvectors.
	Full blas64.General
	// Span (k×d) holds the eigenvectors v as orthonormal rows.
	Span  blas64.General
	Gain  []float64 // k
	Scale float64
}

// fewRows reports whether n examples of d values are few enough for eigenpairs.
func fewRows(n, d int) bool { return 6*n <= d }

// even returns a multiple of the identity of order d.
func even(d int, scale float64) Whitening {
	return Whitening{Span: dense.New(0, d), Gain: []float64{}, Scale: scale}
}

// rootOf returns the whitening by W = a·I + factor·Σ value·v·vᵀ.
func rootOf(e linalg.Eigen, factor, a float64) (Whitening, error) {
	if !(a > 0) {
		return Whitening{}, &linalg.NotPSDError{Order: e.Vectors.Cols}
	}
	w := even(e.Vectors.Cols, 1/math.Sqrt(a))
	w.Span = e.Vectors
	for _, v := range e.Values {
		w.Gain = append(w.Gain, 1/math.Sqrt(a+factor*v)-w.Scale)
	}
	return w, nil
}

// isRoot reports whether w is a symmetric root.
func (w Whitening) isRoot() bool { return w.Full.Rows == 0 }

// Dense returns L⁻¹ as a matrix, which the caller must not change. O(kd²).
func (w Whitening) Dense() blas64.General {
	if !w.isRoot() {
		return w.Full
	}
	out := dense.Identity(w.Span.Cols)
	blas64.Scal(w.Scale, dense.Vector(out.Data))
	for i, g := range w.Gain {
		v := dense.Vector(dense.Row(w.Span, i))
		blas64.Ger(g, v, v, out)
	}
	return out
}

// times returns L⁻¹z for the rows of z (n×d).
func (w Whitening) times(m linalg.Backend, z blas64.General) (blas64.General, error) {
	if w.isRoot() {
		return w.root(m, z)
	}
	const block = 192
	white := dense.New(z.Rows, z.Cols)
	if z.Rows == 0 {
		return white, nil
	}
	for j := 0; j < z.Cols; j += block {
		end := min(j+block, z.Cols) // columns beyond are zero in these rows of L⁻¹
		dst, rows := dense.View(white, 0, j, z.Rows, end-j), dense.View(w.Full, j, 0, end-j, end)
		if err := m.MulTrans64(dst, dense.View(z, 0, 0, z.Rows, end), rows); err != nil {
			return white, err
		}
	}
	return white, nil
}

// back returns L⁻ᵀz for the rows of z.
func (w Whitening) back(m linalg.Backend, z blas64.General) (blas64.General, error) {
	if w.isRoot() {
		return w.root(m, z)
	}
	out := dense.New(z.Rows, z.Cols)
	if z.Rows == 0 {
		return out, nil
	}
	return out, m.MulTrans64(out, z, dense.Transposed(w.Full))
}

func (w Whitening) root(m linalg.Backend, z blas64.General) (blas64.General, error) {
	out := dense.New(z.Rows, z.Cols)
	if z.Rows > 0 && len(w.Gain) > 0 {
		along := dense.New(z.Rows, len(w.Gain))
		if err := m.MulTrans64(along, z, w.Span); err != nil {
			return out, err
		}
		for i := range along.Rows {
			row := dense.Row(along, i)
			for j, g := range w.Gain {
				row[j] *= g
			}
		}
		if err := m.MulTrans64(out, along, dense.Transposed(w.Span)); err != nil {
			return out, err
		}
	}
	for i := range z.Rows {
		blas64.Axpy(w.Scale, dense.Vector(dense.Row(z, i)), dense.Vector(dense.Row(out, i)))
	}
	return out, nil
}

// Names of the tensors of a whitening; those of a symmetric root are the last two.
const (
	whitenTensor = "whiten"      // d×d
	spanTensor   = "whiten.span" // k×d
	gainTensor   = "whiten.gain" // k+1, Scale first
)

// save adds the tensors of a whitening.
func (w Whitening) save(tensors map[string]classifier.Tensor) {
	if !w.isRoot() {
		tensors[whitenTensor] = copied(w.Full.Data, w.Full.Rows, w.Full.Cols)
		return
	}
	tensors[spanTensor] = copied(w.Span.Data, w.Span.Rows, w.Span.Cols)
	tensors[gainTensor] = copied(append([]float64{w.Scale}, w.Gain...), len(w.Gain)+1)
}

// loadWhitening restores what save added, of d values.
func loadWhitening(s classifier.State, d int) (w Whitening, err error) {
	t, ok := s.Tensors[gainTensor]
	if !ok {
		w.Full = blas64.General{Rows: d, Cols: d, Stride: d}
		w.Full.Data, err = s.Float64(whitenTensor, d, d)
		return w, err
	}
	k := len(t.F64) - 1
	if k < 0 || k > d {
		return w, fmt.Errorf("tensor %s: %d values for embeddings of %d", gainTensor, len(t.F64), d)
	}
	gain, err := s.Float64(gainTensor, k+1)
	if err != nil {
		return w, err
	}
	w = even(d, gain[0])
	w.Gain, w.Span.Rows = gain[1:], k
	w.Span.Data, err = s.Float64(spanTensor, k, d)
	return w, err
}
