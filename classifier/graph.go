package classifier

import "github.com/seed-90d10d51/pipeline/internal/onnx"

// What the graphs of heads have in common. All of them compute in float64, as
// the heads do where it matters.

// PlacedGraph is Placed: the rows of x (n×d float32) in float64, scaled to
// length 1 when unit.
func PlacedGraph(g *onnx.Graph, x string, unit bool) string {
	z := g.Cast(x, onnx.Float64)
	if !unit {
		return z
	}
	length := g.Op("Sqrt", SquaresGraph(g, z))
	isZero := g.Op("Equal", length, g.Scalar(0))
	return g.Op("Div", z, g.Op("Where", isZero, g.Scalar(1), length))
}

// SquaresGraph sums the squares of every row: n×d to n×1.
func SquaresGraph(g *onnx.Graph, z string) string {
	return SumGraph(g, g.Op("Mul", z, z), 1, true)
}

// SumGraph sums over an axis.
func SumGraph(g *onnx.Graph, z string, axis int64, keep bool) string {
	var keepDims int64
	if keep {
		keepDims = 1
	}
	return g.Node("ReduceSum", []string{z, g.Int64s(axis)}, onnx.Int("keepdims", keepDims))
}

// MulTransGraph is z·bᵀ for a constant b (K×d, row-major).
func MulTransGraph(g *onnx.Graph, z string, b []float64, rows, cols int) string {
	return g.Op("MatMul", z, g.Node("Transpose", []string{g.Float64s(b, rows, cols)}, onnx.Ints("perm", 1, 0)))
}

// LogSoftmaxGraph is LogSoftmax of every row of scores (n×C), in float32.
func LogSoftmaxGraph(g *onnx.Graph, scores string) string {
	return g.Cast(g.Node("LogSoftmax", []string{scores}, onnx.Int("axis", 1)), onnx.Float32)
}
