package extractor

import (
	"cmp"

	"github.com/seed-90d10d51/pipeline/onnx"
)

// Graph adds to g what Extract does after the model: it reads a tensor of the
// model by name and returns the embeddings (n×d float32). If the model takes
// any side, the graph is for images of Side, or of 224 pixels.
func (e *Extractor) Graph(g *onnx.Graph) (string, error) {
	s, err := e.take(shape{e.plan.batch, cmp.Or(e.plan.side, defaultSide)})
	if err != nil {
		return "", err
	}
	defer e.slots.put(s)
	return s.reduction.graph(g, g.Cast(e.plan.tensor, onnx.Float32)), nil
}

// graph adds apply, for all photos of a batch.
func (r reduction) graph(g *onnx.Graph, tensor string) string {
	flat := g.Op("Reshape", tensor, g.Int64s(-1, int64(r.partLen)))
	if r.positions == 1 && r.channelStride == 1 {
		return g.Op("Slice", flat, g.Int64s(int64(r.offset)), g.Int64s(int64(r.offset+r.channels)), g.Int64s(1))
	}
	channels, positions := int64(r.channels), int64(r.positions)
	parts := g.Op("Reshape", flat, g.Int64s(-1, channels, positions))
	if r.channelStride == 1 {
		parts = g.Node("Transpose", []string{g.Op("Reshape", flat, g.Int64s(-1, positions, channels))},
			onnx.Ints("perm", 0, 2, 1))
	}
	if r.max {
		pooled := g.Node("MaxPool", []string{parts}, onnx.Ints("kernel_shape", positions))
		return g.Op("Reshape", pooled, g.Int64s(-1, channels))
	}
	sum := g.Node("ReduceSum", []string{g.Cast(parts, onnx.Float64), g.Int64s(2)}, onnx.Int("keepdims", 0))
	return g.Cast(g.Op("Div", sum, g.Scalar(float64(r.positions))), onnx.Float32)
}
