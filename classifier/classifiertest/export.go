package classifiertest

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// exportTolerance bounds the difference in probability between a head and its
// graph in ONNX Runtime, noveltyTolerance that in novelty, relative to its size.
const exportTolerance, noveltyTolerance = 1e-5, 1e-4

func checkExport(t *testing.T, f Factory) {
	e, ok := f.learned(t).(classifier.Exporter)
	if !ok {
		t.Skip("cannot be exported")
	}
	if _, _, err := e.Export(onnx.NewGraph(""), "x"); !errors.Is(err, classifier.ErrNotFitted) {
		t.Errorf("unfitted: %v", err)
	}
	for name, s := range degenerate() {
		t.Run(name, func(t *testing.T) { CheckExport(t, f.learned(t, s), queries()) })
	}
	CheckExport(t, f.learned(t, base(), f.novel()), queries())
}

// CheckExport checks that the probabilities of a learned head and of its graph
// in ONNX Runtime are equal to 1e-5.
func CheckExport(t *testing.T, head classifier.Head, q blas32.General) {
	t.Helper()
	want, novelty := dense.New(q.Rows, len(head.Classes())), make([]float64, q.Rows)
	if err := head.Score(want, novelty, q); err != nil {
		t.Fatal(err)
	}
	got := orttest.Run(t, Exported(t, head), q.Data, q.Rows, q.Cols, want.Cols+1)
	worst, furthest := 0.0, 0.0
	for i := range q.Rows {
		row := got[i*(want.Cols+1) : (i+1)*(want.Cols+1)]
		for c, l := range dense.Row(want, i) {
			worst = max(worst, math.Abs(math.Exp(l)-math.Exp(float64(row[c]))))
		}
		if float32(novelty[i]) == row[want.Cols] { // also if it is too large for float32
			continue
		}
		furthest = max(furthest, math.Abs(novelty[i]-float64(row[want.Cols]))/(1+math.Abs(novelty[i])))
	}
	if !(worst <= exportTolerance) {
		t.Errorf("probabilities differ by %.1e", worst)
	}
	if !(furthest <= noveltyTolerance) {
		t.Errorf("novelties differ by %.1e of their size", furthest)
	}
}

// Exported returns the ONNX file of a learned head, with input "x" and output
// "y", the log-probabilities and, in the last column, the novelty.
func Exported(t *testing.T, head classifier.Head) []byte {
	t.Helper()
	e, ok := head.(classifier.Exporter)
	if !ok {
		t.Fatal("cannot be exported")
	}
	g := onnx.NewGraph("")
	logProb, novelty, err := e.Export(g, g.Input("x", onnx.Float32, onnx.Free, int64(head.Dim())))
	if err != nil {
		t.Fatal(err)
	}
	both := g.Node("Concat", []string{logProb, g.Cast(novelty, onnx.Float32)}, onnx.Int("axis", 1))
	g.Output("y", both, onnx.Float32, onnx.Free, int64(len(head.Classes())+1))
	model := must(g.Model("test", map[string]string{"key": "value"}))(t)
	parsed, err := onnx.Parse(model)
	if err != nil || parsed.Opset != onnx.WriteOpset || parsed.Metadata["key"] != "value" || len(parsed.Inputs) != 1 ||
		len(parsed.Outputs) != 1 {
		t.Fatalf("our own parser: %+v, %v", parsed, err)
	}
	return model
}
