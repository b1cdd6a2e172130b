package onnx

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// WithOutput returns the model's bytes with one of its tensors readable as a
// float32 graph output, and the name of that output. A float32 output of the
// graph is returned as it is; another tensor, or an output of another type,
// gets an appended Cast to float32 (which runtimes drop if it does nothing), so
// that callers read one type only. An output that states a number of rows loses its shape:
// exporters may have left that of their example there, and runtimes insist on it.
//
// The file is not rewritten: protobuf readers merge a repeated sub-message
// into the first, so a second graph that holds nothing but the new node and
// output is appended.
func (m *Model) WithOutput(tensor string) (model []byte, output string, err error) {
	switch v, ok := m.Output(tensor); {
	case ok && v.Elem == Float32 && len(v.Shape) > 0 && v.Shape[0] != Free:
		model, err = m.filtered(nil, func(id protowire.Number, part []byte) bool {
			return id != graphOutput || valueName(part) != tensor
		})
		graph := appendMessage(nil, graphOutput, valueInfo(tensor, Float32, nil))
		return appendMessage(model, modelGraph, graph), tensor, err
	case ok && v.Elem == Float32:
		return m.raw, tensor, nil
	}
	if !m.HasTensor(tensor) {
		return nil, "", fmt.Errorf("model output %q: the graph computes no tensor of that name; its outputs are %s",
			tensor, Names(m.Outputs))
	}
	output = m.freshName("pipeline/" + tensor)
	var g Graph
	g.node("Cast", []string{tensor}, output, []Attribute{Int("to", int64(Float32))})
	graph := appendMessage(g.body, graphOutput, valueInfo(output, Float32, nil))
	return slices.Concat(m.raw, appendMessage(nil, modelGraph, graph)), output, nil
}

// freshName adds quotes to name until no tensor has it.
func (m *Model) freshName(name string) string {
	for m.HasTensor(name) || m.constants[name] {
		name += "'"
	}
	return name
}

// Names formats values for a message: name, type and shape of at most eight.
func Names(values []Value) string {
	const most = 8
	if len(values) == 0 {
		return "none"
	}
	var texts []string
	for _, v := range values[:min(most, len(values))] {
		texts = append(texts, v.String())
	}
	text := strings.Join(texts, ", ")
	if more := len(values) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
