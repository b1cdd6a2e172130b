package classifier

import "github.com/seed-90d10d51/pipeline/onnx"

// The building blocks of exported graphs. All of them compute in float64, as
// the heads do where it matters.

// PlacedGraph is Placed as a graph: the rows of x (n×d float32) in float64,
// scaled to length 1 if unit.
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

// MulTransGraph computes z·bᵀ for a constant b (K×d, row-major).
func MulTransGraph(g *onnx.Graph, z string, b []float64, rows, cols int) string {
	return g.Op("MatMul", z, g.Node("Transpose", []string{g.Float64s(b, rows, cols)}, onnx.Ints("perm", 1, 0)))
}

// MaxGraph returns the largest of every row of z (n×C) as n×1.
func MaxGraph(g *onnx.Graph, z string, C int) string {
	rows := g.Op("Reshape", z, g.Int64s(-1, 1, int64(C)))
	return g.Op("Reshape", g.Node("MaxPool", []string{rows}, onnx.Ints("kernel_shape", int64(C))), g.Int64s(-1, 1))
}

// UnseenGraph is Unseen as a graph: scores (n×C), and that of a class that has not been seen (n×1), to n×1.
func UnseenGraph(g *onnx.Graph, scores string, C int, unseen string) string {
	return g.Op("Sub", unseen, MaxGraph(g, scores, C))
}

// LogSoftmaxGraph computes LogSoftmax of every row of scores (n×C), in float32.
func LogSoftmaxGraph(g *onnx.Graph, scores string) string {
	return g.Cast(g.Node("LogSoftmax", []string{scores}, onnx.Int("axis", 1)), onnx.Float32)
}

// ColumnsGraph selects columns of z, in the given order.
func ColumnsGraph(g *onnx.Graph, z string, columns []int) string {
	index := make([]int64, len(columns))
	for i, c := range columns {
		index[i] = int64(c)
	}
	return g.Node("Gather", []string{z, g.Int64s(index...)}, onnx.Int("axis", 1))
}

// A LowRank describes what the components of a class subtract from the squared
// distance of an example z: Σ w·a² − aᵀ·H·a with a = F·z − Origin, where H is
// what rounding F to float32 adds.
type LowRank struct {
	Rows           []float32 // F, k×d
	Origin, Weight []float64 // k
	Excess         []float32 // H, k×k
}

// LowRankGraph computes that term of all classes for rows z (n×d in float64):
// n×C, grouping classes with equally many directions.
func LowRankGraph(g *onnx.Graph, z string, d int, classes []LowRank) string {
	byDirections := make(map[int][]int)
	most := 0
	for c, l := range classes {
		byDirections[len(l.Weight)] = append(byDirections[len(l.Weight)], c)
		most = max(most, len(l.Weight))
	}
	var parts []string
	place, next := make([]int, len(classes)), 0
	for k := range most + 1 {
		members := byDirections[k]
		if len(members) == 0 {
			continue
		}
		parts = append(parts, lowRankGroup(g, z, d, classes, members))
		for _, c := range members {
			place[c] = next
			next++
		}
	}
	return ColumnsGraph(g, g.Node("Concat", parts, onnx.Int("axis", 1)), place)
}

// lowRankGroup is LowRankGraph for classes with equally many directions
// (n×members).
func lowRankGroup(g *onnx.Graph, z string, d int, classes []LowRank, members []int) string {
	var b LowRank
	for _, c := range members {
		l := classes[c]
		b.Rows, b.Excess = append(b.Rows, l.Rows...), append(b.Excess, l.Excess...)
		b.Origin, b.Weight = append(b.Origin, l.Origin...), append(b.Weight, l.Weight...)
	}
	m, k := len(members), len(b.Weight)/len(members)
	if k == 0 {
		return g.Op("Mul", SumGraph(g, z, 1, true), g.Float64s(make([]float64, m), m))
	}
	rows := g.Cast(g.Float32s(b.Rows, m*k, d), onnx.Float64)
	projected := g.Op("MatMul", z, g.Node("Transpose", []string{rows}, onnx.Ints("perm", 1, 0)))
	a := g.Op("Reshape", g.Op("Sub", projected, g.Float64s(b.Origin, m*k)), g.Int64s(-1, int64(m), int64(k)))
	squares := SumGraph(g, g.Op("Mul", g.Op("Mul", a, a), g.Float64s(b.Weight, m, k)), 2, false)
	turned := g.Node("Transpose", []string{a}, onnx.Ints("perm", 1, 0, 2))
	product := g.Op("Mul", g.Op("MatMul", turned, g.Cast(g.Float32s(b.Excess, m, k, k), onnx.Float64)), turned)
	rounding := g.Node("Transpose", []string{SumGraph(g, product, 2, false)}, onnx.Ints("perm", 1, 0))
	return g.Op("Sub", squares, rounding)
}
