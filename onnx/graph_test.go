package onnx_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

func ExampleGraph() {
	g := onnx.NewGraph("")
	x := g.Input("x", onnx.Float32, onnx.Free, 2)
	g.Output("y", g.Op("MatMul", x, g.Float32s([]float32{1, 2}, 2, 1)), onnx.Float32, onnx.Free, 1)
	file, err := g.Model("example", map[string]string{"who": "me"})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := onnx.Parse(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(onnx.Names(m.Inputs), "→", onnx.Names(m.Outputs))
	fmt.Println(len(m.Nodes), "nodes, opset", m.Opset, m.Metadata)
	// Output:
	// x float32[?,2] → y float32[?,1]
	// 2 nodes, opset 17 map[who:me]
}

func TestExtend(t *testing.T) {
	m := parse(t, "nchw")
	g := onnx.NewGraph(m.FreshPrefix("head/"))
	g.Output("twice", g.Op("Add", "features", "features"), onnx.Float32, onnx.Free, 4)
	file := must.Get(m.Extend(g, "test", map[string]string{"more": "1", onnx.MetadataPreprocess: "changed"}))(t)
	joined := must.Get(onnx.Parse(file))(t)
	if onnx.Names(joined.Inputs) != onnx.Names(m.Inputs) || onnx.Names(joined.Outputs) != "twice float32[?,4]" {
		t.Errorf("%s → %s", onnx.Names(joined.Inputs), onnx.Names(joined.Outputs))
	}
	if len(joined.Nodes) != len(m.Nodes)+2 || joined.Opset != m.Opset || joined.IRVersion != onnx.WriteIRVersion ||
		joined.Producer != "test" {
		t.Errorf("%d nodes, opset %d, IR %d", len(joined.Nodes), joined.Opset, joined.IRVersion)
	}
	if joined.Metadata["more"] != "1" || joined.Metadata[onnx.MetadataPreprocess] != "changed" {
		t.Errorf("metadata %q", joined.Metadata)
	}
}

func TestFreshPrefix(t *testing.T) {
	m := parse(t, "nchw")
	if got := m.FreshPrefix("feat"); got != "feat'" {
		t.Errorf("a prefix that the model has: %q", got)
	}
	if got := m.FreshPrefix("head/"); got != "head/" {
		t.Errorf("a prefix that it has not: %q", got)
	}
}

func TestExtendRefusesOldOperators(t *testing.T) {
	opset := numberField(2, 11)
	file := append(append([]byte{}, read(t, "nchw")...),
		protowire.AppendBytes(protowire.AppendTag(nil, 8, protowire.BytesType), opset)...)
	m := must.Get(onnx.Parse(file))(t)
	if _, err := m.Extend(onnx.NewGraph("x"), "", nil); err == nil || !strings.Contains(err.Error(), "opset 11") {
		t.Error(err)
	}
}
