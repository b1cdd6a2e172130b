package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Versions of written graphs, readable by ONNX Runtime 1.15 and newer and by
// any tool that supports opset 17.
const (
	WriteIRVersion = 8
	WriteOpset     = 17
)

// A Graph is a graph under construction. Methods that make a tensor return its
// name, which other methods take as input. Use NewGraph to make one.
type Graph struct {
	prefix  string
	body    []byte // fields of GraphProto but inputs and outputs
	inputs  []byte
	outputs []byte
	names   int
}

// NewGraph returns an empty graph. The names of all its tensors except inputs
// and outputs begin with prefix.
func NewGraph(prefix string) *Graph { return &Graph{prefix: prefix} }

// An Attribute is a setting of a node, in wire format.
type Attribute []byte

// Field numbers and types of AttributeProto.
const (
	attrName, attrInt, attrInts, attrType = 1, 3, 8, 20
	typeInt, typeInts                     = 2, 7
)

// Int returns an integer attribute.
func Int(name string, v int64) Attribute {
	a := appendMessage(nil, attrName, []byte(name))
	a = appendNumber(a, attrInt, uint64(v))
	return appendNumber(a, attrType, typeInt)
}

// Ints returns an attribute with a list of integers.
func Ints(name string, v ...int64) Attribute {
	a := appendMessage(nil, attrName, []byte(name))
	for _, n := range v {
		a = appendNumber(a, attrInts, uint64(n))
	}
	return appendNumber(a, attrType, typeInts)
}

// Input declares an input of the graph; Free axes may have any size.
func (g *Graph) Input(name string, elem ElemType, shape ...int64) string {
	g.inputs = appendMessage(g.inputs, graphInput, valueInfo(name, elem, shape))
	return name
}

// Output makes a tensor an output of the graph under the given name.
func (g *Graph) Output(name, tensor string, elem ElemType, shape ...int64) {
	g.node("Identity", []string{tensor}, name, nil)
	g.outputs = appendMessage(g.outputs, graphOutput, valueInfo(name, elem, shape))
}

// Node adds an operator of ONNX's own set with one output.
func (g *Graph) Node(op string, inputs []string, attributes ...Attribute) string {
	out := g.fresh(op)
	g.node(op, inputs, out, attributes)
	return out
}

// Op is Node without attributes.
func (g *Graph) Op(op string, inputs ...string) string { return g.Node(op, inputs) }

// Cast converts a tensor to another element type.
func (g *Graph) Cast(tensor string, to ElemType) string {
	return g.Node("Cast", []string{tensor}, Int("to", int64(to)))
}

func (g *Graph) node(op string, inputs []string, output string, attributes []Attribute) {
	const nodeName = 3
	var n []byte
	for _, in := range inputs {
		n = appendMessage(n, nodeInput, []byte(in))
	}
	n = appendMessage(n, nodeOutput, []byte(output))
	n = appendMessage(n, nodeName, []byte(g.prefix+"node:"+output))
	n = appendMessage(n, nodeOp, []byte(op))
	for _, a := range attributes {
		n = appendMessage(n, nodeAttribute, a)
	}
	g.body = appendMessage(g.body, graphNode, n)
}

func (g *Graph) fresh(what string) string {
	g.names++
	return fmt.Sprintf("%s%s_%d", g.prefix, what, g.names)
}

// Float32s adds a constant (row-major).
func (g *Graph) Float32s(data []float32, shape ...int) string {
	return g.constant(Float32, data, shape)
}

// Float64s adds a constant (row-major).
func (g *Graph) Float64s(data []float64, shape ...int) string {
	return g.constant(Float64, data, shape)
}

// Scalar adds a float64 constant without axes.
func (g *Graph) Scalar(v float64) string { return g.Float64s([]float64{v}) }

// Int64s adds a constant vector, such as a shape or a list of axes.
func (g *Graph) Int64s(v ...int64) string { return g.constant(Int64, v, []int{len(v)}) }

// constant adds a slice of numbers.
func (g *Graph) constant(elem ElemType, data any, shape []int) string {
	const tensorDims, tensorType, tensorRaw = 1, 2, 9
	name := g.fresh("constant")
	var t []byte
	for _, n := range shape {
		t = appendNumber(t, tensorDims, uint64(n))
	}
	t = appendNumber(t, tensorType, uint64(elem))
	t = appendMessage(t, tensorName, []byte(name))
	raw, _ := binary.Append(nil, binary.LittleEndian, data) // slices of numbers always encode
	g.body = appendMessage(g.body, graphInitializer, appendMessage(t, tensorRaw, raw))
	return name
}

// Model returns the graph as the bytes of a .onnx file. Metadata is written in
// key order.
func (g *Graph) Model(producer string, metadata map[string]string) ([]byte, error) {
	graph := append([]byte(nil), g.body...)
	graph = appendMessage(graph, 2, []byte("head")) // GraphProto.name
	graph = append(append(graph, g.inputs...), g.outputs...)
	return wrap(graph, WriteIRVersion, appendMessage(nil, modelOpset, appendNumber(nil, 2, WriteOpset)), producer,
		metadata)
}

// maxModel is the largest message that protobuf readers accept.
const maxModel = math.MaxInt32

// wrap wraps a GraphProto in a ModelProto.
func wrap(graph []byte, ir int64, opsets []byte, producer string, metadata map[string]string) ([]byte, error) {
	if len(graph) > maxModel-1<<20 {
		return nil, fmt.Errorf("the model takes %.1f GB, an ONNX file at most 2", float64(len(graph))/1e9)
	}
	m := appendNumber(nil, modelIRVersion, uint64(ir))
	m = appendMessage(m, modelProducer, []byte(producer))
	m = append(m, opsets...)
	m = appendMetadata(m, metadata)
	return appendMessage(m, modelGraph, graph), nil
}

// valueInfo returns the ValueInfoProto of a tensor of a shape, or of any shape if
// it is nil. A free first axis is called batch.
func valueInfo(name string, elem ElemType, shape []int64) []byte {
	const valueName, valueType, typeTensor, tensorElem, tensorShape, shapeDim, dimValue, dimParam = 1, 2, 1, 1, 2, 1, 1,
		2
	var dims []byte
	for i, n := range shape {
		var dim []byte
		switch {
		case n != Free:
			dim = appendNumber(nil, dimValue, uint64(n))
		case i == 0:
			dim = appendMessage(nil, dimParam, []byte("batch"))
		}
		dims = appendMessage(dims, shapeDim, dim)
	}
	tensor := appendNumber(nil, tensorElem, uint64(elem))
	if shape != nil {
		tensor = appendMessage(tensor, tensorShape, dims)
	}
	value := appendMessage(nil, valueName, []byte(name))
	return appendMessage(value, valueType, appendMessage(nil, typeTensor, tensor))
}

func appendMessage(b []byte, id protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, id, protowire.BytesType), message)
}

func appendNumber(b []byte, id protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, id, protowire.VarintType), v)
}
