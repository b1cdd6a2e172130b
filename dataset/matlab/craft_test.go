package matlab

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"
)

// A maker writes MAT-files that no program would, in either byte order.
type maker struct{ order binary.ByteOrder }

var little, big = maker{binary.LittleEndian}, maker{binary.BigEndian}

func (m maker) file(elements ...[]byte) []byte {
	head := make([]byte, 128)
	copy(head, "MATLAB 5.0 MAT-file, made by a test")
	m.order.PutUint16(head[124:], 0x0100)
	m.order.PutUint16(head[126:], 'M'<<8|'I')
	return append(head, bytes.Join(elements, nil)...)
}

// claim is an element that says it has size bytes.
func (m maker) claim(kind storage, size uint32, data []byte) []byte {
	e := make([]byte, 8, 8+len(data)+8)
	m.order.PutUint32(e, uint32(kind))
	m.order.PutUint32(e[4:], size)
	return append(e, data...)
}

func (m maker) element(kind storage, data []byte) []byte {
	e := m.claim(kind, uint32(len(data)), data)
	if kind == miCompressed {
		return e
	}
	return append(e, make([]byte, -len(data)&7)...)
}

// small puts up to four bytes into the tag.
func (m maker) small(kind storage, data []byte) []byte {
	e := make([]byte, 8)
	m.order.PutUint32(e, uint32(len(data))<<16|uint32(kind))
	copy(e[4:], data)
	return e
}

func (m maker) values(kind storage, values any) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, m.order, values); err != nil {
		panic(err)
	}
	return m.element(kind, b.Bytes())
}

// array is a matrix element of flags, dimensions, name, and the rest.
func (m maker) array(class uint32, dims []int32, name string, rest ...[]byte) []byte {
	head := [][]byte{m.values(miUint32, []uint32{class, 0}), m.values(miInt32, dims), m.element(miInt8, []byte(name))}
	return m.element(miMatrix, bytes.Join(append(head, rest...), nil))
}

func (m maker) compressed(element []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(element); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return m.element(miCompressed, b.Bytes())
}

func parse(data []byte) (*File, error) { return NewFile(bytes.NewReader(data), int64(len(data))) }

const (
	mxCell   = 1
	mxChar   = 4
	mxDouble = 6
	mxUint64 = 15
	mxOpaque = 17
)

// TestByteOrderAndStorage: every number type that a double array may be stored
// in, small elements, both byte orders, compressed or not.
func TestByteOrderAndStorage(t *testing.T) {
	stored := map[storage]any{
		miInt8: []int8{1, -2, 3}, miUint8: []uint8{1, 254, 3}, miInt16: []int16{1, -2, 3}, miUint16: []uint16{1, 65534, 3},
		miInt32: []int32{1, -2, 3}, miUint32: []uint32{1, 1<<32 - 2, 3}, miInt64: []int64{1, -2, 3}, miUint64: []uint64{1, 1 << 40, 3},
		miSingle: []float32{1, -2.5, 3}, miDouble: []float64{1, -2.5, 3},
	}
	second := map[storage]float64{
		miInt8: -2, miUint8: 254, miInt16: -2, miUint16: 65534, miInt32: -2, miUint32: 1<<32 - 2, miInt64: -2, miUint64: 1 << 40,
		miSingle: -2.5, miDouble: -2.5,
	}
	for _, m := range []maker{little, big} {
		for kind, values := range stored {
			a := m.array(mxDouble, []int32{3, 1}, "x", m.values(kind, values))
			tiny := m.array(mxDouble, []int32{1, 3}, "tiny", m.small(miUint8, []byte{7, 8, 9}))
			for _, data := range [][]byte{m.file(a, tiny), m.file(m.compressed(a), m.compressed(tiny))} {
				f, err := parse(data)
				if err != nil {
					t.Fatal(err)
				}
				want := Array{Class: Double, Dims: []int{3, 1}, Numbers: []float64{1, second[kind], 3}}
				if got, err := f.Read("x"); err != nil || !sameArray(got, want) {
					t.Errorf("%v, type %d: %+v, %v", m.order, kind, got, err)
				}
				if got, err := f.Read("tiny"); err != nil || !sameArray(got, row(Double, 7, 8, 9)) {
					t.Errorf("%v, small: %+v, %v", m.order, got, err)
				}
			}
		}
	}
}

