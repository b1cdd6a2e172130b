package matlab

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// ErrNoVariable says that a file has no variable of that name.
var ErrNoVariable = errors.New("no such variable")

const (
	headerBytes = 128
	// maxVariables is far above what people save, and bounds the list.
	maxVariables = 1 << 16
	// zlibRatio is the most that zlib can expand: 258 bytes from two bits.
	zlibRatio = 1032
	// keepBytes and keepRatio bound what is kept of a variable, see doc.go.
	keepBytes = 64 << 20
	keepRatio = 16
)

// A File is an open MAT-file. Its methods may be called concurrently.
type File struct {
	r         io.ReaderAt
	closer    io.Closer
	order     binary.ByteOrder
	variables []Variable
}

// A Variable is one named array of a file.
type Variable struct {
	Name  string
	Class Class
	// Dims has two or more sizes; it is nil for classes that have none.
	Dims []int

	at, size   int64 // of the element's data
	compressed bool
}

// Open lists the variables of a file. Close it when done.
func Open(path string) (*File, error) {
	info, err := os.Stat(path) // before opening: a pipe would block
	if err != nil {
		return nil, fmt.Errorf("read MAT-file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read MAT-file %s: not a regular file", path)
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read MAT-file: %w", err)
	}
	f, err := NewFile(r, info.Size())
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("read MAT-file %s: %w", path, err)
	}
	f.closer = r
	return f, nil
}

// NewFile lists the variables in the size bytes of r. It costs two small reads a
// variable.
func NewFile(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, min(size, headerBytes))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	order, err := byteOrder(head)
	if err != nil {
		return nil, err
	}
	f := &File{r: r, order: order}
	for at := int64(headerBytes); at < size; {
		if len(f.variables) == maxVariables {
			return nil, fmt.Errorf("more than %d variables: damaged", maxVariables)
		}
		v, next, err := f.variable(at, size)
		if err != nil {
			return nil, fmt.Errorf("variable %d at byte %d: %w", len(f.variables)+1, at, err)
		}
		f.variables = append(f.variables, v)
		at = next
	}
	return f, nil
}

// Close closes a file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Variables lists what the file holds, in its order.
func (f *File) Variables() []Variable { return slices.Clone(f.variables) }

// byteOrder looks at the first bytes of a file.
func byteOrder(head []byte) (binary.ByteOrder, error) {
	const again = "save it again in MATLAB with save('NEW.mat', '-v7')"
	switch {
	case bytes.HasPrefix(head, []byte("\x89HDF\r\n\x1a\n")), bytes.HasPrefix(head, []byte("MATLAB 7.3")):
		return nil, errors.New("a MAT-file of version 7.3 (HDF5), which is not read; " + again)
	case level4(head):
		return nil, errors.New("a MAT-file of version 4, which is not read; " + again)
	case len(head) < headerBytes:
		return nil, errors.New("not a MAT-file, or cut short")
	}
	var order binary.ByteOrder
	switch string(head[126:]) {
	case "IM":
		order = binary.LittleEndian
	case "MI":
		order = binary.BigEndian
	default:
		return nil, errors.New("not a MAT-file")
	}
	switch version := order.Uint16(head[124:]); version {
	case 0x0100:
		return order, nil
	case 0x0200:
		return nil, errors.New("a MAT-file of version 7.3 (HDF5), which is not read; " + again)
	default:
		return nil, fmt.Errorf("a MAT-file of the unknown version %#04x; %s", version, again)
	}
}

// level4 files begin with five 32-bit numbers, which a later version's text cannot
// be: the decimal digits MOPT (number format, 0, precision, kind of matrix), rows,
// columns, 1 for complex, length of the name.
func level4(head []byte) bool {
	if len(head) < 20 {
		return false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		mopt, complex, name := order.Uint32(head), order.Uint32(head[12:]), order.Uint32(head[16:])
		if mopt < 5000 && mopt/100%10 == 0 && mopt/10%10 <= 5 && mopt%10 <= 2 && complex <= 1 && 0 < name && name <= maxNameBytes {
			return true
		}
	}
	return false
}

// variable reads what the element at a byte says of itself, and where the next
// one begins.
func (f *File) variable(at, size int64) (v Variable, next int64, err error) {
	var tag [tagBytes]byte
	if size-at < tagBytes {
		return v, 0, errTruncated
	}
	if _, err := f.r.ReadAt(tag[:], at); err != nil {
		return v, 0, truncated(err)
	}
	v.at, v.size = at+tagBytes, int64(f.order.Uint32(tag[4:]))
	if v.size > size-v.at {
		return v, 0, fmt.Errorf("it needs %d bytes where the file has %d: truncated or damaged", v.size, size-v.at)
	}
	switch s := storage(f.order.Uint32(tag[:4])); s {
	case miMatrix:
		next = v.at + v.size + -v.size&7
	case miCompressed:
		next, v.compressed = v.at+v.size, true
	default:
		return v, 0, fmt.Errorf("an element of type %d where a variable should be: damaged", s)
	}
	body, _, err := f.open(v)
	if err != nil {
		return v, 0, err
	}
	h, err := body.header()
	v.Name, v.Class, v.Dims = h.name, h.class, h.dims
	return v, next, err
}

// open returns the bytes of a variable's array, and a function that checks what
// comes after them.
func (f *File) open(v Variable) (*cursor, func() error, error) {
	section := io.NewSectionReader(f.r, v.at, v.size)
	if !v.compressed {
		return &cursor{r: bufio.NewReader(section), order: f.order, left: v.size}, func() error { return nil }, nil
	}
	z, err := zlib.NewReader(section)
	if err != nil {
		return nil, nil, fmt.Errorf("decompress: %w", truncated(err))
	}
	outer := &cursor{r: inflated{z}, order: f.order, left: zlibRatio*v.size + tagBytes}
	s, body, err := outer.element()
	if err != nil {
		return nil, nil, err
	}
	if s != miMatrix {
		return nil, nil, fmt.Errorf("an element of type %d where an array should be: damaged", s)
	}
	return body, func() error { return atEnd(outer.r) }, nil
}

// An inflated reader names decompression in its errors.
type inflated struct{ io.Reader }

func (z inflated) Read(p []byte) (int, error) {
	n, err := z.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("decompress: %w", err)
	}
	return n, err
}

// atEnd reads over the end of a zlib stream, which compares its checksum.
func atEnd(r io.Reader) error {
	var rest [8]byte
	switch n, err := io.ReadFull(r, rest[:]); {
	case n > 0:
		return errors.New("data after the end of the array: damaged")
	case err != io.EOF:
		return truncated(err)
	}
	return nil
}

// find returns the variable of a name; of two the last, as MATLAB does.
func (f *File) find(name string) (Variable, error) {
	for _, v := range slices.Backward(f.variables) {
		if v.Name == name {
			return v, nil
		}
	}
	var names []string
	for _, v := range f.variables[:min(len(f.variables), 10)] {
		names = append(names, v.Name)
	}
	if len(names) == 0 {
		return Variable{}, fmt.Errorf("%w; the file holds none at all", ErrNoVariable)
	}
	return Variable{}, fmt.Errorf("%w; there are %s", ErrNoVariable, strings.Join(names, ", "))
}
