package extractor

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// openGraph opens a network of photos of 4×4 pixels, made by a function of its input.
func openGraph(t *testing.T, output string, shape []int64, make func(g *onnx.Graph, input string) string) *Extractor {
	t.Helper()
	g := onnx.NewGraph("test/")
	g.Output(output, make(g, g.Input("input", onnx.Float32, onnx.Free, 3, 4, 4)), onnx.Float32, shape...)
	file := must.Get(g.Model("test", nil))(t)
	e := must.Get(Open(orttest.Open(t), file, "made.onnx", DefaultConfig()))(t)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// scores makes a classifier of 48 values.
func scores(classes int, last string) func(g *onnx.Graph, input string) string {
	return func(g *onnx.Graph, input string) string {
		weights := make([]float32, 48*classes)
		weights[0] = 1
		y := g.Op("MatMul", g.Op("Flatten", input), g.Float32s(weights, 48, classes))
		if last != "" {
			y = g.Op(last, y)
		}
		return y
	}
}

// reshaped gives the 48 values of a photo another shape.
func reshaped(shape ...int64) func(g *onnx.Graph, input string) string {
	return func(g *onnx.Graph, input string) string {
		return g.Op("Reshape", input, g.Int64s(append([]int64{0}, shape...)...))
	}
}

// repeated gives a photo tokens of its colours' means.
func repeated(tokens, values int64) func(g *onnx.Graph, input string) string {
	return func(g *onnx.Graph, input string) string {
		mean := g.Node("ReduceMean", []string{input}, onnx.Ints("axes", 1, 2, 3), onnx.Int("keepdims", 0))
		one := g.Op("Reshape", mean, g.Int64s(0, 1, 1))
		return g.Op("Expand", one, g.Int64s(1, tokens, values))
	}
}

// TestScoresOfClasses: of a classifier, what is before its last layer is read, where names,
// shapes or a softmax say that it is one.
func TestScoresOfClasses(t *testing.T) {
	for name, c := range map[string]struct {
		output  string
		classes int
		last    string
		why     string
	}{
		"name":         {"logits", 5, "", "has the name of scores of classes"},
		"ImageNet":     {"495", 1000, "", "one for each class of ImageNet"},
		"softmax":      {"y", 7, "Softmax", "is a softmax over classes"},
		"a projection": {"y", 24, "", ""},
	} {
		s, err := openGraph(t, c.output, []int64{onnx.Free, int64(c.classes)}, scores(c.classes, c.last)).Settle()
		if before := s.Config.Output == Penultimate; err != nil || before != (c.why != "") ||
			!strings.Contains(s.Why, c.why) {
			t.Errorf("%s: output %q, %v: %s", name, s.Config.Output, err, s.Why)
		}
	}
	if s, err := openTiny(t, "classifier", output("probabilities")).Settle(); err != nil ||
		s.Config.Output != "probabilities" {
		t.Errorf("an output that was asked for became %q, %v", s.Config.Output, err)
	}
}

// TestTokensOnEitherAxis: channels whose number is a square are not taken for patches.
func TestTokensOnEitherAxis(t *testing.T) {
	shape := []int64{onnx.Free, onnx.Free, onnx.Free}
	if _, err := openGraph(t, "y", shape, repeated(16, 16)).Settle(); err == nil ||
		!strings.Contains(err.Error(), "both numbers could be those of patches") {
		t.Errorf("16 tokens of 16 values: %v", err)
	}
	if s, err := openGraph(t, "y", shape, repeated(16, 17)).Settle(); err != nil || s.Config.Pool != PoolMean {
		t.Errorf("16 tokens of 17 values: %v, %v", s, err)
	}
}

// TestRandomNetwork: a network that gives a picture another embedding in each run is refused.
func TestRandomNetwork(t *testing.T) {
	e := openGraph(t, "y", []int64{onnx.Free, 48}, func(g *onnx.Graph, input string) string {
		return g.Op("Flatten", g.Op("Add", input, g.Op("RandomUniformLike", input)))
	})
	if _, err := e.Settle(); err == nil || !strings.Contains(err.Error(), "export it for inference") {
		t.Error(err)
	}
}

// TestSqueezed: an export of one picture may have lost the axis of photos.
func TestSqueezed(t *testing.T) {
	e := openGraph(t, "y", []int64{48}, func(g *onnx.Graph, input string) string {
		return g.Op("Reshape", input, g.Int64s(-1))
	})
	pixels := rampPhoto(4, 1)
	for n := 1; n <= 4; n *= 2 { // several photos are run one by one
		dst := newMatrix(n, 48)
		if err := e.Extract(dst, slices.Repeat(pixels, n)); err != nil || !slices.Equal(dst.Data[48*(n-1):], pixels) {
			t.Fatalf("%d photos: %v, %v", n, err, dst.Data)
		}
	}
}

// TestStatedRows: an output may state the number of pictures of the exporter's example.
func TestStatedRows(t *testing.T) {
	e := openGraph(t, "y", []int64{2, 48}, reshaped(48))
	for n := 1; n <= 4; n++ {
		if err := e.Extract(newMatrix(n, 48), slices.Repeat(rampPhoto(4, 1), n)); err != nil {
			t.Fatalf("%d photos: %v", n, err)
		}
	}
}

// TestBytes: an input of bytes is fed rounded values.
func TestBytes(t *testing.T) {
	e := openTiny(t, "bytes", nil)
	pixels := make([]float32, 48)
	for i := range pixels {
		pixels[i] = float32(5*i) + 0.4
	}
	dst := newMatrix(1, e.Dim())
	must.Do(t, e.Extract(dst, pixels))
	for i, v := range dst.Data {
		if v != float32(5*i) {
			t.Fatalf("value %d is %v, want %d", i, v, 5*i)
		}
	}
}

// TestNumbersAreNoOutputs: a number beside an output, as CLIP's scale of logits, is not
// taken for an embedding.
func TestNumbersAreNoOutputs(t *testing.T) {
	g := onnx.NewGraph("test/")
	g.Output("y", reshaped(48)(g, g.Input("input", onnx.Float32, onnx.Free, 3, 4, 4)), onnx.Float32, onnx.Free, 48)
	g.Output("scale", g.Float32s([]float32{4}), onnx.Float32, []int64{}...)
	file := must.Get(g.Model("test", nil))(t)
	m, err := onnx.Parse(file)
	if err != nil || len(floatOutputs(m)) != 1 {
		t.Fatalf("outputs %v, %v", floatOutputs(m), err)
	}
}
