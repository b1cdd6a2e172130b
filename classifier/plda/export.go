package plda

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

var _ classifier.Exporter = (*PLDA)(nil)

// Export implements classifier.Exporter.
func (h *PLDA) Export(g *onnx.Graph, x string) (string, error) {
	if h.stack == nil {
		return "", fmt.Errorf("%s: export: %w", h.cfg.method(), classifier.ErrNotFitted)
	}
	white := h.space.WhitenedGraph(g, classifier.PlacedGraph(g, x, true))
	scores, err := h.stack.Graph(g, white)
	if err != nil {
		return "", fmt.Errorf("%s: export: %w", h.cfg.method(), err)
	}
	return classifier.LogSoftmaxGraph(g, scores), nil
}
