package onnx

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// A field is one record of a protobuf message. bytes is set for
// length-delimited records, number for varints; other kinds carry nothing that
// this package reads.
type field struct {
	id     protowire.Number
	kind   protowire.Type
	bytes  []byte
	number uint64
}

// text returns the field as a string; the caller has checked isBytes.
func (f field) text() string { return string(f.bytes) }

func (f field) isBytes() bool  { return f.kind == protowire.BytesType }
func (f field) isVarint() bool { return f.kind == protowire.VarintType }

// eachField calls visit for every record of the message b, in file order.
func eachField(b []byte, visit func(field) error) error {
	for len(b) > 0 {
		f, n := consumeField(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// consumeField reads one record and returns the bytes it took, or a negative
// protowire code.
func consumeField(b []byte) (field, int) {
	id, kind, tagLen := protowire.ConsumeTag(b)
	if tagLen < 0 {
		return field{}, tagLen
	}
	f := field{id: id, kind: kind}
	var n int
	switch kind {
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b[tagLen:])
	case protowire.VarintType:
		f.number, n = protowire.ConsumeVarint(b[tagLen:])
	default:
		n = protowire.ConsumeFieldValue(id, kind, b[tagLen:])
	}
	if n < 0 {
		return field{}, n
	}
	return f, tagLen + n
}

// eachMessage calls visit with the sub-messages of b only. A known field with
// another wire type counts as unknown in every protobuf reader, so it is
// skipped.
func eachMessage(b []byte, visit func(id protowire.Number, message []byte) error) error {
	return eachField(b, func(f field) error {
		if !f.isBytes() {
			return nil
		}
		return visit(f.id, f.bytes)
	})
}
