package onnx

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// WithFront returns the model with a graph in front of an input: the graph's inputs take its place, and
// the tensor of the graph feeds what read it. The prefix of g must be fresh.
func (m *Model) WithFront(input Value, g *Graph, tensor string) (*Model, error) {
	g.node("Identity", []string{tensor}, input.Name, nil)
	// Operators stand before those that read them.
	out, err := m.filtered(appendMessage(nil, modelGraph, append(g.body, g.inputs...)),
		func(id protowire.Number, part []byte) bool { return id != graphInput || valueName(part) != input.Name })
	if err != nil {
		return nil, fmt.Errorf("model input %q: %w", input.Name, err)
	}
	return Parse(out)
}
