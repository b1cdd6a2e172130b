package native

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// runtimeKernel holds a one-product graph for each element type. Both operands
// are inputs: with b as a pre-packed constant of the graph, a product of
// 256×640×640 is no faster (see the benchmark).
type runtimeKernel struct {
	rt       *ort.Runtime
	f32, f64 *ort.Session // a·bᵀ
	plain    *ort.Session // a·b in float64
}

func newRuntimeKernel(rt *ort.Runtime) (runtimeKernel, error) {
	k := runtimeKernel{rt: rt}
	var err error
	if k.f32, err = productSession(rt, onnx.Float32, 1); err != nil {
		return k, err
	}
	if k.f64, err = productSession(rt, onnx.Float64, 1); err != nil {
		return k, err
	}
	k.plain, err = productSession(rt, onnx.Float64, 0)
	return k, err
}

// productSession returns a session that computes c = a·bᵀ, or a·b if trans is 0.
func productSession(rt *ort.Runtime, elem onnx.ElemType, trans int64) (*ort.Session, error) {
	g := onnx.NewGraph("")
	a, b := g.Input("a", elem, onnx.Free, onnx.Free), g.Input("b", elem, onnx.Free, onnx.Free)
	g.Output("c", g.Node("Gemm", []string{a, b}, onnx.Int("transB", trans)), elem, onnx.Free, onnx.Free)
	model, err := g.Model("pipeline", nil)
	if err != nil {
		return nil, err
	}
	return rt.NewSession(model, []string{"a", "b"}, []string{"c"}, ort.CPU)
}

// Mul32 implements linalg.Kernel.
func (k runtimeKernel) Mul32(dst, a, b blas32.General) error {
	out := dst
	if dst.Stride != dst.Cols {
		out = dense.New32(dst.Rows, dst.Cols)
	}
	err := product(k.f32, k.rt.WrapTensor, []gapless[float32]{gapless32(a), gapless32(b), gapless32(out)})
	if err == nil && dst.Stride != dst.Cols {
		for i := range dst.Rows {
			copy(dst.Data[i*dst.Stride:i*dst.Stride+dst.Cols], out.Data[i*out.Cols:])
		}
	}
	return err
}

// Mul64 implements linalg.Kernel.
func (k runtimeKernel) Mul64(dst, a, b blas64.General) error { return k.double(k.f64, dst, a, b) }

// MulPlain64 implements linalg.Raw.
func (k runtimeKernel) MulPlain64(dst, a, b blas64.General) error {
	return k.double(k.plain, dst, a, b)
}

func (k runtimeKernel) double(s *ort.Session, dst, a, b blas64.General) error {
	out := dst
	if dst.Stride != dst.Cols {
		out = dense.New(dst.Rows, dst.Cols)
	}
	err := product(s, k.rt.WrapTensor64, []gapless[float64]{gapless64(a), gapless64(b), gapless64(out)})
	if err == nil && dst.Stride != dst.Cols {
		for i := range dst.Rows {
			copy(dst.Data[i*dst.Stride:i*dst.Stride+dst.Cols], out.Data[i*out.Cols:])
		}
	}
	return err
}

// gapless is a matrix without gaps between rows.
type gapless[F float32 | float64] struct {
	data       []F
	rows, cols int
}

func gapless32(m blas32.General) gapless[float32] { return packed(m.Data, m.Rows, m.Cols, m.Stride) }

func gapless64(m blas64.General) gapless[float64] { return packed(m.Data, m.Rows, m.Cols, m.Stride) }

// packed returns a matrix without gaps, copying it if it has any.
func packed[F float32 | float64](data []F, rows, cols, stride int) gapless[F] {
	if stride == cols {
		return gapless[F]{data[:rows*cols], rows, cols}
	}
	p := make([]F, 0, rows*cols)
	for i := range rows {
		p = append(p, data[i*stride:i*stride+cols]...)
	}
	return gapless[F]{p, rows, cols}
}

// product runs the session on the first two matrices and writes the last.
func product[F float32 | float64](s *ort.Session, wrap func([]F, ...int64) (*ort.Tensor, error), matrices []gapless[F]) (err error) {
	var tensors []*ort.Tensor
	defer func() {
		for _, t := range tensors {
			err = errors.Join(err, t.Close())
		}
	}()
	for _, m := range matrices {
		t, err := wrap(m.data, int64(m.rows), int64(m.cols))
		if err != nil {
			return fmt.Errorf("product: %w", err)
		}
		tensors = append(tensors, t)
	}
	return s.Run(tensors[:2], tensors[2:])
}
