package plda

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

var _ classifier.Exporter = (*PLDA)(nil)

// Export implements classifier.Exporter: scorer.batch as a graph.
func (h *PLDA) Export(g *onnx.Graph, x string) (string, error) {
	if h.scorer == nil {
		return "", fmt.Errorf("plda: export: %w", classifier.ErrNotFitted)
	}
	s, sp, d := h.scorer, h.space, h.Dim()
	z := g.Op("Sub", classifier.PlacedGraph(g, x, true), g.Float64s(sp.origin, d))
	white := classifier.MulTransGraph(g, z, sp.whiten.Data, d, d)
	quadratic := classifier.MulTransGraph(g, squaresGraph(g, sp, white), s.precision.Data, s.precision.Rows, s.precision.Cols)
	perClass := g.Node("Gather", []string{quadratic, g.Int64s(int64s(s.size)...)}, onnx.Int("axis", 1))
	linear := g.Op("Add", classifier.MulTransGraph(g, white, s.weights.Data, len(s.offset), d), g.Float64s(s.offset, len(s.offset)))
	return classifier.LogSoftmaxGraph(g, g.Op("Sub", linear, g.Op("Div", perClass, g.Scalar(2)))), nil
}

// squaresGraph is squares.
func squaresGraph(g *onnx.Graph, sp *space, white string) string {
	all := classifier.SquaresGraph(g, white)
	r, d := len(sp.beta), len(sp.origin)
	if r == 0 {
		return all
	}
	a := classifier.MulTransGraph(g, white, sp.directions.Data, r, d)
	along := g.Op("Mul", a, a)
	beside := g.Op("Max", g.Op("Sub", all, classifier.SumGraph(g, along, 1, true)), g.Scalar(0))
	if r == d {
		beside = g.Op("Mul", beside, g.Scalar(0))
	}
	return g.Node("Concat", []string{along, beside}, onnx.Int("axis", 1))
}

func int64s(v []int) []int64 {
	out := make([]int64, len(v))
	for i, n := range v {
		out[i] = int64(n)
	}
	return out
}
