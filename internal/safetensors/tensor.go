package safetensors

import (
	"fmt"
	"math/bits"
)

// A DType is the element type of a tensor.
type DType string

// The supported element types.
const (
	F32 DType = "F32"
	F64 DType = "F64"
	I64 DType = "I64"
	U8  DType = "U8"
)

// Size returns the bytes of one element, 0 for an unknown type.
func (t DType) Size() int64 {
	switch t {
	case F64, I64:
		return 8
	case F32:
		return 4
	case U8:
		return 1
	}
	return 0
}

// maxRank is the largest number of dimensions read or written; it bounds the
// shapes in a hostile header.
const maxRank = 16

// A Tensor is a dense row-major array. Exactly one of the slices is non-nil,
// even for an empty tensor.
type Tensor struct {
	Shape []int
	F32   []float32
	F64   []float64
	I64   []int64
	U8    []byte
}

// dtype returns the element type, or "" unless exactly one slice is set.
func (t Tensor) dtype() DType {
	found := DType("")
	for dtype, set := range map[DType]bool{F32: t.F32 != nil, F64: t.F64 != nil, I64: t.I64 != nil, U8: t.U8 != nil} {
		switch {
		case set && found != "":
			return ""
		case set:
			found = dtype
		}
	}
	return found
}

// count returns the number of elements.
func (t Tensor) count() int64 {
	return int64(len(t.F32) + len(t.F64) + len(t.I64) + len(t.U8))
}

func (t Tensor) validate() error {
	if t.dtype() == "" {
		return fmt.Errorf("exactly one of F32, F64, I64 and U8 must be set")
	}
	want, err := elements(t.Shape)
	if err != nil {
		return err
	}
	if want != t.count() {
		return fmt.Errorf("shape %v needs %d elements, has %d", t.Shape, want, t.count())
	}
	return nil
}

// elements returns the number of elements of a shape. The product of the
// non-zero dimensions must fit too, so that computing strides cannot overflow.
func elements(shape []int) (int64, error) {
	if len(shape) > maxRank {
		return 0, fmt.Errorf("%d dimensions, at most %d are supported", len(shape), maxRank)
	}
	product, empty := uint64(1), false
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("shape %v has a negative dimension", shape)
		}
		if d == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(product, uint64(d))
		if hi != 0 || lo > 1<<59 {
			return 0, fmt.Errorf("shape %v is too large", shape)
		}
		product = lo
	}
	if empty {
		return 0, nil
	}
	return int64(product), nil
}
