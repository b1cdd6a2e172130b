package onnx

import (
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// InputRange returns the largest value that an image input is meant to have, 1 or 255, if
// the graph normalises it: its first operators subtract means or divide by deviations. 0
// means that they do not.
func (m *Model) InputRange(input string) float64 {
	scale, shift, steps := 1.0, 0.0, 0
	for tensor := input; steps < maxDepth; steps++ {
		n, ok := m.onlyReader(tensor)
		if !ok {
			break
		}
		switch n.Op {
		case "Identity", "Cast", "Transpose":
			tensor = n.Outputs[0]
			continue
		}
		by, ok := m.operand(n, tensor)
		if !ok {
			break
		}
		switch n.Op {
		case "Add":
			shift += by
		case "Sub":
			shift -= by
		case "Mul":
			scale, shift = scale*by, shift*by
		case "Div":
			scale, shift = scale/by, shift/by
		}
		tensor = n.Outputs[0]
	}
	return rangeOf(math.Abs(scale), math.Abs(shift))
}

// rangeOf judges x·scale + shift: a network wants values that spread over one to five
// units. Where only a mean is subtracted, it lies within the range.
func rangeOf(scale, shift float64) float64 {
	const least, most = 0.5, 20
	for _, high := range []float64{1, 255} {
		if spread := scale * high; scale != 1 && spread >= least && spread <= most {
			return high
		}
	}
	switch {
	case scale != 1 || shift == 0:
		return 0
	case shift <= 1:
		return 1
	}
	return 255
}

// onlyReader returns the operator that reads a tensor, if there is one besides those that
// look at its shape.
func (m *Model) onlyReader(tensor string) (n Node, ok bool) {
	for _, other := range m.Nodes {
		if !slices.Contains(other.Inputs, tensor) || other.Op == "Shape" {
			continue
		}
		if ok || len(other.Outputs) == 0 || !isONNXDomain(other.Domain) {
			return Node{}, false
		}
		n, ok = other, true
	}
	return n, ok
}

// operand returns the mean of the constant with which an arithmetic operator changes a
// tensor, of one value or one for each colour. Subtraction from a constant, and division of
// one, are not among them.
func (m *Model) operand(n Node, tensor string) (float64, bool) {
	commutes := n.Op == "Add" || n.Op == "Mul"
	if !commutes && n.Op != "Sub" && n.Op != "Div" || len(n.Inputs) != 2 {
		return 0, false
	}
	other := n.Inputs[1]
	if other == tensor {
		other = n.Inputs[0]
		if !commutes {
			return 0, false
		}
	}
	values := m.smallConstant(other)
	if len(values) != 1 && len(values) != 3 {
		return 0, false
	}
	var sum float64
	for _, v := range values {
		sum += v
	}
	mean := sum / float64(len(values))
	return mean, !math.IsNaN(mean) && !math.IsInf(mean, 0) && (mean != 0 || n.Op != "Div")
}

// smallConstant returns the values of a constant of floating-point numbers, at most three;
// nil for any other tensor.
func (m *Model) smallConstant(name string) (values []float64) {
	_ = eachMessage(m.raw, func(id protowire.Number, graph []byte) error { // it has been parsed
		if id != modelGraph {
			return nil
		}
		return eachMessage(graph, func(id protowire.Number, part []byte) error {
			switch id {
			case graphInitializer:
				if nameOfTensor(part) == name {
					values = smallFloats(part)
				}
			case graphNode:
				if t := constantNode(part, name); t != nil {
					values = smallFloats(t)
				}
			}
			return nil
		})
	})
	return values
}

func nameOfTensor(b []byte) (name string) {
	_ = eachMessage(b, func(id protowire.Number, part []byte) error {
		if id == tensorName {
			name = string(part)
		}
		return nil
	})
	return name
}

// constantNode returns the tensor of an operator Constant whose output has the name.
func constantNode(node []byte, name string) (tensor []byte) {
	var op, output string
	_ = eachMessage(node, func(id protowire.Number, part []byte) error {
		switch id {
		case nodeOp:
			op = string(part)
		case nodeOutput:
			output = string(part)
		case nodeAttribute:
			return eachMessage(part, func(id protowire.Number, t []byte) error {
				if id == attrTensor {
					tensor = t
				}
				return nil
			})
		}
		return nil
	})
	if op != "Constant" || output != name {
		return nil
	}
	return tensor
}

// smallFloats reads a TensorProto of at most three numbers of floating point.
func smallFloats(tensor []byte) (values []float64) {
	const typeField, floats, raw, doubles, most = 2, 4, 9, 10, 3
	elem := Undefined
	var packed []byte
	_ = eachField(tensor, func(f field) error {
		switch {
		case f.id == typeField && f.isVarint():
			elem = ElemType(int32(f.number))
		case f.isBytes() && (f.id == floats || f.id == raw || f.id == doubles):
			packed = f.bytes
		}
		return nil
	})
	size := map[ElemType]int{Float32: 4, Float64: 8, Float16: 2}[elem]
	if size == 0 || len(packed) > most*size {
		return nil
	}
	for ; len(packed) >= size; packed = packed[size:] {
		switch elem {
		case Float32:
			values = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(packed))))
		case Float64:
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(packed)))
		default:
			values = append(values, halfValue(binary.LittleEndian.Uint16(packed)))
		}
	}
	return values
}

// halfValue decodes IEEE 754 binary16.
func halfValue(b uint16) float64 {
	exponent, fraction := int(b>>10&31), float64(b&0x3ff)
	v := math.Ldexp(1024+fraction, exponent-25)
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		v = math.Inf(1)
	}
	if b>>15 != 0 {
		return -v
	}
	return v
}