func TestTextStorage(t *testing.T) {
	for _, m := range []maker{little, big} {
		for name, c := range map[string]struct {
			dims []int32
			data []byte
			want []string
		}{
			"utf16":      {[]int32{1, 4}, m.values(miUTF16, []uint16{'a', 0xe9, 0xd83d, 0xdc26}), []string{"aé🐦"}},
			"uint16":     {[]int32{2, 2}, m.values(miUint16, []uint16{'a', 'c', 'b', 'd'}), []string{"ab", "cd"}},
			"utf32":      {[]int32{1, 2}, m.values(miUTF32, []uint32{'a', 0x1f426}), []string{"a🐦"}},
			"utf8 units": {[]int32{1, 3}, m.element(miUTF8, []byte("a🐦")), []string{"a🐦"}},
			"utf8 runes": {[]int32{1, 2}, m.element(miUTF8, []byte("a🐦")), []string{"a🐦"}},
			"bytes":      {[]int32{1, 2}, m.small(miUint8, []byte("ab")), []string{"ab"}},
		} {
			f, err := parse(m.file(m.array(mxChar, c.dims, "x", c.data)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Read("x")
			if err != nil || strings.Join(got.Text, "|") != strings.Join(c.want, "|") {
				t.Errorf("%s: %q, %v", name, got.Text, err)
			}
		}
	}
}

// TestDamagedArrays: claims that the bytes do not bear out. Each must be refused
// in words, without taking the memory that it claims.
func TestDamagedArrays(t *testing.T) {
	m := little
	doubles := m.values(miDouble, []float64{1, 2})
	nest := m.array(mxDouble, []int32{1, 2}, "", doubles)
	for range 40 {
		nest = m.array(mxCell, []int32{1, 1}, "", nest)
	}
	zeros := make([]byte, 9<<20) // 9 MB that zlib packs into 9 kB
	many := m.claim(miMatrix, 0, nil)
	for name, c := range map[string]struct {
		variable []byte
		word     string
	}{
		"no type":            {m.element(99, doubles), "element of type 99"},
		"longer than file":   {m.claim(miMatrix, 1<<31, doubles), "truncated or damaged"},
		"empty":              {m.element(miMatrix, nil), "damaged"},
		"flags":              {m.element(miMatrix, m.values(miDouble, []float64{1})), "array flags"},
		"class":              {m.array(77, []int32{1, 1}, "x", doubles), "class 77"},
		"one dimension":      {m.array(mxDouble, []int32{2}, "x", doubles), "dimensions"},
		"negative dimension": {m.array(mxDouble, []int32{-1, 2}, "x", doubles), "dimensions: -1"},
		"huge":               {m.array(mxDouble, []int32{math.MaxInt32, math.MaxInt32, 9}, "x", doubles), "too large to be true"},
		"many dimensions":    {m.array(mxDouble, make([]int32, 33), "x", doubles), "more than 128"},
		"name":               {m.array(mxDouble, []int32{1, 2}, "\xff", doubles), "name"},
		"long name":          {m.array(mxDouble, []int32{1, 2}, strings.Repeat("x", 5000), doubles), "name"},
		"fewer values":       {m.array(mxDouble, []int32{1, 3}, "x", doubles), "16 bytes of values of 8 bytes"},
		"more values":        {m.array(mxDouble, []int32{1, 1}, "x", doubles), "16 bytes of values of 8 bytes"},
		"no values":          {m.array(mxDouble, []int32{1, 1}, "x"), "needs 8 bytes where 0 are left"},
		"odd values":         {m.array(mxDouble, []int32{1, 1}, "x", m.element(miDouble, make([]byte, 9))), "damaged"},
		"text as values":     {m.array(mxDouble, []int32{1, 8}, "x", m.element(miUTF8, make([]byte, 8))), "no numbers"},
		"element too long":   {m.array(mxDouble, []int32{1, 2}, "x", m.claim(miDouble, 1<<30, nil)), "element of 1073741824 bytes where"},
		"small too long":     {m.array(mxDouble, []int32{1, 2}, "x", m.claim(5<<16|miUint8, 0, nil)), "small element of 5 bytes"},
		"2^60 as integer":    {m.array(mxUint64, []int32{1, 1}, "x", m.values(miUint64, []uint64{1<<60 + 1})), "float64 cannot hold"},
		"2^64-1":             {m.array(mxUint64, []int32{1, 1}, "x", m.values(miUint64, []uint64{math.MaxUint64})), "float64 cannot hold"},
		"2^63-1":             {m.array(14, []int32{1, 1}, "x", m.values(miInt64, []int64{math.MaxInt64})), "float64 cannot hold"},
		"text of doubles":    {m.array(mxChar, []int32{1, 2}, "x", doubles), "text of type 9"},
		"text too short":     {m.array(mxChar, []int32{1, 9}, "x", m.element(miUTF8, []byte("abc"))), "damaged"},
		"text too long":      {m.array(mxChar, []int32{1, 2}, "x", m.element(miUTF8, []byte("abc"))), "3 characters"},
		"text not utf8":      {m.array(mxChar, []int32{1, 2}, "x", m.element(miUTF8, []byte("\xff\xfe"))), "not a valid text"},
		"odd utf16":          {m.array(mxChar, []int32{1, 1}, "x", m.element(miUTF16, []byte("abc"))), "not a valid text"},
		"odd utf32":          {m.array(mxChar, []int32{1, 1}, "x", m.element(miUTF32, []byte("abc"))), "not a valid text"},
		"lone surrogate":     {m.array(mxChar, []int32{1, 1}, "x", m.values(miUTF16, []uint16{0xd83d})), "not a valid text"},
		"two high":           {m.array(mxChar, []int32{1, 2}, "x", m.values(miUTF16, []uint16{0xd83d, 0xd83d})), "not a valid text"},
		"no code point":      {m.array(mxChar, []int32{1, 1}, "x", m.values(miUTF32, []uint32{0xffffffff})), "not a valid text"},
		"text cube":          {m.array(mxChar, []int32{1, 1, 1}, "x", m.element(miUTF8, []byte("a"))), "1×1×1"},
		"deep cells":         {m.array(mxCell, []int32{1, 1}, "x", nest), "deep"},
		"claimed cells":      {m.array(mxCell, []int32{1 << 30, 1}, "x", nest), "damaged"},
		"missing cell":       {m.array(mxCell, []int32{1, 2}, "x", many), "damaged"},
		"cell of bytes":      {m.array(mxCell, []int32{1, 1}, "x", doubles), "cell 1: an element of type 9"},
		"opaque":             {m.element(miMatrix, append(m.values(miUint32, []uint32{mxOpaque, 0}), m.element(miInt8, []byte("x"))...)), "class opaque"},

		"not zlib":            {m.element(miCompressed, []byte("no zlib stream")), "decompress"},
		"compressed values":   {m.compressed(doubles), "element of type 9"},
		"compressed claim":    {m.compressed(m.claim(miMatrix, 1<<31, doubles)), "element of 2147483648 bytes where"},
		"after the array":     {m.compressed(append(m.array(mxDouble, []int32{1, 2}, "x", doubles), doubles...)), "after the end"},
		"bomb of numbers":     {m.compressed(m.array(mxDouble, []int32{9 << 20, 1}, "x", m.element(miUint8, zeros))), "far more memory"},
		"bomb of text":        {m.compressed(m.array(mxChar, []int32{4 << 20, 1}, "x", m.element(miUTF8, zeros[:4<<20]))), "far more memory"},
		"bomb of empty cells": {m.compressed(m.array(mxCell, []int32{1 << 19, 1}, "x", bytes.Repeat(many, 1<<19))), "far more memory"},
	} {
		t.Run(name, func(t *testing.T) {
			data := m.file(c.variable)
			allocated, err := readX(data)
			if err == nil || !strings.Contains(err.Error(), c.word) {
				t.Errorf("%v, want %q", err, c.word)
			}
			if limit := uint64(keepBytes * 4); allocated > limit {
				t.Errorf("%d bytes allocated for a file of %d", allocated, len(data))
			}
		})
	}
}

// readX reads the variable x and tells what that allocated.
func readX(data []byte) (allocated uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := parse(data)
	if err == nil {
		_, err = f.Read("x")
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

func TestBombOfColumns(t *testing.T) {
	zeros := make([]byte, 9<<20)
	f, err := parse(little.file(little.compressed(little.array(mxDouble, []int32{9 << 20, 1}, "x", little.element(miUint8, zeros)))))
	if err != nil {
		t.Fatal(err)
	}
	err = f.Columns("x", func([]float64) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "far more memory") {
		t.Error(err)
	}
	// In short columns it is read: only a column is kept.
	f, err = parse(little.file(little.compressed(little.array(mxDouble, []int32{1 << 10, 9 << 10}, "x", little.element(miUint8, zeros)))))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := f.Columns("x", func([]float64) error { n++; return nil }); err != nil || n != 9<<10 {
		t.Errorf("%d columns, %v", n, err)
	}
}

// TestNamesTwiceAndOthers: MATLAB's last variable of a name counts; an unread
// class or a nameless variable (the subsystem data) is in nobody's way.
func TestNamesTwiceAndOthers(t *testing.T) {
	m := little
	f, err := parse(m.file(
		m.array(mxDouble, []int32{1, 1}, "x", m.values(miDouble, []float64{1})),
		m.element(miMatrix, append(m.values(miUint32, []uint32{mxOpaque, 0}), m.element(miInt8, []byte("table"))...)),
		m.array(mxDouble, []int32{1, 1}, "x", m.values(miDouble, []float64{2})),
		m.array(9, []int32{1, 1}, "", m.small(miUint8, []byte{3})),
	))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read("x"); err != nil || !sameArray(got, row(Double, 2)) {
		t.Errorf("%+v, %v", got, err)
	}
	if v := f.Variables(); len(v) != 4 || v[1].Name != "table" || v[1].Class != "opaque" || v[3].Name != "" {
		t.Errorf("%+v", v)
	}
	none, err := parse(m.file())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Read("x"); err == nil || !strings.Contains(err.Error(), "none at all") {
		t.Error(err)
	}
}
