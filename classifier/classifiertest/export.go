package classifiertest

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// exportTolerance bounds the difference in probability between a head and its
// graph in ONNX Runtime.
const exportTolerance = 1e-5

func checkExport(t *testing.T, f Factory) {
	e, ok := f.learned(t).(classifier.Exporter)
	if !ok {
		t.Skip("cannot be exported")
	}
	if _, err := e.Export(onnx.NewGraph(""), "x"); !errors.Is(err, classifier.ErrNotFitted) {
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
	want := LogProb(t, head, q)
	got := orttest.Run(t, Exported(t, head), q.Data, q.Rows, q.Cols, want.Cols)
	worst := 0.0
	for i, l := range want.Data {
		worst = max(worst, math.Abs(math.Exp(l)-math.Exp(float64(got[i]))))
	}
	if !(worst <= exportTolerance) {
		t.Errorf("probabilities differ by %.1e", worst)
	}
}

// Exported returns the ONNX file of a learned head, with input "x" and output
// "y".
func Exported(t *testing.T, head classifier.Head) []byte {
	t.Helper()
	e, ok := head.(classifier.Exporter)
	if !ok {
		t.Fatal("cannot be exported")
	}
	g := onnx.NewGraph("")
	out := must(e.Export(g, g.Input("x", onnx.Float32, onnx.Free, int64(head.Dim()))))(t)
	g.Output("y", out, onnx.Float32, onnx.Free, int64(len(head.Classes())))
	model := must(g.Model("test", map[string]string{"key": "value"}))(t)
	parsed, err := onnx.Parse(model)
	if err != nil || parsed.Opset != onnx.WriteOpset || parsed.Metadata["key"] != "value" || len(parsed.Inputs) != 1 ||
		len(parsed.Outputs) != 1 {
		t.Fatalf("our own parser: %+v, %v", parsed, err)
	}
	return model
}
