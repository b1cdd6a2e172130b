package extractor

import (
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// WithPhotos returns the model m, which the extractor runs, with what preprocess does to an upright picture in
// front of it: its input is then photo, n×height×width×3 bytes of red, green and blue, of any size. All
// photos of a batch have the same size.
func (e *Extractor) WithPhotos(m *onnx.Model, spec preprocess.Spec, photo string) (*onnx.Model, error) {
	if spec.View != "" && spec.View != preprocess.ViewCrop && spec.View != preprocess.ViewSqueeze {
		return nil, fmt.Errorf("the preprocessing with view %s has no ONNX form: only crop and squeeze have", spec.View)
	}
	i := slices.IndexFunc(m.Inputs, func(v onnx.Value) bool { return v.Name == e.plan.input })
	if i < 0 {
		return nil, fmt.Errorf("the network has no input %q", e.plan.input)
	}
	in := m.Inputs[i]
	g := onnx.NewGraph(m.FreshPrefix("pipeline.photo/"))
	x := normalisedGraph(g, squareGraph(g, g.Input(photo, onnx.Uint8, onnx.Free, onnx.Free, onnx.Free, 3), spec), spec)
	if e.plan.layout == LayoutNHWC {
		x = g.Node("Transpose", []string{x}, onnx.Ints("perm", 0, 2, 3, 1))
	}
	if in.Elem == onnx.Uint8 {
		x = g.Op("Round", x)
	}
	return m.WithFront(in, g, g.Cast(x, in.Elem))
}

// squareGraph resizes and crops photos (n×height×width×3 bytes) as preprocess does, to n×3×side×side numbers from 0
// to 255 without fractions.
func squareGraph(g *onnx.Graph, photo string, spec preprocess.Spec) string {
	shape := g.Op("Shape", photo)
	height := g.Op("Slice", shape, g.Int64s(1), g.Int64s(2))
	width := g.Op("Slice", shape, g.Int64s(2), g.Int64s(3))
	size := func(string) string { return g.Int64s(int64(spec.Size)) }
	switch {
	case spec.View == preprocess.ViewSqueeze:
		size = func(string) string { return g.Int64s(int64(spec.Side())) }
	case spec.Resize == preprocess.ResizeShorter:
		short := g.Op("Min", height, width)
		size = func(side string) string { // ⌊Size·long/short⌋
			return g.Op("Div", g.Op("Mul", side, g.Int64s(int64(spec.Size))), short)
		}
	}
	down := weightsGraph(g, height, size(height), spec)
	across := weightsGraph(g, width, size(width), spec)
	x := g.Node("Transpose", []string{g.Cast(photo, onnx.Float32)}, onnx.Ints("perm", 0, 3, 1, 2))
	x = byteGraph(g, g.Op("MatMul", x, g.Node("Transpose", []string{across}, onnx.Ints("perm", 1, 0))))
	return byteGraph(g, g.Op("MatMul", down, x))
}

// weightsGraph returns what each pixel of an axis adds to each of the square's (side×in), as preprocess
// computes it for an axis of in pixels that is resized to out, and cropped in the middle.
func weightsGraph(g *onnx.Graph, in, out string, spec preprocess.Spec) string {
	side := spec.Side()
	inputs, outputs := g.Cast(in, onnx.Float64), g.Cast(out, onnx.Float64)
	first := g.Op("Round", g.Op("Div", g.Op("Sub", outputs, g.Float64s([]float64{float64(side)}, 1)),
		g.Float64s([]float64{2}, 1))) // half to even
	scale := g.Op("Div", inputs, outputs)
	middles := make([]float64, side)
	for i := range middles {
		middles[i] = float64(i) + 0.5
	}
	centre := g.Op("Mul", g.Op("Add", g.Float64s(middles, side, 1), first), scale)
	pixels := g.Cast(g.Op("Range", g.Op("Squeeze", g.Int64s(0)), g.Op("Squeeze", in), g.Op("Squeeze", g.Int64s(1))),
		onnx.Float64)
	away := g.Op("Sub", g.Op("Add", pixels, g.Scalar(0.5)), centre)
	x := g.Op("Abs", g.Op("Div", away, g.Op("Max", scale, g.Float64s([]float64{1}, 1))))
	weight := kernelGraph(g, x, spec.Interpolation)
	sum := g.Node("ReduceSum", []string{weight, g.Int64s(1)}, onnx.Int("keepdims", 1))
	return g.Cast(g.Op("Div", weight, sum), onnx.Float32)
}

// kernelGraph is the interpolation kernel at distances x.
func kernelGraph(g *onnx.Graph, x, interpolation string) string {
	below := func(limit float64, then, otherwise string) string {
		return g.Op("Where", g.Op("Less", x, g.Scalar(limit)), then, otherwise)
	}
	if interpolation == preprocess.Bilinear {
		return below(1, g.Op("Sub", g.Scalar(1), x), g.Scalar(0))
	}
	// Keys' cubic with a = −½: (1.5x − 2.5)x² + 1, and ((−0.5x + 2.5)x − 4)x + 2 from 1 to 2.
	near := polynomialGraph(g, x, 1.5, -2.5, 0, 1)
	far := polynomialGraph(g, x, -0.5, 2.5, -4, 2)
	return below(1, near, below(2, far, g.Scalar(0)))
}

// polynomialGraph is a polynomial of x by Horner's rule.
func polynomialGraph(g *onnx.Graph, x string, coefficients ...float64) string {
	y := g.Scalar(coefficients[0])
	for _, c := range coefficients[1:] {
		y = g.Op("Add", g.Op("Mul", y, x), g.Scalar(c))
	}
	return y
}

// byteGraph rounds to bytes, in float32.
func byteGraph(g *onnx.Graph, x string) string {
	return g.Op("Clip", g.Op("Round", x), g.Float32s([]float32{0}), g.Float32s([]float32{255}))
}

// normalisedGraph computes (v/255 − mean)/std of every channel of x (n×3×h×w).
func normalisedGraph(g *onnx.Graph, x string, spec preprocess.Spec) string {
	scale, shift := make([]float32, 3), make([]float32, 3)
	for c := range scale {
		scale[c] = float32(1 / (255 * spec.Std[c]))
		shift[c] = float32(-spec.Mean[c] / spec.Std[c])
	}
	return g.Op("Add", g.Op("Mul", x, g.Float32s(scale, 3, 1, 1)), g.Float32s(shift, 3, 1, 1))
}
