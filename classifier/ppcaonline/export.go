package ppcaonline

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

var _ classifier.Exporter = (*Online)(nil)

// Export implements classifier.Exporter: scoreRow as a graph.
func (h *Online) Export(g *onnx.Graph, x string) (string, error) {
	if h.scorer == nil {
		return "", fmt.Errorf("ppca-online: export: %w", classifier.ErrNotFitted)
	}
	s, C := h.scorer, len(h.scorer.classes)
	z := classifier.PlacedGraph(g, x, h.cfg.Normalize)
	norms, sigma2, constants := make([]float64, C), make([]float64, C), make([]float64, C)
	for i, k := range s.classes {
		norms[i], sigma2[i] = k.norm, k.Sigma2
		constants[i] = float64(h.dim)*math.Log(2*math.Pi) + k.LogDetNats()
	}
	twice := g.Op("Mul", classifier.MulTransGraph(g, z, s.means.Data, C, h.dim), g.Scalar(2))
	r := g.Op("Add", g.Op("Sub", classifier.SquaresGraph(g, z), twice), g.Float64s(norms, C))
	if s.roots.Rows > 0 {
		r = g.Op("Sub", r, s.withinGraph(g, z, h.dim))
	}
	r = g.Op("Max", r, g.Scalar(0))
	scores := g.Op("Div", g.Op("Add", g.Op("Div", r, g.Float64s(sigma2, C)), g.Float64s(constants, C)), g.Scalar(-2))
	return classifier.LogSoftmaxGraph(g, scores), nil
}

// withinGraph is ‖R(z−μ)‖² of every class (n×C): the squares of all roots,
// added up class by class by a matrix of ones and zeros.
func (s *scorer) withinGraph(g *onnx.Graph, z string, d int) string {
	member := dense.New(len(s.classes), s.roots.Rows)
	var origin []float64
	for i, k := range s.classes {
		for j := range k.origin {
			member.Data[i*member.Stride+k.first+j] = 1
		}
		origin = append(origin, k.origin...)
	}
	u := g.Op("Sub", classifier.MulTransGraph(g, z, s.roots.Data, s.roots.Rows, d), g.Float64s(origin, len(origin)))
	return classifier.MulTransGraph(g, g.Op("Mul", u, u), member.Data, member.Rows, member.Cols)
}
