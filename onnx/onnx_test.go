package onnx_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

const models = "../extractor/testdata" // made by make_models.py there

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	return must.Get(os.ReadFile(filepath.Join(models, name+".onnx")))(tb)
}

func parse(tb testing.TB, name string) *onnx.Model {
	tb.Helper()
	return must.Get(onnx.Parse(read(tb, name)))(tb)
}

func ExampleParse() {
	b, err := os.ReadFile(filepath.Join(models, "classifier.onnx"))
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := onnx.Parse(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(onnx.Names(m.Inputs), "→", onnx.Names(m.Outputs))
	fmt.Println(m.Penultimate())
	// Output:
	// input float32[?,3,4,4] → probabilities float32[?,2]
	// features <nil>
}

func TestParseReadsEverything(t *testing.T) {
	m := parse(t, "nchw")
	if m.IRVersion != 7 || m.Opset != 13 || m.Producer != "make_models" {
		t.Errorf("IR %d, opset %d, producer %q", m.IRVersion, m.Opset, m.Producer)
	}
	wantIn := []onnx.Value{{Name: "input", Elem: onnx.Float32, HasShape: true, Shape: []int64{onnx.Free, 3, 4, 4}}}
	if !reflect.DeepEqual(m.Inputs, wantIn) {
		t.Errorf("inputs %v", m.Inputs)
	}
	wantOut := []onnx.Value{{Name: "features", Elem: onnx.Float32, HasShape: true, Shape: []int64{onnx.Free, 4}}}
	if !reflect.DeepEqual(m.Outputs, wantOut) {
		t.Errorf("outputs %v", m.Outputs)
	}
	wantNode := onnx.Node{Op: "Conv", Inputs: []string{"input", "k"}, Outputs: []string{"map"}}
	if len(m.Nodes) != 3 || !reflect.DeepEqual(m.Nodes[0], wantNode) {
		t.Errorf("nodes %v", m.Nodes)
	}
	if got := m.Metadata[onnx.MetadataPreprocess]; got != `{"resize":"shorter","size":4,"crop":4}` {
		t.Errorf("metadata %q", got)
	}
	if got := parse(t, "half").Inputs[0].Elem; got != onnx.Float16 {
		t.Errorf("half input is %s", got)
	}
	if got := parse(t, "batch4").Inputs[0].Shape[0]; got != 4 {
		t.Errorf("fixed batch %d", got)
	}
}

func TestParseRefuses(t *testing.T) {
	whole := read(t, "nchw")
	cases := map[string]struct {
		bytes []byte
		want  error
		says  string
	}{
		"empty": {nil, onnx.ErrNotONNX, "empty"},
		"text":  {[]byte("hello, world\n"), onnx.ErrNotONNX, ""},
		"html":  {[]byte("\n<!DOCTYPE html><html>"), onnx.ErrNotONNX, "download"},
		"lfs": {[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:0"), onnx.ErrNotONNX,
			"git lfs pull"},
		"zip":       {[]byte("PK\x03\x04rest"), onnx.ErrNotONNX, "PyTorch"},
		"tflite":    {[]byte("\x1c\x00\x00\x00TFL3...."), onnx.ErrNotONNX, "TensorFlow"},
		"truncated": {whole[:len(whole)-5], onnx.ErrNotONNX, "truncated"},
		"half":      {whole[:len(whole)/2], onnx.ErrNotONNX, "truncated"},
		"external":  {read(t, "external"), onnx.ErrExternalData, "save_as_external_data=False"},
	}
	for name, c := range cases {
		_, err := onnx.Parse(c.bytes)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bytesField and the following functions build hostile files.
func bytesField(id protowire.Number, parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, id, protowire.BytesType), all)
}

func numberField(id protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, id, protowire.VarintType), v)
}

