package onnx

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Needs returns the inputs from which a tensor is computed, in file order. An operator
// with graphs inside it may use any tensor, so it needs all inputs.
func (m *Model) Needs(tensor string) []Value {
	_, inputs := m.needed(tensor)
	return slices.DeleteFunc(slices.Clone(m.Inputs), func(v Value) bool { return !inputs[v.Name] })
}

// needed returns the nodes and the names from which a tensor is computed.
func (m *Model) needed(tensor string) (nodes map[int]bool, names map[string]bool) {
	nodes, names = map[int]bool{}, map[string]bool{}
	open := []string{tensor}
	for len(open) > 0 {
		name := open[len(open)-1]
		open = open[:len(open)-1]
		i, computed := m.producer[name]
		if names[name] = true; !computed || nodes[i] {
			continue
		}
		nodes[i] = true
		switch n := m.Nodes[i]; n.Op {
		case "If", "Loop", "Scan", "SequenceMap":
			for _, v := range m.Inputs {
				names[v.Name] = true
			}
			for i, n := range m.Nodes {
				nodes[i] = true
				open = append(open, n.Inputs...)
			}
		default:
			open = append(open, n.Inputs...)
		}
	}
	return nodes, names
}

// Part returns the model of what a tensor needs: without the inputs, operators and
// outputs that it does without, as a text encoder beside an image encoder. The tensor is
// its output.
func (m *Model) Part(tensor string) (*Model, error) {
	if _, ok := m.Output(tensor); !ok {
		return nil, fmt.Errorf("model output %q: there is none of that name; the outputs are %s",
			tensor, Names(m.Outputs))
	}
	nodes, names := m.needed(tensor)
	node := 0
	keep := func(id protowire.Number, part []byte) bool {
		switch id {
		case graphNode:
			node++
			return nodes[node-1]
		case graphInput:
			name := valueName(part)
			return names[name] || m.constants[name]
		case graphOutput:
			return valueName(part) == tensor
		}
		return true
	}
	out, err := m.filtered(nil, keep)
	if err != nil {
		return nil, err
	}
	return Parse(out)
}

// filtered appends the model to out, without the parts of its graph that are not kept.
func (m *Model) filtered(out []byte, keep func(id protowire.Number, part []byte) bool) ([]byte, error) {
	err := eachRecord(m.raw, func(f field, record []byte) error {
		if f.id != modelGraph || !f.isBytes() {
			out = append(out, record...)
			return nil
		}
		var graph []byte
		err := eachRecord(f.bytes, func(part field, record []byte) error {
			if !part.isBytes() || keep(part.id, part.bytes) {
				graph = append(graph, record...)
			}
			return nil
		})
		out = appendMessage(out, modelGraph, graph)
		return err
	})
	return out, err
}

// eachRecord is eachField with the bytes of the whole record.
func eachRecord(b []byte, visit func(f field, record []byte) error) error {
	for len(b) > 0 {
		f, n := consumeField(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := visit(f, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func valueName(b []byte) (name string) {
	_ = eachMessage(b, func(id protowire.Number, part []byte) error { // it has been parsed
		if id == 1 {
			name = string(part)
		}
		return nil
	})
	return name
}
