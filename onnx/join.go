package onnx

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// leastOpset is the oldest operator set in which the operators used by heads
// mean the same as in WriteOpset.
const leastOpset = 13

// FreshPrefix returns a prefix that no name in the model has, for the graph
// that Extend appends.
func (m *Model) FreshPrefix(prefix string) string {
	for bytes.Contains(m.raw, []byte(prefix)) {
		prefix += "'"
	}
	return prefix
}

// Extend returns the model with g appended: g's nodes may read the tensors of
// the model by name, and its outputs replace the model's; it must have no
// inputs. The prefix of g must be fresh. Operators whose results are no longer
// read stay in the file; runtimes drop them when loading. Metadata replaces
// entries with the same key.
func (m *Model) Extend(g *Graph, producer string, metadata map[string]string) ([]byte, error) {
	if m.Opset < leastOpset {
		return nil, fmt.Errorf("the backbone uses opset %d, joining needs %d or newer: export it again with opset %d",
			m.Opset, leastOpset, WriteOpset)
	}
	graph, rest, err := m.takeApart()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(m.Metadata)
	maps.Copy(all, metadata)
	return wrap(append(append(graph, g.body...), g.outputs...), max(m.IRVersion, WriteIRVersion), rest, producer, all)
}

// takeApart returns the GraphProto without its outputs, and the remaining
// fields of the ModelProto: operator sets and functions.
func (m *Model) takeApart() (graph, rest []byte, err error) {
	err = eachMessage(m.raw, func(id protowire.Number, part []byte) error {
		switch id {
		case modelOpset, modelFunction:
			rest = appendMessage(rest, id, part)
		case modelGraph:
			return eachField(part, func(f field) error {
				if f.isBytes() && f.id != graphOutput {
					graph = appendMessage(graph, f.id, f.bytes)
				}
				return nil
			})
		}
		return nil
	})
	return graph, rest, err
}

// appendMetadata writes metadata_props.
func appendMetadata(b []byte, metadata map[string]string) []byte {
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		entry := appendMessage(nil, 1, []byte(key))
		b = appendMessage(b, modelMetadata, appendMessage(entry, 2, []byte(metadata[key])))
	}
	return b
}
