package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Sentinel errors of Parse.
var (
	// ErrNotONNX reports data that is not an ONNX model, or a damaged one.
	ErrNotONNX = errors.New("not an ONNX model")
	// ErrExternalData reports a model whose weights are in other files.
	ErrExternalData = errors.New("weights outside the file")
)

// Limits on what a file may declare. They are far above any real backbone and
// keep small hostile files from using much memory.
const (
	maxNodes  = 1 << 18
	maxValues = 1 << 18
	maxRank   = 32
	maxDepth  = 16 // of graphs inside attributes of nodes
)

// Field numbers of onnx.proto3.
const (
	modelIRVersion, modelProducer, modelGraph, modelOpset    = 1, 2, 7, 8
	modelMetadata, modelTraining, modelFunction              = 14, 20, 25
	graphNode, graphInitializer, graphInput, graphOutput     = 1, 5, 11, 12
	graphSparse                                              = 15
	nodeInput, nodeOutput, nodeOp, nodeAttribute, nodeDomain = 1, 2, 4, 5, 7
	tensorName, tensorExternal, tensorLocation               = 8, 13, 14
	attrTensor, attrGraph, attrTensors, attrGraphs           = 5, 6, 10, 11
	attrSparse, attrSparses                                  = 22, 23
	functionNode, functionAttribute                          = 7, 11
	locationExternal                                         = 1
)

// Parse reads a model. It retains b, which must not change afterwards. Time and
// memory are proportional to the number of nodes; weights are skipped. Errors
// wrap ErrNotONNX or ErrExternalData.
func Parse(b []byte) (*Model, error) {
	if kind := foreignFormat(b); kind != "" {
		return nil, fmt.Errorf("%w: %s", ErrNotONNX, kind)
	}
	m := &Model{raw: b, constants: map[string]bool{}, producer: map[string]int{}, Metadata: map[string]string{}}
	if err := m.readModel(b); err != nil {
		return nil, fmt.Errorf("%w: damaged, truncated or another format (%w): download or export the file again",
			ErrNotONNX, err)
	}
	if !m.hasGraph || len(m.Outputs) == 0 {
		return nil, fmt.Errorf("%w: no graph with an output in it", ErrNotONNX)
	}
	if m.externalRef != "" {
		return nil, fmt.Errorf("%w: tensor %q is stored in another file, which may be any path on this machine and is "+
			"refused: save the model as one file, in Python onnx.save(onnx.load(path), path, "+
			"save_as_external_data=False)", ErrExternalData, m.externalRef)
	}
	m.dropInitialisedInputs()
	return m, nil
}

// foreignFormat recognises common files that are mistaken for a model.
func foreignFormat(b []byte) string {
	switch {
	case len(b) == 0:
		return "the file is empty"
	case bytes.HasPrefix(b, []byte("version https://git-lfs")):
		return "this is a Git LFS pointer, not the model: fetch it with `git lfs pull`"
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return "this is a zip archive, perhaps a PyTorch .pt checkpoint: export it to ONNX first"
	case bytes.HasPrefix(bytes.TrimSpace(b[:min(len(b), 64)]), []byte("<")):
		return "this is a web page or XML, probably a failed download"
	case len(b) >= 8 && string(b[4:8]) == "TFL3":
		return "this is a TensorFlow Lite model: export to ONNX"
	case len(b) >= 8 && string(b[4:8]) == "ORTM":
		return "this is a model in ORT format: use the .onnx it was made from"
	}
	return ""
}

func (m *Model) readModel(b []byte) error {
	return eachField(b, func(f field) error {
		switch {
		case f.id == modelIRVersion && f.isVarint():
			m.IRVersion = int64(f.number)
		case f.isBytes():
			return m.readModelPart(f)
		}
		return nil
	})
}

func (m *Model) readModelPart(f field) error {
	switch f.id {
	case modelProducer:
		m.Producer = f.text()
	case modelGraph:
		// A repeated sub-message is merged by protobuf readers; visiting each
		// part in turn gives the same.
		m.hasGraph = true
		return m.readGraph(f.bytes)
	case modelOpset:
		return m.readOpset(f.bytes)
	case modelMetadata:
		return m.readMetadata(f.bytes)
	case modelTraining:
		return eachMessage(f.bytes, func(_ protowire.Number, graph []byte) error { return m.scanGraph(graph, 0) })
	case modelFunction:
		return m.scanFunction(f.bytes)
	}
	return nil
}

func (m *Model) readOpset(b []byte) error {
	var domain string
	var version int64
	err := eachField(b, func(f field) error {
		switch {
		case f.id == 1 && f.isBytes():
			domain = f.text()
		case f.id == 2 && f.isVarint():
			version = int64(f.number)
		}
		return nil
	})
	if isONNXDomain(domain) {
		m.Opset = version
	}
	return err
}

func isONNXDomain(domain string) bool { return domain == "" || domain == "ai.onnx" }

func (m *Model) readMetadata(b []byte) error {
	if len(m.Metadata) >= maxValues {
		return errors.New("too many metadata entries")
	}
	var key, value string
	err := eachMessage(b, func(id protowire.Number, text []byte) error {
		switch id {
		case 1:
			key = string(text)
		case 2:
			value = string(text)
		}
		return nil
	})
	m.Metadata[key] = value
	return err
}

func (m *Model) readGraph(b []byte) error {
	return eachMessage(b, func(id protowire.Number, part []byte) error {
		switch id {
		case graphNode:
			return m.readNode(part)
		case graphInitializer:
			return m.readInitializer(part)
		case graphInput:
			return appendValue(&m.Inputs, part)
		case graphOutput:
			return appendValue(&m.Outputs, part)
		case graphSparse:
			return m.scanSparse(part)
		}
		return nil
	})
}

func (m *Model) readNode(b []byte) error {
	if len(m.Nodes) >= maxNodes {
		return fmt.Errorf("more than %d nodes", maxNodes)
	}
	var n Node
	err := eachMessage(b, func(id protowire.Number, part []byte) error {
		switch id {
		case nodeInput:
			n.Inputs = append(n.Inputs, string(part))
		case nodeOutput:
			n.Outputs = append(n.Outputs, string(part))
		case nodeOp:
			n.Op = string(part)
		case nodeDomain:
			n.Domain = string(part)
		case nodeAttribute:
			return m.scanAttribute(part, 0)
		}
		if len(n.Inputs)+len(n.Outputs) > maxValues {
			return errors.New("a node with too many inputs or outputs")
		}
		return nil
	})
	for _, out := range n.Outputs {
		m.producer[out] = len(m.Nodes)
	}
	m.Nodes = append(m.Nodes, n)
	return err
}

func (m *Model) readInitializer(b []byte) error {
	if len(m.constants) >= maxValues {
		return fmt.Errorf("more than %d initialisers", maxValues)
	}
	name, err := m.scanTensor(b)
	m.constants[name] = true
	return err
}

// dropInitialisedInputs removes the weights that files before IR version 4 list
// as inputs.
func (m *Model) dropInitialisedInputs() {
	m.Inputs = slices.DeleteFunc(m.Inputs, func(v Value) bool { return m.constants[v.Name] })
}
