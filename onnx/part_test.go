package onnx

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestPart: the part of one output has its inputs, operators and weights only.
func TestPart(t *testing.T) {
	file := must.Get(os.ReadFile(filepath.Join("..", "extractor", "testdata", "pair.onnx")))(t)
	m := must.Get(Parse(file))(t)
	for tensor, inputs := range map[string]int{"image_embeds": 1, "text_embeds": 1, "logits": 2} {
		part, err := m.Part(tensor)
		if err != nil {
			t.Errorf("%s: %v", tensor, err)
			continue
		}
		if needs := m.Needs(tensor); len(part.Inputs) != inputs || len(needs) != inputs || len(part.Outputs) != 1 {
			t.Errorf("%s: inputs %s, outputs %s", tensor, Names(part.Inputs), Names(part.Outputs))
		}
	}
	image, err := m.Part("image_embeds")
	if err != nil || image.HasTensor("word") || !image.HasTensor("pooled") {
		t.Errorf("the image part has the text's operators, or lacks its own: %v", err)
	}
	if _, err := m.Part("nothing"); err == nil {
		t.Error("an output that does not exist has a part")
	}
}

// TestNeedsOfGraphsInside: an operator with a graph inside may use any tensor.
func TestNeedsOfGraphsInside(t *testing.T) {
	m := &Model{Inputs: []Value{{Name: "a"}, {Name: "b"}}, Nodes: []Node{{Op: "If", Inputs: []string{"a"},
		Outputs: []string{"y"}}}, producer: map[string]int{"y": 0}}
	if needs := m.Needs("y"); len(needs) != 2 {
		t.Errorf("needs %s", Names(needs))
	}
}
