package ppca

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
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
	t := g.Op("Max", g.Op("Sub", distance, s.withinGraph(g, delta, distance)), g.Scalar(0))
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

// withinGraph is Σ w·a² − aᵀHa of all classes (n×C), those with equally many
// components at a time.
func (s *scorer) withinGraph(g *onnx.Graph, delta, distance string) string {
	byComponents := make(map[int][]int)
	most := 0
	for c, k := range s.classes {
		byComponents[len(k.values)] = append(byComponents[len(k.values)], c)
		most = max(most, len(k.values))
	}
	var parts []string
	place, next := make([]int64, len(s.classes)), int64(0)
	for q := range most + 1 {
		members := byComponents[q]
		if len(members) == 0 {
			continue
		}
		parts = append(parts, s.groupGraph(g, delta, distance, members, q))
		for _, c := range members {
			place[c] = next
			next++
		}
	}
	all := g.Node("Concat", parts, onnx.Int("axis", 1))
	return g.Node("Gather", []string{all, g.Int64s(place...)}, onnx.Int("axis", 1))
}

// groupGraph is that of classes with q components each (n×members).
func (s *scorer) groupGraph(g *onnx.Graph, delta, distance string, members []int, q int) string {
	m := len(members)
	if q == 0 {
		some := g.Node("Gather", []string{distance, g.Int64s(make([]int64, m)...)}, onnx.Int("axis", 1))
		return g.Op("Mul", some, g.Scalar(0))
	}
	b := s.gather(members, q)
	rows := g.Cast(g.Float32s(b.rows, m*q, s.basis.Cols), onnx.Float64)
	projected := g.Op("MatMul", delta, g.Node("Transpose", []string{rows}, onnx.Ints("perm", 1, 0)))
	a := g.Op("Reshape", g.Op("Sub", projected, g.Float64s(b.origin, m*q)), g.Int64s(-1, int64(m), int64(q)))
	squares := classifier.SumGraph(g, g.Op("Mul", g.Op("Mul", a, a), g.Float64s(b.weight, m, q)), 2, false)
	turned := g.Node("Transpose", []string{a}, onnx.Ints("perm", 1, 0, 2))
	product := g.Op("Mul", g.Op("MatMul", turned, g.Cast(g.Float32s(b.excess, m, q, q), onnx.Float64)), turned)
	rounding := g.Node("Transpose", []string{classifier.SumGraph(g, product, 2, false)}, onnx.Ints("perm", 1, 0))
	return g.Op("Sub", squares, rounding)
}

// gathered is L, Lᵀ(μ−c), w and H of a few classes, stacked.
type gathered struct {
	rows           []float32
	origin, weight []float64
	excess         []float32
}

func (s *scorer) gather(members []int, q int) gathered {
	var b gathered
	d := s.basis.Cols
	for _, c := range members {
		k := s.classes[c]
		b.rows = append(b.rows, k.basis[:q*d]...)
		shift := make([]float64, d)
		for j, v := range k.mean {
			shift[j] = v - s.centre[j]
		}
		wide := linalg.New64(q, d)
		for i, v := range k.basis[:q*d] {
			wide.Data[i] = float64(v)
		}
		for i, v := range k.values {
			b.origin = append(b.origin, dot(k.basis[i*d:(i+1)*d], shift))
			b.weight = append(b.weight, v/(v+s.lambda))
			for j := range q {
				H := dot(k.basis[i*d:(i+1)*d], wide.Data[j*d:(j+1)*d])
				if i == j {
					H--
				}
				b.excess = append(b.excess, float32(H))
			}
		}
	}
	return b
}
