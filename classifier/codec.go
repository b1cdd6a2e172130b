package classifier

import (
	"fmt"
	"slices"
)

// A Codec writes the fields of one class after another into tensors, or reads
// them back: one description of the fields serves both. A tensor holds one
// field of all classes, stacked. After the first error nothing more is read.
type Codec struct {
	state    State
	prefix   string
	reading  bool
	counting bool // counts the rows to write, so that the tensors never grow
	columns  map[string]*codecColumn
	err      error
}

// codecColumn is a tensor and the number of its rows counted or read so far.
type codecColumn struct {
	Tensor
	rows int
}

// EncodeClasses returns the tensors of the classes; their names begin with
// prefix.
func EncodeClasses[C any](classes []C, prefix string, fields func(c *Codec, class *C)) map[string]Tensor {
	c := Codec{prefix: prefix, columns: make(map[string]*codecColumn)}
	for _, c.counting = range []bool{true, false} {
		for _, class := range classes {
			fields(&c, &class) // a copy, because others may be reading classes
		}
	}
	tensors := make(map[string]Tensor, len(c.columns))
	for name, column := range c.columns {
		tensors[name] = column.Tensor
	}
	return tensors
}

// DecodeClasses returns the n classes that were passed to EncodeClasses.
func DecodeClasses[C any](s State, n int, prefix string, fields func(c *Codec, class *C)) ([]C, error) {
	c := Codec{state: s, prefix: prefix, reading: true, columns: make(map[string]*codecColumn)}
	classes := make([]C, n)
	for i := range classes {
		if fields(&c, &classes[i]); c.err != nil {
			return nil, c.err
		}
	}
	for name, column := range c.columns {
		if column.rows < column.Shape[0] {
			return nil, fmt.Errorf("tensor %s: %d rows, want %d", name, column.Shape[0], column.rows)
		}
	}
	return classes, nil
}

// Reading reports whether the codec reads fields and no error has occurred.
func (c *Codec) Reading() bool { return c.reading && c.err == nil }

// Fail stops reading if err is not nil.
func (c *Codec) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Int describes an integer field; when read it must lie between least and most.
func (c *Codec) Int(name string, v *int, least, most int) {
	one := []int64{int64(*v)}
	codecField(c, name, &one, 1, nil, func(t *Tensor) *[]int64 { return &t.I64 })
	*v = int(one[0])
	if c.Reading() && (one[0] < int64(least) || one[0] > int64(most)) {
		c.Fail(fmt.Errorf("tensor %s: value %d is outside %d … %d", c.prefix+name, *v, least, most))
	}
}

// Bool describes a boolean field, 0 or 1.
func (c *Codec) Bool(name string, v *bool) {
	n := 0
	if *v {
		n = 1
	}
	c.Int(name, &n, 0, 1)
	*v = n == 1
}

// Number describes a float64 field.
func (c *Codec) Number(name string, v *float64) {
	one := []float64{*v}
	c.Rows64(name, &one, 1)
	*v = one[0]
}

// Float64 describes an array field of the given shape.
func (c *Codec) Float64(name string, v *[]float64, shape ...int) { c.Rows64(name, v, 1, shape...) }

// Rows64 describes a field of several arrays of the given shape; their number
// may differ from class to class.
func (c *Codec) Rows64(name string, v *[]float64, rows int, shape ...int) {
	codecField(c, name, v, rows, shape, func(t *Tensor) *[]float64 { return &t.F64 })
	if c.reading {
		*v = slices.Clone(*v)
	}
}

// Rows32 is Rows64 for float32.
func (c *Codec) Rows32(name string, v *[]float32, rows int, shape ...int) {
	if c.View32(name, v, rows, shape...); c.reading {
		*v = slices.Clone(*v)
	}
}

// View32 is Rows32 without a copy when reading, for the largest tensors; the
// reader must make a copy before the state may change.
func (c *Codec) View32(name string, v *[]float32, rows int, shape ...int) {
	codecField(c, name, v, rows, shape, func(t *Tensor) *[]float32 { return &t.F32 })
}

// codecField writes v, which holds rows arrays of that shape, or sets it to a
// view of the next rows that are read.
func codecField[T float32 | float64 | int64](c *Codec, name string, v *[]T, rows int, shape []int,
	of func(*Tensor) *[]T) {
	if c.err != nil {
		return
	}
	name = c.prefix + name
	column, known := c.columns[name]
	if !known {
		column = &codecColumn{Tensor: Tensor{Shape: append([]int{0}, shape...)}}
		if c.reading {
			column.Tensor = c.state.Tensors[name]
			want := append([]int{0}, shape...)
			if len(column.Shape) > 0 {
				want[0] = column.Shape[0]
			}
			if c.err = c.state.check(name, len(*of(&column.Tensor)), want); c.err != nil {
				return
			}
		}
		c.columns[name] = column
	}
	values, size := of(&column.Tensor), 1
	for _, side := range shape {
		size *= side
	}
	switch {
	case c.counting:
		column.rows += rows
		return
	case !c.reading:
		if *values == nil {
			*values = make([]T, 0, column.rows*size)
		}
		*values = append(*values, *v...)
		column.Shape[0] += rows
		return
	}
	if column.rows+rows > column.Shape[0] {
		c.err = fmt.Errorf("tensor %s: %d rows are too few", name, column.Shape[0])
		return
	}
	*v = (*values)[column.rows*size : (column.rows+rows)*size : (column.rows+rows)*size]
	column.rows += rows
	c.err = checkFinite(name, *v)
}
