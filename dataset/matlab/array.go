package matlab

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A Class is what MATLAB's class() says of an array.
type Class string

// The classes that can be read, beside the integers.
const (
	Double  Class = "double"
	Single  Class = "single"
	Logical Class = "logical"
	Char    Class = "char"
	Cell    Class = "cell"
)

// classes has the class of each mxCLASS number.
func classes(number uint32) (Class, bool) {
	names := [...]Class{
		1: Cell, "struct", "object", Char, "sparse", Double, Single, "int8", "uint8", "int16", "uint16",
		"int32", "uint32", "int64", "uint64", "function_handle", opaque,
	}
	if number == 0 || number >= uint32(len(names)) {
		return "", false
	}
	return names[number], true
}

// opaque stands for MATLAB's newer objects, which have no dimensions.
const opaque Class = "opaque"

func (c Class) numeric() bool {
	return c == Double || c == Single || c == Logical || strings.Contains(string(c), "int")
}

// An Array is a variable, or a part of a cell array, in memory.
type Array struct {
	Class Class
	// Dims has two or more sizes. All contents are in column-major order: the
	// first index runs fastest.
	Dims []int
	// Numbers are the values of numeric and logical arrays.
	Numbers []float64
	// Text has the rows of a char array; rows of a matrix are padded with spaces.
	Text []string
	// Cells are the parts of a cell array.
	Cells []Array
}

// Strings returns the texts of a cell array of texts, one a cell.
func (a Array) Strings() ([]string, error) {
	if a.Class != Cell {
		return nil, fmt.Errorf("class %s, need a cell array of texts", a.Class)
	}
	texts := make([]string, len(a.Cells))
	for i, c := range a.Cells {
		switch {
		case len(c.Text) == 1:
			texts[i] = c.Text[0]
		case c.Class != Char, len(c.Text) > 1:
			return nil, fmt.Errorf("cell %d is of class %s and size %s, need one line of text", i+1, c.Class, sizeText(c.Dims))
		}
	}
	return texts, nil
}

// sizeText is a size as MATLAB shows it.
func sizeText(dims []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", "×")
}

const (
	maxDims      = 32
	maxNameBytes = 4096 // MATLAB: 63
	// maxDepth bounds cells in cells.
	maxDepth = 16
	// arrayBytes is more than an Array takes by itself.
	arrayBytes = 256
)

// A header is what goes before the values of an array.
type header struct {
	class   Class
	complex bool
	dims    []int
	name    string
}

func (c *cursor) header() (h header, err error) {
	if h.class, h.complex, err = c.flags(); err != nil {
		return h, fmt.Errorf("array flags: %w", err)
	}
	if h.class != opaque {
		if h.dims, err = c.dims(); err != nil {
			return h, fmt.Errorf("dimensions: %w", err)
		}
	}
	s, name, err := c.small(maxNameBytes)
	switch {
	case err != nil:
		return h, fmt.Errorf("name: %w", err)
	case s != miInt8 && s != miUTF8, !utf8.Valid(name):
		return h, errors.New("name: not a text: damaged")
	}
	h.name = string(name)
	return h, nil
}

func (c *cursor) flags() (class Class, complex bool, err error) {
	const logicalFlag, complexFlag = 0x0200, 0x0800
	s, data, err := c.small(8)
	if err != nil {
		return "", false, err
	}
	if s != miUint32 || len(data) != 8 {
		return "", false, fmt.Errorf("%d bytes of type %d: damaged", len(data), s)
	}
	word := c.order.Uint32(data)
	class, ok := classes(word & 0xff)
	if !ok {
		return "", false, fmt.Errorf("class %d: damaged", word&0xff)
	}
	if word&logicalFlag != 0 && class.numeric() {
		class = Logical
	}
	return class, word&complexFlag != 0, nil
}

func (c *cursor) dims() ([]int, error) {
	s, data, err := c.small(4 * maxDims)
	if err != nil {
		return nil, err
	}
	if s != miInt32 || len(data) < 8 || len(data)%4 != 0 {
		return nil, fmt.Errorf("%d bytes of type %d: damaged", len(data), s)
	}
	var dims []int
	for ; len(data) > 0; data = data[4:] {
		n := c.order.Uint32(data)
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("%d: damaged", int32(n))
		}
		dims = append(dims, int(n))
	}
	_, err = product(dims)
	return dims, err
}

// product is the number of values of an array.
func product(dims []int) (int64, error) {
	n := int64(1)
	for _, d := range dims {
		if d == 0 {
			return 0, nil
		}
		if n *= int64(d); n > math.MaxInt64>>32 {
			return 0, fmt.Errorf("%s: too large to be true", sizeText(dims))
		}
	}
	return n, nil
}

// Read reads a variable. The error wraps ErrNoVariable when there is none of
// that name.
func (f *File) Read(name string) (Array, error) {
	a, err := f.read(name)
	if err != nil {
		return Array{}, fmt.Errorf("variable %s: %w", name, err)
	}
	return a, nil
}

func (f *File) read(name string) (Array, error) {
	v, err := f.find(name)
	if err != nil {
		return Array{}, err
	}
	body, finish, err := f.open(v)
	if err != nil {
		return Array{}, err
	}
	a, err := v.keeper().array(body, 0)
	if err == nil {
		err = body.close()
	}
	if err == nil {
		err = finish()
	}
	return a, err
}

// A keeper counts what is kept of a variable.
type keeper struct{ room int64 }

func (v Variable) keeper() *keeper {
	return &keeper{room: max(keepBytes, keepRatio*v.size)}
}

func (k *keeper) take(bytes int64) error {
	if k.room -= bytes; k.room < 0 {
		return errors.New("it takes far more memory than its size in the file: damaged, or save it uncompressed (save … -v6)")
	}
	return nil
}

func (k *keeper) array(c *cursor, depth int) (Array, error) {
	if err := k.take(arrayBytes); err != nil {
		return Array{}, err
	}
	h, err := c.header()
	if err != nil {
		return Array{}, err
	}
	a := Array{Class: h.class, Dims: h.dims}
	switch {
	case h.complex:
		err = errors.New("complex; only real arrays are read")
	case h.class.numeric():
		a.Numbers, err = k.numbers(c, h.dims)
	case h.class == Char:
		a.Text, err = k.text(c, h.dims)
	case h.class == Cell:
		a.Cells, err = k.cells(c, h.dims, depth+1)
	default:
		err = fmt.Errorf("class %s; only numbers, texts and cells are read", h.class)
	}
	return a, err
}

func (k *keeper) cells(c *cursor, dims []int, depth int) ([]Array, error) {
	n, err := product(dims)
	if err != nil {
		return nil, err
	}
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("cells in cells, %d deep: damaged", depth)
	case n > c.left/tagBytes:
		return nil, fmt.Errorf("%s cells in %d bytes: damaged", sizeText(dims), c.left)
	}
	var cells []Array // grows with what was really there
	for i := range n {
		a, err := k.cell(c, depth)
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		cells = append(cells, a)
	}
	return cells, nil
}

func (k *keeper) cell(c *cursor, depth int) (Array, error) {
	s, body, err := c.element()
	if err != nil {
		return Array{}, err
	}
	if s != miMatrix {
		return Array{}, fmt.Errorf("an element of type %d where an array should be: damaged", s)
	}
	if body.left == 0 { // how MATLAB may write []
		return Array{Class: Double, Dims: []int{0, 0}}, k.take(arrayBytes)
	}
	a, err := k.array(body, depth)
	if err == nil {
		err = body.close()
	}
	return a, err
}
