package matlab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Columns reads a numeric matrix of rows×n and hands its columns to emit, one
// after the other. The slice is valid until emit returns. Memory is that of one
// column. An error of emit ends the reading and is returned as it is.
func (f *File) Columns(name string, emit func(column []float64) error) error {
	var emitted error
	err := f.columns(name, func(column []float64) error {
		emitted = emit(column)
		return emitted
	})
	if emitted == nil && err != nil {
		return fmt.Errorf("variable %s: %w", name, err)
	}
	return err
}

func (f *File) columns(name string, emit func([]float64) error) error {
	v, err := f.find(name)
	if err != nil {
		return err
	}
	c, finish, err := f.open(v)
	if err != nil {
		return err
	}
	h, err := c.header()
	switch {
	case err != nil:
		return err
	case h.complex || !h.class.numeric():
		return fmt.Errorf("class %s; need real numbers", h.class)
	case len(h.dims) != 2:
		return fmt.Errorf("size %s; need a matrix", sizeText(h.dims))
	}
	values, err := newValues(c, h.dims)
	if err != nil {
		return err
	}
	if values.left == 0 {
		return nil
	}
	if err := v.keeper().take(16 * int64(h.dims[0])); err != nil {
		return err
	}
	column, raw := make([]float64, h.dims[0]), make([]byte, int64(h.dims[0])*values.width)
	for range h.dims[1] {
		if err := values.read(column, raw); err != nil {
			return err
		}
		if err := emit(column); err != nil {
			return err
		}
	}
	if err := errors.Join(values.body.close(), c.close()); err != nil {
		return err
	}
	return finish()
}

// values are the numbers of an array that are still to be read.
type values struct {
	body  *cursor
	kind  storage
	width int64
	left  int64
}

// newValues opens the element with the numbers of an array and compares sizes.
func newValues(c *cursor, dims []int) (*values, error) {
	n, err := product(dims)
	if err != nil {
		return nil, err
	}
	kind, body, err := c.element()
	if err != nil {
		return nil, err
	}
	width := kind.width()
	if width == 0 || kind >= miMatrix {
		return nil, fmt.Errorf("values of type %d, which are no numbers: damaged", kind)
	}
	if n != body.left/width || body.left%width != 0 {
		return nil, fmt.Errorf("size %s, but %d bytes of values of %d bytes: damaged", sizeText(dims), body.left, width)
	}
	return &values{body: body, kind: kind, width: width, left: n}, nil
}

// read decodes the next len(dst) numbers; raw has room for their bytes.
func (v *values) read(dst []float64, raw []byte) error {
	if err := v.body.read(raw); err != nil {
		return err
	}
	v.left -= int64(len(dst))
	w, order := int(v.width), v.body.order
	for i := range dst {
		x, exact := number(v.kind, order, raw[i*w:])
		if !exact {
			return fmt.Errorf("a 64-bit integer (about %g) that float64 cannot hold", x)
		}
		dst[i] = x
	}
	return nil
}

// number decodes one value and says whether float64 holds it exactly.
func number(kind storage, order binary.ByteOrder, b []byte) (x float64, exact bool) {
	switch kind {
	case miDouble:
		x = math.Float64frombits(order.Uint64(b))
	case miSingle:
		x = float64(math.Float32frombits(order.Uint32(b)))
	case miInt8:
		x = float64(int8(b[0]))
	case miUint8:
		x = float64(b[0])
	case miInt16:
		x = float64(int16(order.Uint16(b)))
	case miUint16:
		x = float64(order.Uint16(b))
	case miInt32:
		x = float64(int32(order.Uint32(b)))
	case miUint32:
		x = float64(order.Uint32(b))
	case miInt64:
		i := int64(order.Uint64(b))
		x = float64(i)
		return x, x < 1<<63 && int64(x) == i
	case miUint64:
		u := order.Uint64(b)
		x = float64(u)
		return x, x < 1<<64 && uint64(x) == u
	}
	return x, true
}

// numbers reads the values of an array into memory, which grows with what was
// really there.
func (k *keeper) numbers(c *cursor, dims []int) ([]float64, error) {
	v, err := newValues(c, dims)
	if err != nil {
		return nil, err
	}
	if err := k.take(8 * v.left); err != nil {
		return nil, err
	}
	const chunk = 1 << 10
	var all []float64
	var part [chunk]float64
	raw := make([]byte, min(v.left, chunk)*v.width)
	for v.left > 0 {
		n := min(v.left, chunk)
		if err := v.read(part[:n], raw[:n*v.width]); err != nil {
			return nil, err
		}
		all = append(all, part[:n]...)
	}
	return all, v.body.close()
}
