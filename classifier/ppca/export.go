package ppca

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

var _ classifier.Exporter = (*PPCA)(nil)

// Export implements classifier.Exporter. The graph is Theorem 1 in float64
// about c, with what the rounding of L to float32 adds:
//
//	λr = ‖z−c‖² − 2(μ−c)ᵀ(z−c) + ‖μ−c‖² − Σ w·a² + aᵀHa,  a = Lᵀ(z−μ),  H = LᵀL − I
//
// where w = D/(D+λ); r is that of exact.
func (h *PPCA) Export(g *onnx.Graph, x string) (string, error) {
	if h.scorer == nil {
		return "", fmt.Errorf("ppca: export: %w", classifier.ErrNotFitted)
	}
	s, C := h.scorer, len(h.scorer.classes)
	z := classifier.PlacedGraph(g, x, s.normalize)
	if s.normalize {
		z = g.Cast(g.Cast(z, onnx.Float32), onnx.Float64) // as place does
	}
	delta := g.Op("Sub", z, g.Float64s(s.centre, h.dim))
	means, norms, logDets := s.shifts()
	twice := g.Op("Mul", classifier.MulTransGraph(g, delta, means, C, h.dim), g.Scalar(2))
	distance := g.Op("Add", g.Op("Sub", classifier.SquaresGraph(g, delta), twice), g.Float64s(norms, C))
	own := make([]classifier.LowRank, C)
	for i, k := range s.classes {
		own[i] = s.lowRank(k)
	}
	within := classifier.LowRankGraph(g, delta, h.dim, own)
	t := g.Op("Max", g.Op("Sub", distance, within), g.Scalar(0))
	r := g.Op("Add", g.Op("Div", t, g.Scalar(s.lambda)), g.Float64s(logDets, C))
	return classifier.LogSoftmaxGraph(g, g.Op("Div", r, g.Scalar(-2))), nil
}

// shifts returns μ−c (C×d), ‖μ−c‖² and the log-determinants (C).
func (s *scorer) shifts() (means, norms, logDets []float64) {
	for _, k := range s.classes {
		var sq float64
		for j, v := range k.mean {
			shift := v - s.centre[j]
			means = append(means, shift)
			sq += shift * shift
		}
		norms, logDets = append(norms, sq), append(logDets, k.logDet)
	}
	return means, norms, logDets
}

// lowRank returns Lᵀ, Lᵀ(μ−c), w and H of a class.
func (s *scorer) lowRank(k scored) classifier.LowRank {
	q, d := len(k.values), s.stack.Cols
	l := classifier.LowRank{Rows: k.basis[:q*d]}
	shift := make([]float64, d)
	for j, v := range k.mean {
		shift[j] = v - s.centre[j]
	}
	wide := dense.New(q, d)
	for i, v := range l.Rows {
		wide.Data[i] = float64(v)
	}
	for i, v := range k.values {
		row := l.Rows[i*d : (i+1)*d]
		l.Origin, l.Weight = append(l.Origin, dot(row, shift)), append(l.Weight, v/(v+s.lambda))
		for j := range q {
			H := dot(row, wide.Data[j*d:(j+1)*d])
			if i == j {
				H--
			}
			l.Excess = append(l.Excess, float32(H))
		}
	}
	return l
}
