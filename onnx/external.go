package onnx

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// The scan functions look for tensors stored outside the file wherever a
// TensorProto may occur: initialisers, attributes, graphs inside attributes
// (If, Loop, Scan), functions and training graphs.

// scanTensor returns the tensor's name and records an external one.
func (m *Model) scanTensor(b []byte) (string, error) {
	var name string
	external := false
	err := eachField(b, func(f field) error {
		switch {
		case f.id == tensorName && f.isBytes():
			name = f.text()
		case f.id == tensorExternal && f.isBytes():
			external = true
		case f.id == tensorLocation && f.isVarint() && f.number == locationExternal:
			external = true
		}
		return nil
	})
	if external && m.externalRef == "" {
		m.externalRef = name
		if name == "" {
			m.externalRef = "(unnamed)"
		}
	}
	return name, err
}

// scanSparse visits values and indices of a SparseTensorProto.
func (m *Model) scanSparse(b []byte) error {
	return eachMessage(b, func(id protowire.Number, part []byte) error {
		if id != 1 && id != 2 {
			return nil
		}
		_, err := m.scanTensor(part)
		return err
	})
}

func (m *Model) scanAttribute(b []byte, depth int) error {
	return eachMessage(b, func(id protowire.Number, part []byte) error {
		switch id {
		case attrTensor, attrTensors:
			_, err := m.scanTensor(part)
			return err
		case attrSparse, attrSparses:
			return m.scanSparse(part)
		case attrGraph, attrGraphs:
			return m.scanGraph(part, depth+1)
		}
		return nil
	})
}

// scanGraph scans a nested graph for external tensors only.
func (m *Model) scanGraph(b []byte, depth int) error {
	if depth > maxDepth {
		return errors.New("graphs nested too deeply")
	}
	return eachMessage(b, func(id protowire.Number, part []byte) error {
		switch id {
		case graphNode:
			return m.scanNode(part, depth)
		case graphInitializer:
			_, err := m.scanTensor(part)
			return err
		case graphSparse:
			return m.scanSparse(part)
		}
		return nil
	})
}

func (m *Model) scanNode(b []byte, depth int) error {
	return eachMessage(b, func(id protowire.Number, part []byte) error {
		if id != nodeAttribute {
			return nil
		}
		return m.scanAttribute(part, depth)
	})
}

func (m *Model) scanFunction(b []byte) error {
	return eachMessage(b, func(id protowire.Number, part []byte) error {
		switch id {
		case functionNode:
			return m.scanNode(part, 0)
		case functionAttribute:
			return m.scanAttribute(part, 0)
		}
		return nil
	})
}
