package main

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// describeGraph prints the inputs and outputs of a backbone.
func (a *app) describeGraph(file backbone.File) error {
	m, err := onnx.Parse(file.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	a.say("made by     %s, ONNX opset %d", m.Producer, m.Opset)
	a.say("inputs      %s", onnx.Names(m.Inputs))
	a.say("outputs     %s", onnx.Names(m.Outputs))
	if tensor, err := m.Penultimate(); err == nil {
		a.say("penultimate %s (choose it with --set extractor.output=penultimate)", tensor)
	}
	return nil
}
