package onnx

import "fmt"

// WithOutput returns the model's bytes with one of its tensors readable as a
// float32 graph output, and the name of that output. A float32 output of the
// graph is returned as it is; another tensor, or an output of another type,
// gets an appended Cast to float32 (which runtimes drop if it does nothing), so
// that callers read one type only.
//
// The file is not rewritten: protobuf readers merge a repeated sub-message
// into the first, so a second graph that holds nothing but the new node and
// output is appended.
func (m *Model) WithOutput(tensor string) (model []byte, output string, err error) {
	if v, ok := m.Output(tensor); ok && v.Elem == Float32 {
		return m.raw, tensor, nil
	}
	if !m.HasTensor(tensor) {
		return nil, "", fmt.Errorf("model output %q: the graph computes no tensor of that name; its outputs are %s", tensor, Names(m.Outputs))
	}
	output = m.freshName("pipeline/" + tensor)
	var graph []byte
	graph = appendMessage(graph, graphNode, castNode(tensor, output))
	graph = appendMessage(graph, graphOutput, float32Value(output))
	model = make([]byte, len(m.raw), len(m.raw)+len(graph)+16)
	copy(model, m.raw)
	return appendMessage(model, modelGraph, graph), output, nil
}

// freshName adds quotes to name until no tensor has it.
func (m *Model) freshName(name string) string {
	for m.HasTensor(name) || m.constants[name] {
		name += "'"
	}
	return name
}

// castNode returns the NodeProto of output = Cast(input, to: float32).
func castNode(input, output string) []byte {
	var node []byte
	node = appendMessage(node, nodeInput, []byte(input))
	node = appendMessage(node, nodeOutput, []byte(output))
	node = appendMessage(node, nodeOp, []byte("Cast"))
	return appendMessage(node, nodeAttribute, Int("to", int64(Float32)))
}

// float32Value returns the ValueInfoProto of a float32 tensor of any shape.
func float32Value(name string) []byte {
	const valueName, valueType, typeTensor, tensorElem = 1, 2, 1, 1
	tensor := appendNumber(nil, tensorElem, uint64(Float32))
	value := appendMessage(nil, valueName, []byte(name))
	return appendMessage(value, valueType, appendMessage(nil, typeTensor, tensor))
}

// Names formats values for a message: name, type and shape of at most eight.
func Names(values []Value) string {
	const most = 8
	text := ""
	for i, v := range values {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(values)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += v.String()
	}
	if text == "" {
		return "none"
	}
	return text
}
