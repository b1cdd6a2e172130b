package lowrank

import (
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// Graph is Scores as a graph, for rows z (n×d in float64): Theorem 1 in float64
// relative to the centre of the stack, with what rounding L to float32 adds:
//
//	λr = ‖z−c‖² − 2(μ−c)ᵀ(z−c) + ‖μ−c‖² − Σ w·a² + aᵀHa,  a = Lᵀ(z−μ),  H = LᵀL − I
//
// where w = D/(D+λ).
func (s *Stack) Graph(g *onnx.Graph, z string, centre []float64) string {
	C, d := len(s.items), len(centre)
	var means, norms, lambdas, logDets []float64
	own := make([]classifier.LowRank, C)
	for i := range s.items {
		k := &s.items[i]
		shift := minus(k.Mean, centre)
		own[i] = k.graph(shift)
		means, norms = append(means, shift...), append(norms, dense.Dot(shift, shift))
		lambdas, logDets = append(lambdas, k.Lambda), append(logDets, k.logDet)
	}
	delta := g.Op("Sub", z, g.Float64s(centre, d))
	twice := g.Op("Mul", classifier.MulTransGraph(g, delta, means, C, d), g.Scalar(2))
	distance := g.Op("Add", g.Op("Sub", classifier.SquaresGraph(g, delta), twice), g.Float64s(norms, C))
	t := g.Op("Max", g.Op("Sub", distance, classifier.LowRankGraph(g, delta, d, own)), g.Scalar(0))
	r := g.Op("Add", g.Op("Div", t, g.Float64s(lambdas, C)), g.Float64s(logDets, C))
	return g.Op("Div", r, g.Scalar(-2))
}

// Graph is Score as a graph, for rows z (n×d in float64) and their centre m: n×1.
func (b Background) Graph(g *onnx.Graph, z string, centre []float64) string {
	squared := classifier.SquaresGraph(g, g.Op("Sub", z, g.Float64s(centre, len(centre))))
	return g.Op("Div", g.Op("Add", g.Op("Mul", squared, g.Scalar(b.precision)), g.Scalar(b.constant)), g.Scalar(-2))
}

// graph returns Lᵀ, Lᵀ(μ−c), w and H.
func (g *Gaussian) graph(shift []float64) classifier.LowRank {
	l := classifier.LowRank{Rows: g.Basis, Origin: g.project(shift)}
	wide := make([]float64, g.Dim())
	for i, v := range g.Values {
		l.Weight = append(l.Weight, v/(v+g.Lambda))
		dense.Widen(wide, g.row(i))
		for j, H := range g.project(wide) { // row i of LᵀL, which is symmetric
			if i == j {
				H--
			}
			l.Excess = append(l.Excess, float32(H))
		}
	}
	return l
}
