package parquetfile

import "encoding/binary"

// A thriftReader walks metadata in Thrift's compact protocol, as in the footer of
// a Parquet file, to find out whether its lengths fit. The Parquet library
// allocates a list before it reads the elements, so a damaged length would take
// all memory.
type thriftReader struct {
	rest []byte
	// list is asked before the elements of a list are read; nil allows all.
	list func(n uint64, kind byte, depth int) bool
}

// The types of the compact protocol that matter here.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI64    = 6 // and I16, I32 before it
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// mostNested is far above the depth of Parquet's metadata.
const mostNested = 64

func (r *thriftReader) skip(n uint64) bool {
	if n > uint64(len(r.rest)) {
		return false
	}
	r.rest = r.rest[n:]
	return true
}

func (r *thriftReader) byte() (b byte, ok bool) {
	if len(r.rest) == 0 {
		return 0, false
	}
	b = r.rest[0]
	return b, r.skip(1)
}

func (r *thriftReader) varint() (v uint64, ok bool) {
	v, n := binary.Uvarint(r.rest)
	return v, n > 0 && r.skip(uint64(n))
}

// structure reads a struct and reports whether it is complete.
func (r *thriftReader) structure(depth int) bool {
	for depth < mostNested {
		head, ok := r.byte()
		if !ok || head == 0 {
			return ok
		}
		if head>>4 == 0 { // the number of the field follows
			if _, ok := r.varint(); !ok {
				return false
			}
		}
		if kind := head & 15; kind != thriftTrue && kind != thriftFalse && !r.value(kind, depth+1) {
			return false
		}
	}
	return false
}

// value reads a value that is not a field's boolean, which has no bytes.
func (r *thriftReader) value(kind byte, depth int) bool {
	switch {
	case kind >= thriftTrue && kind <= thriftByte:
		return r.skip(1)
	case kind > thriftByte && kind <= thriftI64:
		_, ok := r.varint()
		return ok
	case kind == thriftDouble:
		return r.skip(8)
	case kind == thriftUUID:
		return r.skip(16)
	case kind == thriftBinary:
		n, ok := r.varint()
		return ok && r.skip(n)
	case kind == thriftList || kind == thriftSet:
		head, ok := r.byte()
		n := uint64(head >> 4)
		if ok && n == 15 {
			n, ok = r.varint()
		}
		return ok && (r.list == nil || r.list(n, head&15, depth)) && r.values(n, depth, head&15)
	case kind == thriftMap:
		n, ok := r.varint()
		if !ok || n == 0 {
			return ok
		}
		kinds, ok := r.byte()
		return ok && r.values(n, depth, kinds>>4, kinds&15)
	}
	return kind == thriftStruct && r.structure(depth)
}

// values reads n times a value of each of the kinds. Each takes at least a byte.
func (r *thriftReader) values(n uint64, depth int, kinds ...byte) bool {
	if n > uint64(len(r.rest)) || depth > mostNested {
		return false
	}
	for range n {
		for _, kind := range kinds {
			if !r.value(kind, depth+1) {
				return false
			}
		}
	}
	return true
}
