package onnx

import (
	"fmt"
	"strings"
)

// MetadataPreprocess is the metadata key under which export scripts store the
// JSON of the preprocess.Spec that the backbone was trained with.
const MetadataPreprocess = "pipeline.preprocess"

// An ElemType is the element type of a tensor, numbered as in
// TensorProto.DataType.
type ElemType int32

// The element types that the pipeline knows by name.
const (
	Undefined ElemType = 0
	Float32   ElemType = 1
	Uint8     ElemType = 2
	Int8      ElemType = 3
	Int32     ElemType = 6
	Int64     ElemType = 7
	Text      ElemType = 8
	Bool      ElemType = 9
	Float16   ElemType = 10
	Float64   ElemType = 11
	BFloat16  ElemType = 16
)

// String returns the name used by ONNX tools.
func (t ElemType) String() string {
	switch t {
	case Undefined:
		return "undefined"
	case Float32:
		return "float32"
	case Uint8:
		return "uint8"
	case Int8:
		return "int8"
	case Int32:
		return "int32"
	case Int64:
		return "int64"
	case Text:
		return "string"
	case Bool:
		return "bool"
	case Float16:
		return "float16"
	case Float64:
		return "float64"
	case BFloat16:
		return "bfloat16"
	}
	return fmt.Sprintf("element type %d", int32(t))
}

// IsFloat reports whether the pipeline can feed or read this type: float32 or
// float16.
func (t ElemType) IsFloat() bool { return t == Float32 || t == Float16 }

// Free marks a dimension that the model leaves open.
const Free int64 = -1

// A Value is an input or output of the graph.
type Value struct {
	Name string
	// Elem is Undefined for values that are not tensors or carry no type.
	Elem ElemType
	// HasShape is false when the file states no shape at all.
	HasShape bool
	// Shape has one entry per axis, Free where the model leaves it open.
	Shape []int64
}

// String prints name, type and shape, free axes as "?".
func (v Value) String() string {
	if !v.HasShape {
		return fmt.Sprintf("%s %s, no declared shape", v.Name, v.Elem)
	}
	axes := make([]string, len(v.Shape))
	for i, n := range v.Shape {
		axes[i] = "?"
		if n != Free {
			axes[i] = fmt.Sprint(n)
		}
	}
	return fmt.Sprintf("%s %s[%s]", v.Name, v.Elem, strings.Join(axes, ","))
}

// A Node is one operator of the main graph.
type Node struct {
	Op      string
	Domain  string // "" is ONNX's own
	Inputs  []string
	Outputs []string
}

// A Model describes a parsed file. It is read-only and safe for concurrent use.
type Model struct {
	// IRVersion is the version of the file format.
	IRVersion int64
	// Opset is the version of ONNX's own operator set, 0 when not stated.
	Opset int64
	// Producer names the tool that wrote the file.
	Producer string
	// Inputs omits those that have an initial value in the file.
	Inputs []Value
	// Outputs are in file order.
	Outputs []Value
	// Nodes are those of the main graph.
	Nodes []Node
	// Metadata holds metadata_props; a repeated key keeps its last value.
	Metadata map[string]string

	raw         []byte
	constants   map[string]bool // names of initialisers
	producer    map[string]int  // tensor → index in Nodes
	hasGraph    bool
	externalRef string // first tensor stored outside the file
}

// Output returns the graph output of that name.
func (m *Model) Output(name string) (Value, bool) {
	for _, v := range m.Outputs {
		if v.Name == name {
			return v, true
		}
	}
	return Value{}, false
}

// HasWeight reports whether a weight of the main graph has a name that is accepted.
func (m *Model) HasWeight(accepted func(name string) bool) bool {
	for name := range m.constants {
		if accepted(name) {
			return true
		}
	}
	return false
}

// HasTensor reports whether the main graph computes a tensor of that name.
func (m *Model) HasTensor(name string) bool {
	_, ok := m.producer[name]
	return ok
}
