package ort

import (
	"fmt"
	"runtime"
	"unsafe"

	onnxruntime "github.com/yalue/onnxruntime_go"
)

// A Tensor is a block of Go memory that sessions read and write in place. It
// belongs to one Run at a time.
type Tensor struct {
	value  onnxruntime.Value
	f32    []float32
	f16    []uint16
	pinner runtime.Pinner
}

// NewTensor returns a float32 tensor of zeros. Every axis must be positive.
func (rt *Runtime) NewTensor(shape ...int64) (*Tensor, error) {
	n, err := elements(shape)
	if err != nil {
		return nil, err
	}
	return rt.WrapTensor(make([]float32, n), shape...)
}

// NewHalfTensor returns a float16 tensor of zeros, to be filled through Half.
func (rt *Runtime) NewHalfTensor(shape ...int64) (*Tensor, error) {
	n, err := elements(shape)
	if err != nil {
		return nil, err
	}
	t := &Tensor{f16: make([]uint16, n)}
	t.pinner.Pin(&t.f16[0])
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&t.f16[0])), 2*n)
	t.value, err = onnxruntime.NewCustomDataTensor(shape, bytes, onnxruntime.TensorElementDataTypeFloat16)
	if err != nil {
		t.pinner.Unpin()
		return nil, fmt.Errorf("tensor %v: %w", shape, err)
	}
	return t, nil
}

// WrapTensor returns a float32 tensor on the caller's memory, row-major,
// without copying it. The memory must not be freed or moved before Close.
func (rt *Runtime) WrapTensor(data []float32, shape ...int64) (*Tensor, error) {
	t := &Tensor{f32: data}
	return t, wrapInto(t, data, shape)
}

// WrapTensor64 is WrapTensor for float64.
func (rt *Runtime) WrapTensor64(data []float64, shape ...int64) (*Tensor, error) {
	t := &Tensor{}
	return t, wrapInto(t, data, shape)
}

// WrapInt64 is WrapTensor for int64.
func (rt *Runtime) WrapInt64(data []int64, shape ...int64) (*Tensor, error) {
	t := &Tensor{}
	return t, wrapInto(t, data, shape)
}

// WrapInt32 is WrapTensor for int32.
func (rt *Runtime) WrapInt32(data []int32, shape ...int64) (*Tensor, error) {
	t := &Tensor{}
	return t, wrapInto(t, data, shape)
}

func wrapInto[F float32 | float64 | int32 | int64](t *Tensor, data []F, shape []int64) error {
	n, err := elements(shape)
	if err != nil {
		return err
	}
	if n > len(data) {
		return fmt.Errorf("tensor %v: only %d values", shape, len(data))
	}
	t.pinner.Pin(&data[0]) // the library holds the address between calls
	value, err := onnxruntime.NewTensor(shape, data)
	if err != nil {
		t.pinner.Unpin()
		return fmt.Errorf("tensor %v: %w", shape, err)
	}
	t.value = value
	return nil
}

// maxElements bounds one tensor at 4 GiB of float32.
const maxElements = 1 << 30

func elements(shape []int64) (int, error) {
	n := int64(1)
	for _, s := range shape {
		if s < 1 || s > maxElements || n*s > maxElements {
			return 0, fmt.Errorf("tensor %v: every axis must be at least 1 and the whole at most %d numbers", shape,
				maxElements)
		}
		n *= s
	}
	if len(shape) == 0 {
		return 0, fmt.Errorf("tensor %v: no axes", shape)
	}
	return int(n), nil
}

// Data returns the memory of a float32 tensor, row-major; nil for other types.
func (t *Tensor) Data() []float32 { return t.f32 }

// Half returns the memory of a float16 tensor as IEEE 754 binary16 bits,
// row-major; nil for other types.
func (t *Tensor) Half() []uint16 { return t.f16 }

// Close frees the tensor; its memory must not be used afterwards.
func (t *Tensor) Close() error {
	if t.value == nil {
		return nil
	}
	err := t.value.Destroy()
	t.value = nil
	t.pinner.Unpin()
	return err
}
