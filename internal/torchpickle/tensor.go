package torchpickle

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// maxAxes bounds the axes of a tensor.
const maxAxes = 8

// elementBytes are the sizes of the elements of the storages that are read.
func elementBytes(kind string) uint64 {
	switch kind {
	case "FloatStorage":
		return 4
	case "LongStorage":
		return 8
	}
	return 0
}

// A storage is a run of numbers in the file, which tensors view.
type storage struct {
	kind     string
	elements int64
	data     []byte
}

// A Tensor is a view of numbers in the file.
type Tensor struct {
	shape, strides []int64
	offset         int64
	storage        *storage
}

// Shape returns the sizes of the axes.
func (t *Tensor) Shape() []int {
	shape := make([]int, len(t.shape))
	for i, n := range t.shape {
		shape[i] = int(n)
	}
	return shape
}

// elements returns the number of elements; check has bounded it.
func (t *Tensor) elements() int64 {
	n := int64(1)
	for _, size := range t.shape {
		n *= size
	}
	return n
}

// check returns an error unless the tensor lies within its storage and has no more
// elements than it.
func (t *Tensor) check() error {
	if len(t.shape) != len(t.strides) || len(t.shape) > maxAxes {
		return fmt.Errorf("a tensor with %d sizes and %d strides", len(t.shape), len(t.strides))
	}
	have := t.storage.elements
	within := func(n int64) bool { return n >= 0 && n <= have }
	empty := slices.Contains(t.shape, 0)
	last, elements := t.offset, int64(1)
	ok := within(t.offset)
	for i, size := range t.shape {
		stride := t.strides[i]
		ok = ok && size >= 0 && stride >= 0
		if !ok || empty {
			continue
		}
		// All factors are at most have, which is at most the size of the file: no overflow.
		if ok = within(size) && (size == 1 || within(stride)); ok && size > 1 {
			last += (size - 1) * stride
		}
		elements *= size
		ok = ok && within(last) && within(elements)
	}
	if !ok || !empty && last >= have {
		return fmt.Errorf("a tensor of shape %d with strides %d leaves its storage of %d elements", t.shape, t.strides,
			have)
	}
	return nil
}

// Float32s returns the elements in row-major order, or an error if they are no floats.
func (t *Tensor) Float32s() ([]float32, error) {
	if t.storage.kind != "FloatStorage" {
		return nil, fmt.Errorf("a tensor of %s, not of floats", t.storage.kind)
	}
	if slices.Contains(t.shape, 0) {
		return nil, nil
	}
	out := make([]float32, 0, t.elements())
	index := make([]int64, len(t.shape))
	for at := t.offset; ; {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(t.storage.data[4*at:])))
		axis := len(index) - 1
		for ; axis >= 0; axis-- {
			at += t.strides[axis]
			if index[axis]++; index[axis] < t.shape[axis] {
				break
			}
			at -= t.shape[axis] * t.strides[axis]
			index[axis] = 0
		}
		if axis < 0 {
			return out, nil
		}
	}
}
