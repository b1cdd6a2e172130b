package onnx_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// TestInputRange: what a graph subtracts and divides by says which values it wants.
func TestInputRange(t *testing.T) {
	f := func(g *onnx.Graph, v ...float32) string {
		if len(v) == 1 {
			return g.Float32s(v)
		}
		return g.Float32s(v, 1, len(v), 1, 1)
	}
	mean, std := []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	mean255 := []float32{123.7, 116.3, 103.5}
	for name, c := range map[string]struct {
		steps func(g *onnx.Graph, x string) string
		want  float64
	}{
		"nothing": {func(g *onnx.Graph, x string) string { return x }, 0},
		"ImageNet": {func(g *onnx.Graph, x string) string {
			return g.Op("Div", g.Op("Sub", x, f(g, mean...)), f(g, std...))
		}, 1},
		"ImageNet of bytes": {func(g *onnx.Graph, x string) string {
			return g.Op("Div", g.Op("Sub", x, f(g, mean255...)), f(g, 58.4, 57.1, 57.4))
		}, 255},
		"TensorFlow": {func(g *onnx.Graph, x string) string {
			y := g.Node("Transpose", []string{g.Op("Mul", x, f(g, 1./255))}, onnx.Ints("perm", 0, 3, 1, 2))
			return g.Op("Div", g.Op("Sub", y, f(g, mean...)), f(g, std...))
		}, 255},
		"−1 to 1, of bytes": {func(g *onnx.Graph, x string) string {
			return g.Op("Sub", g.Op("Mul", x, f(g, 2./255)), f(g, 1))
		}, 255},
		"−1 to 1, of floats": {func(g *onnx.Graph, x string) string {
			return g.Op("Sub", g.Op("Mul", x, f(g, 2)), f(g, 1))
		}, 1},
		"a mean, as Caffe": {func(g *onnx.Graph, x string) string { return g.Op("Sub", x, f(g, mean255...)) }, 255},
		"a mean":           {func(g *onnx.Graph, x string) string { return g.Op("Add", x, f(g, -0.5)) }, 1},
		"half precision": {func(g *onnx.Graph, x string) string {
			return g.Op("Div", g.Cast(x, onnx.Float16), f(g, 255))
		}, 255},
		"its shape is read": {func(g *onnx.Graph, x string) string {
			return g.Op("Reshape", g.Op("Div", x, f(g, 255)), g.Op("Shape", x))
		}, 255},
		"by four values": {func(g *onnx.Graph, x string) string {
			return g.Op("Div", x, f(g, 255, 255, 255, 255))
		}, 0},
		"by nothing":      {func(g *onnx.Graph, x string) string { return g.Op("Div", x, f(g, 0)) }, 0},
		"from a constant": {func(g *onnx.Graph, x string) string { return g.Op("Sub", f(g, 255), x) }, 0},
		"by itself":       {func(g *onnx.Graph, x string) string { return g.Op("Mul", x, x) }, 0},
	} {
		g := onnx.NewGraph("test/")
		y := c.steps(g, g.Input("input", onnx.Float32, onnx.Free, 3, 4, 4))
		g.Output("y", g.Op("Relu", y), onnx.Float32)
		file := must.Get(g.Model("test", nil))(t)
		m := must.Get(onnx.Parse(file))(t)
		if got := m.InputRange("input"); got != c.want {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
