package main

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// describeGraph says what a backbone takes and gives.
func (w *app) describeGraph(file backbone.File) error {
	m, err := onnx.Parse(file.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	w.say("made by     %s, ONNX opset %d", m.Producer, m.Opset)
	w.say("inputs      %s", onnx.Names(m.Inputs))
	w.say("outputs     %s", onnx.Names(m.Outputs))
	if tensor, err := m.Penultimate(); err == nil {
		w.say("penultimate %s (take it with --set extractor.output=penultimate)", tensor)
	}
	return nil
}
