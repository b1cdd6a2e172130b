package pldaplus

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// Export implements classifier.Exporter.
func (h *Head) Export(g *onnx.Graph, x string) (logProb, novelty string, err error) {
	if err := h.CheckFitted("export"); err != nil {
		return "", "", err
	}
	s := h.Model().Shared.scorer
	white := s.space.WhitenedGraph(g, classifier.PlacedGraph(g, x, true))
	scores, unseen, err := s.stack.Graph(g, white)
	if err != nil {
		return "", "", fmt.Errorf("%s: export: %w", h.method, err)
	}
	if novelty, err = s.noveltyGraph(g, white, scores, unseen); err != nil {
		return "", "", fmt.Errorf("%s: export: %w", h.method, err)
	}
	scores = s.weighedGraph(g, white, scores)
	if s.logits.Rows > 0 {
		scores = s.rankedGraph(g, white, scores)
	}
	return classifier.LogSoftmaxGraph(g, scores), novelty, nil
}

// noveltyGraph is noveltyOf as a graph (n×1).
func (s *scorer) noveltyGraph(g *onnx.Graph, white, scores, unseen string) (string, error) {
	C := len(s.base) + len(s.later)
	if s.plain != nil {
		var err error
		if scores, unseen, err = s.plain.Graph(g, white); err != nil {
			return "", err
		}
	}
	return classifier.UnseenGraph(g, scores, C, unseen), nil
}

// weighedGraph computes (ℓ + κ·cos(z, m))/T, plus b for later classes.
func (s *scorer) weighedGraph(g *onnx.Graph, white, scores string) string {
	C, d := len(s.base)+len(s.later), s.space.Dim()
	if s.units.Rows > 0 {
		length := g.Op("Sqrt", classifier.SquaresGraph(g, white))
		isZero := g.Op("Equal", length, g.Scalar(0))
		cosine := g.Op("Div", classifier.MulTransGraph(g, white, s.units.Data, C, d),
			g.Op("Where", isZero, g.Scalar(1), length))
		scores = g.Op("Add", scores, g.Op("Mul", cosine, g.Scalar(s.setting.Kappa)))
	}
	later := make([]float64, C)
	for _, c := range s.later {
		later[c] = s.setting.Later
	}
	return g.Op("Add", g.Op("Div", scores, g.Scalar(s.setting.Temperature)), g.Float64s(later, C))
}

// rankedGraph reranks the base classes by the regression and leaves their sum
// unchanged.
func (s *scorer) rankedGraph(g *onnx.Graph, white, scores string) string {
	B := len(s.base)
	own := classifier.ColumnsGraph(g, scores, s.base)
	most := classifier.MaxGraph(g, own, B)
	mass := g.Op("Add", most, g.Op("Log", classifier.SumGraph(g, g.Op("Exp", g.Op("Sub", own, most)), 1, true)))
	logits := g.Op("Add", classifier.MulTransGraph(g, white, s.logits.Data, B, s.space.Dim()), g.Float64s(s.consts, B))
	rank := g.Node("LogSoftmax", []string{g.Op("Mul", logits, g.Scalar(s.setting.Rerank))}, onnx.Int("axis", 1))
	ranked := g.Op("Add", rank, mass)
	// All classes follow the ranked ones; the later classes are taken from them.
	place := make([]int, B+len(s.later))
	for i, c := range s.base {
		place[c] = i
	}
	for _, c := range s.later {
		place[c] = B + c
	}
	return classifier.ColumnsGraph(g, g.Node("Concat", []string{ranked, scores}, onnx.Int("axis", 1)), place)
}