// TestExternalDataAnywhere hides an external tensor in every place where the
// format allows a tensor.
func TestExternalDataAnywhere(t *testing.T) {
	tensor := append(bytesField(8, []byte("hidden")), numberField(14, 1)...)
	bySlot := bytesField(13, bytesField(1, []byte("location")))
	sub := bytesField(5, tensor) // a graph with that initialiser
	attr := func(content []byte) []byte { return bytesField(1, bytesField(5, content)) }
	places := map[string][]byte{
		"initialiser":          bytesField(7, bytesField(5, tensor)),
		"external_data only":   bytesField(7, bytesField(5, bySlot)),
		"attribute":            bytesField(7, attr(bytesField(5, tensor))),
		"attribute list":       bytesField(7, attr(bytesField(10, tensor))),
		"sparse initialiser":   bytesField(7, bytesField(15, bytesField(1, tensor))),
		"sparse indices":       bytesField(7, bytesField(15, bytesField(2, tensor))),
		"sparse attribute":     bytesField(7, attr(bytesField(22, bytesField(1, tensor)))),
		"sub-graph":            bytesField(7, attr(bytesField(6, sub))),
		"sub-graph list":       bytesField(7, attr(bytesField(11, sub))),
		"sub-sub-graph":        bytesField(7, attr(bytesField(6, attr(bytesField(6, sub))))),
		"function":             bytesField(25, bytesField(7, bytesField(5, bytesField(5, tensor)))),
		"training":             bytesField(20, bytesField(1, sub)),
		"second part of graph": append(bytesField(7), bytesField(7, sub)...),
	}
	whole := read(t, "nchw")
	for name, extra := range places {
		b := append(append([]byte{}, whole...), extra...)
		if _, err := onnx.Parse(b); !errors.Is(err, onnx.ErrExternalData) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	graph := []byte{}
	for range 40 {
		graph = bytesField(1, bytesField(5, bytesField(6, graph)))
	}
	b := append(append([]byte{}, read(t, "nchw")...), bytesField(7, graph)...)
	if _, err := onnx.Parse(b); !errors.Is(err, onnx.ErrNotONNX) {
		t.Errorf("40 graphs inside each other: %v", err)
	}
}

func TestInitialisedInputsAreDropped(t *testing.T) {
	extra := bytesField(7, bytesField(11, bytesField(1, []byte("k")))) // k is a weight
	m, err := onnx.Parse(append(append([]byte{}, read(t, "nchw")...), extra...))
	if err != nil || len(m.Inputs) != 1 || m.Inputs[0].Name != "input" {
		t.Errorf("%v, %v", m, err)
	}
}

func TestPenultimate(t *testing.T) {
	for _, name := range []string{"classifier", "classifier_matmul"} {
		if got, err := parse(t, name).Penultimate(); got != "features" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"nchw", "two", "map"} {
		if got, err := parse(t, name).Penultimate(); !errors.Is(err, onnx.ErrNoPenultimate) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestPenultimateInACircle feeds a graph whose nodes feed each other.
func TestPenultimateInACircle(t *testing.T) {
	node := func(in, out string) []byte {
		return bytesField(1, bytesField(1, []byte(in)), bytesField(2, []byte(out)), bytesField(4, []byte("Identity")))
	}
	b := bytesField(7, node("a", "b"), node("b", "a"), bytesField(12, bytesField(1, []byte("a"))))
	m := must.Get(onnx.Parse(b))(t)
	if _, err := m.Penultimate(); !errors.Is(err, onnx.ErrNoPenultimate) {
		t.Error(err)
	}
}

func TestWithOutput(t *testing.T) {
	file := read(t, "classifier")
	m := must.Get(onnx.Parse(file))(t)
	b, name := must.Get2(m.WithOutput("features"))(t)
	again := must.Get(onnx.Parse(b))(t)
	if v, ok := again.Output(name); !ok || v.Elem != onnx.Float32 || len(again.Outputs) != 2 {
		t.Errorf("outputs %v", again.Outputs)
	}
	last := again.Nodes[len(again.Nodes)-1]
	if last.Op != "Cast" || last.Inputs[0] != "features" || last.Outputs[0] != name {
		t.Errorf("last node %v", last)
	}
	if _, second, err := again.WithOutput("features"); err != nil || second == name {
		t.Errorf("a second name for the same tensor: %q, %v", second, err)
	}
	same, name, err := m.WithOutput("probabilities")
	if err != nil || name != "probabilities" || &same[0] != &file[0] {
		t.Errorf("an existing float32 output: %q, %v", name, err)
	}
	if _, _, err := m.WithOutput("nothing"); err == nil || !strings.Contains(err.Error(), "probabilities") {
		t.Errorf("unknown tensor: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join(models, "*.onnx"))
	if err != nil || len(paths) == 0 {
		f.Fatal("no models", err)
	}
	for _, path := range paths {
		b := must.Get(os.ReadFile(path))(f)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := onnx.Parse(b)
		if err != nil {
			return
		}
		if tensor, err := m.Penultimate(); err == nil {
			roundTrip(t, m, tensor)
		}
		roundTrip(t, m, m.Outputs[0].Name)
	})
}

// roundTrip checks that the result of WithOutput is readable and has the
// output.
func roundTrip(t *testing.T, m *onnx.Model, tensor string) {
	b, name, err := m.WithOutput(tensor)
	if err != nil {
		return
	}
	again, err := onnx.Parse(b)
	if err != nil {
		t.Fatalf("with output %q: %v", tensor, err)
	}
	if _, ok := again.Output(name); !ok {
		t.Fatalf("output %q is missing", name)
	}
}
