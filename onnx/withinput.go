package onnx

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// WithFloatInput returns the model with a float32 input in place of an input of bytes, and
// its name. The graph rounds what it is fed; everything else stays as it is.
func (m *Model) WithFloatInput(input Value) (*Model, string, error) {
	name := m.freshName("pipeline/" + input.Name)
	for slices.ContainsFunc(m.Inputs, func(v Value) bool { return v.Name == name }) {
		name += "'"
	}
	var g Graph
	rounded := m.freshName(name + "/rounded")
	g.node("Round", []string{name}, rounded, nil)
	g.node("Cast", []string{rounded}, input.Name, []Attribute{Int("to", int64(input.Elem))})
	g.Input(name, Float32, input.Shape...)
	// Operators stand before those that read them.
	first := appendMessage(nil, modelGraph, append(g.body, g.inputs...))
	out, err := m.filtered(first, func(id protowire.Number, part []byte) bool {
		return id != graphInput || valueName(part) != input.Name
	})
	if err != nil {
		return nil, "", fmt.Errorf("model input %q: %w", input.Name, err)
	}
	with, err := Parse(out)
	return with, name, err
}
