package ncm

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

var _ classifier.Exporter = (*NCM)(nil)

// Export implements classifier.Exporter.
func (h *NCM) Export(g *onnx.Graph, x string) (string, error) {
	if h.classes.Len() == 0 {
		return "", fmt.Errorf("ncm: export: %w", classifier.ErrNotFitted)
	}
	z := g.Op("Sub", classifier.PlacedGraph(g, x, h.cfg.Metric == Cosine), g.Float64s(h.centre, h.dim))
	s := classifier.MulTransGraph(g, z, h.means.Data, h.means.Rows, h.dim)
	if h.cfg.Metric == Euclidean {
		half := g.Op("Div", g.Op("Add", classifier.SquaresGraph(g, z), g.Float64s(h.sq, len(h.sq))), g.Scalar(2))
		s = g.Op("Min", g.Op("Sub", s, half), g.Scalar(0))
	}
	return classifier.LogSoftmaxGraph(g, g.Op("Div", s, g.Scalar(h.tau))), nil
}
