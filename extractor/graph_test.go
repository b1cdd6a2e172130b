package extractor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// TestGraphEqualsExtract: a model with its reduction as one graph gives the
// embeddings that Extract gives.
func TestGraphEqualsExtract(t *testing.T) {
	for name, c := range map[string]struct {
		model  string
		change func(*Config)
	}{
		"plain":            {"nchw", nil},
		"NHWC":             {"nhwc", nil},
		"float16":          {"half", nil},
		"fixed batch":      {"batch4", nil},
		"map, mean":        {"map", nil},
		"map, max":         {"map", pool(PoolMax)},
		"map, flat":        {"map", pool(PoolNone)},
		"token 0":          {"tokens", nil},
		"token 3":          {"tokens", token(3)},
		"tokens, mean":     {"tokens", pool(PoolMean)},
		"tokens, max":      {"tokens", pool(PoolMax)},
		"penultimate":      {"classifier", output(Penultimate)},
		"any side, as 224": {"free_side", nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := openTiny(t, c.model, c.change)
			m := must.Get(onnx.Parse(modelBytes(t, c.model)))(t)
			g := onnx.NewGraph(m.FreshPrefix("test/"))
			x := must.Get(e.Graph(g))(t)
			g.Output("embeddings", x, onnx.Float32, onnx.Free, int64(e.Dim()))
			joined := must.Get(m.Extend(g, "test", nil))(t)
			compareGraph(t, e, joined, e.plan.half)
		})
	}
}

// compareGraph runs both on a batch of noise photos.
func compareGraph(t *testing.T, e *Extractor, joined []byte, half bool) {
	t.Helper()
	side := e.Side()
	if side == 0 {
		side = defaultSide
	}
	n := e.plan.batch
	rng := rand.New(rand.NewPCG(1, 1))
	pixels := make([]float32, n*3*side*side)
	for i := range pixels {
		pixels[i] = float32(rng.IntN(9)) / 8 // exact in float16
	}
	want := newMatrix(n, e.Dim())
	must.Do(t, e.Extract(want, pixels))
	if half {
		t.Skip("the joined graph loads, but takes float16 pixels")
	}
	rt := orttest.Open(t)
	s := must.Get(rt.NewSession(joined, []string{e.plan.input}, []string{"embeddings"}, ort.CPU))(t)
	defer s.Close()
	shape := []int64{int64(n), 3, int64(side), int64(side)}
	input := pixels
	if e.plan.layout == LayoutNHWC {
		shape = []int64{int64(n), int64(side), int64(side), 3}
		input = interleaved(pixels, n, side*side)
	}
	in := must.Get(rt.WrapTensor(input, shape...))(t)
	defer in.Close()
	out := must.Get(rt.NewTensor(int64(n), int64(e.Dim())))(t)
	defer out.Close()
	must.Do(t, s.Run([]*ort.Tensor{in}, []*ort.Tensor{out}))
	for i, v := range out.Data() {
		if math.Abs(float64(v-want.Data[i])) > 1e-6*(1+math.Abs(float64(want.Data[i]))) {
			t.Errorf("value %d is %g, Extract gives %g", i, v, want.Data[i])
		}
	}
}

// interleaved turns planes of colours into pixels of colours.
func interleaved(chw []float32, n, plane int) []float32 {
	hwc := make([]float32, len(chw))
	for i := range n {
		for c := range 3 {
			for p := range plane {
				hwc[(i*plane+p)*3+c] = chw[(i*3+c)*plane+p]
			}
		}
	}
	return hwc
}
