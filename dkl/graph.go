package dkl

import (
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// Graph adds the nodes to g that turn the tensor x, embeddings (n×d float32),
// into Project(x) (n×D float32), and returns the name of the result.
func (h *Projection) Graph(g *onnx.Graph, x string) string {
	in := g.Op("Mul", classifier.PlacedGraph(g, h.frame.Graph(g, x), true), g.Scalar(math.Sqrt(float64(h.In()))))
	a := in
	if h.shape.hidden > 0 {
		a = g.Op("Relu", h.w.hidden.graph(g, in))
	}
	z := h.w.out.graph(g, a)
	switch {
	case h.shape.trainedSkip():
		w := h.w.skip.w
		z = g.Op("Add", z, classifier.MulTransGraph(g, in, w.Data, w.Rows, w.Cols))
	case h.shape.residual:
		z = g.Op("Add", z, in)
	}
	return g.Cast(z, onnx.Float32)
}

func (l affine) graph(g *onnx.Graph, x string) string {
	return g.Op("Add", classifier.MulTransGraph(g, x, l.w.Data, l.w.Rows, l.w.Cols), g.Float64s(l.b, len(l.b)))
}
