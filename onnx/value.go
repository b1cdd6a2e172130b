package onnx

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// appendValue reads one ValueInfoProto.
func appendValue(values *[]Value, b []byte) error {
	if len(*values) >= maxValues {
		return fmt.Errorf("more than %d inputs or outputs", maxValues)
	}
	var v Value
	err := eachMessage(b, func(id protowire.Number, part []byte) error {
		switch id {
		case 1:
			v.Name = string(part)
		case 2:
			return v.readType(part)
		}
		return nil
	})
	*values = append(*values, v)
	return err
}

// readType reads a TypeProto; only its tensor_type (field 1) is supported.
func (v *Value) readType(b []byte) error {
	return eachMessage(b, func(id protowire.Number, tensor []byte) error {
		if id != 1 {
			return nil
		}
		return eachField(tensor, func(f field) error {
			switch {
			case f.id == 1 && f.isVarint():
				v.Elem = ElemType(int32(f.number))
			case f.id == 2 && f.isBytes():
				v.HasShape = true
				return v.readShape(f.bytes)
			}
			return nil
		})
	})
}

func (v *Value) readShape(b []byte) error {
	return eachMessage(b, func(id protowire.Number, dim []byte) error {
		if id != 1 {
			return nil
		}
		if len(v.Shape) >= maxRank {
			return fmt.Errorf("a shape of more than %d axes", maxRank)
		}
		size, err := readDim(dim)
		v.Shape = append(v.Shape, size)
		return err
	})
}

// readDim returns a fixed size, or Free for a named, missing or non-positive
// one (exporters write 0 and −1 for "any").
func readDim(b []byte) (int64, error) {
	size := Free
	err := eachField(b, func(f field) error {
		switch {
		case f.id == 1 && f.isVarint():
			size = int64(f.number)
		case f.id == 2:
			size = Free
		}
		return nil
	})
	if size <= 0 {
		size = Free
	}
	return size, err
}
