package native

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/onnx"
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
	return product(k.f32, k.rt.WrapTensor, single(dst), single(a), single(b))
}

// Mul64 implements linalg.Kernel.
func (k runtimeKernel) Mul64(dst, a, b blas64.General) error {
	return product(k.f64, k.rt.WrapTensor64, double(dst), double(a), double(b))
}

// MulPlain64 implements linalg.Kernel.
func (k runtimeKernel) MulPlain64(dst, a, b blas64.General) error {
	return product(k.plain, k.rt.WrapTensor64, double(dst), double(a), double(b))
}

// A matrix is a blas32.General or a blas64.General.
type matrix[F float32 | float64] struct {
	data               []F
	rows, cols, stride int
}

func single(m blas32.General) matrix[float32] {
	return matrix[float32]{m.Data, m.Rows, m.Cols, m.Stride}
}

func double(m blas64.General) matrix[float64] {
	return matrix[float64]{m.Data, m.Rows, m.Cols, m.Stride}
}

// packed returns a matrix without gaps between rows, copied if it has any.
func (m matrix[F]) packed() matrix[F] {
	if m.stride == m.cols {
		return m
	}
	p := matrix[F]{make([]F, 0, m.rows*m.cols), m.rows, m.cols, m.cols}
	for i := range m.rows {
		p.data = append(p.data, m.data[i*m.stride:i*m.stride+m.cols]...)
	}
	return p
}

// product runs the session on two matrices and writes the result to dst.
func product[F float32 | float64](s *ort.Session, wrap func([]F, ...int64) (*ort.Tensor, error), dst, a,
	b matrix[F]) (err error) {
	out := dst.packed()
	var tensors []*ort.Tensor
	defer func() {
		for _, t := range tensors {
			err = errors.Join(err, t.Close())
		}
	}()
	for _, m := range []matrix[F]{a.packed(), b.packed(), out} {
		t, err := wrap(m.data, int64(m.rows), int64(m.cols))
		if err != nil {
			return fmt.Errorf("product: %w", err)
		}
		tensors = append(tensors, t)
	}
	err = s.Run(tensors[:2], tensors[2:])
	if err == nil && dst.stride != dst.cols {
		for i := range dst.rows {
			copy(dst.data[i*dst.stride:], out.data[i*out.cols:(i+1)*out.cols])
		}
	}
	return err
}
