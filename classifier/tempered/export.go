package tempered

import (
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// An Exporter writes the graph of a head with the temperature that it may have.
type Exporter struct {
	head classifier.Exporter
	fit  *Fit
}

var _ classifier.Exporter = Exporter{}

// ExporterOf returns what exports a head, and whether it can be exported.
func ExporterOf(c classifier.Classifier) (Exporter, bool) {
	head, ok := classifier.As[classifier.Exporter](c)
	return Exporter{head: head, fit: Of(c)}, ok
}

// Export implements classifier.Exporter.
func (e Exporter) Export(g *onnx.Graph, x string) (string, error) {
	out, err := e.head.Export(g, x)
	if err != nil || e.fit == nil || e.fit.Temperature == 1 {
		return out, err
	}
	scores := g.Op("Div", g.Cast(out, onnx.Float64), g.Scalar(e.fit.Temperature))
	return classifier.LogSoftmaxGraph(g, scores), nil
}
