package classifier

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// A Frame is where a kernel measures embeddings from, and in which unit:
// x ↦ (x − Origin)·Scale. The base session sets it, once. For the embeddings of
// backbones it is the zero Frame, which leaves them as they are.
type Frame struct {
	// Origin (d) is nil for 0.
	Origin []float32 `json:"origin,omitempty"`
	// Scale is 0 for 1.
	Scale float32 `json:"scale,omitempty"`
}

// Bounds of what a kernel can work with.
const (
	// parallel is the ratio of the spread of the rows, squared, to the length of
	// their mean, squared, below which scaling to length 1 makes them almost the same
	// vector: two rows have a mean cosine above 0.99. Embeddings of photos have 0.4 to
	// 7, and those of one class 0.1 or more.
	parallel = 0.01
	// rounding is that ratio for equal rows: float32 tells no more.
	rounding = 1e-14
	// beyond is the ratio of spread and length-scale, or its inverse, from which a
	// kernel without normalisation is the same for any two rows.
	beyond = 100.0
)

// FrameOf returns the frame of a base session. A kernel that scales rows to length
// 1 (lengthscale 0) sees nothing but a common offset if that is far larger than the
// spread of the rows: the origin is then their mean. For a kernel of raw rows, with
// the given lengthscale, the spread is also brought to that lengthscale if the two
// differ by orders of magnitude. One class alone says nothing about an offset.
func FrameOf(x blas32.General, y []string, lengthscale float64) Frame {
	var f Frame
	if !slices.ContainsFunc(y, func(class string) bool { return class != y[0] }) {
		return f
	}
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range dense.Row32(x, i) {
			mean[j] += float64(v) / float64(x.Rows)
		}
	}
	var spread float64
	for i := range x.Rows {
		for j, v := range dense.Row32(x, i) {
			spread += (float64(v) - mean[j]) * (float64(v) - mean[j]) / float64(x.Rows)
		}
	}
	offset := dense.Dot(mean, mean)
	if spread <= rounding*offset {
		return f
	}
	if spread < parallel*offset {
		f.Origin = dense.Narrowed(mean)
	}
	ratio := math.Sqrt(spread) / lengthscale
	if lengthscale > 0 && (ratio > beyond || ratio < 1/beyond) {
		f.Scale = float32(1 / ratio)
	}
	return f
}

// Session checks a session of a head whose embeddings have dim values, and returns its
// rows in the frame and those of every class. A base session, dim 0, sets the frame first:
// for a kernel that scales rows to length 1 or, if normalize is not set, for one with
// that lengthscale.
func (f *Frame) Session(x blas32.General, y []string, dim int, normalize bool,
	lengthscale float64) (blas32.General, []Group, error) {
	if err := CheckExamples(x, y, dim); err != nil {
		return x, nil, err
	}
	if dim == 0 {
		if normalize {
			lengthscale = 0
		}
		*f = FrameOf(x, y, lengthscale)
	}
	return f.Of(x), GroupByClass(y), nil
}

// Of returns the rows of x in the frame: x itself in the zero Frame, a copy in any
// other.
func (f Frame) Of(x blas32.General) blas32.General {
	if f.Origin == nil && f.Scale == 0 {
		return x
	}
	out := dense.New32(x.Rows, x.Cols)
	for i := range x.Rows {
		f.row(dense.Row32(out, i), dense.Row32(x, i))
	}
	return out
}

func (f Frame) row(dst, x []float32) {
	copy(dst, x)
	for j, o := range f.Origin {
		dst[j] -= o
	}
	for j := range dst {
		if f.Scale != 0 {
			dst[j] *= f.Scale
		}
		// Finite embeddings stay finite, wherever they are.
		dst[j] = max(-math.MaxFloat32, min(math.MaxFloat32, dst[j]))
	}
}

// Check returns an error unless a frame that was read suits embeddings of dim
// values.
func (f Frame) Check(dim int) error {
	if f.Origin != nil && len(f.Origin) != dim || !dense.Finite32(f.Origin) {
		return fmt.Errorf("frame: an origin of %d values for embeddings of %d", len(f.Origin), dim)
	}
	if !(f.Scale >= 0 && f.Scale <= math.MaxFloat32) {
		return fmt.Errorf("frame: a scale of %g", f.Scale)
	}
	return nil
}

// Graph is Of as a graph, for a tensor x (n×d float32).
func (f Frame) Graph(g *onnx.Graph, x string) string {
	if f.Origin != nil {
		x = g.Op("Sub", x, g.Float32s(f.Origin, len(f.Origin)))
	}
	if f.Scale != 0 {
		x = g.Op("Mul", x, g.Float32s([]float32{f.Scale}))
	}
	return x
}
