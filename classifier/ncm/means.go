package ncm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// means holds the class means, ready for scoring. It is immutable.
type means struct {
	backend linalg.Backend
	cosine  bool
	// centre is the origin of rows (C×d): zero for the cosine, otherwise the mean
	// of the class means, so that a common offset of all embeddings costs no
	// precision.
	centre []float64
	rows   blas64.General
	sq     []float64 // ‖rows‖², Euclidean
}

func (c Config) meansOf(m *model) *means {
	out := &means{backend: m.Backend, cosine: c.Metric == Cosine, centre: make([]float64, m.Dim), rows: dense.New(m.Classes.Len(), m.Dim)}
	for i, t := range m.Classes.Values() {
		if out.cosine {
			copy(dense.Row(out.rows, i), t.Direction())
			continue
		}
		copy(dense.Row(out.rows, i), t.Mean())
		for j, v := range dense.Row(out.rows, i) {
			out.centre[j] += v / float64(out.rows.Rows)
		}
	}
	if out.cosine {
		return out
	}
	out.sq = make([]float64, out.rows.Rows)
	for i := range out.sq {
		row := dense.Row(out.rows, i)
		for j := range row {
			row[j] -= out.centre[j]
			out.sq[i] += row[j] * row[j]
		}
	}
	return out
}

// place returns rows of x in the space of the metric.
func (m *means) place(x blas32.General, rows []int) blas64.General {
	return classifier.Placed(x, rows, m.cosine)
}

// scores returns cos(x, m) or −‖x−m‖²/2 (n×C) in float64.
func (m *means) scores(x blas32.General) (blas64.General, error) {
	z := m.place(x, dense.Range(0, x.Rows))
	dense.SubtractRow(z, m.centre)
	s := dense.New(z.Rows, m.rows.Rows)
	if err := m.backend.MulTrans64(s, z, m.rows); err != nil || m.cosine {
		return s, err
	}
	for i := range s.Rows {
		sq, row := dense.Dot(dense.Row(z, i), dense.Row(z, i)), dense.Row(s, i)
		for j, msq := range m.sq {
			row[j] = min(0, row[j]-(sq+msq)/2)
		}
	}
	return s, nil
}

// scoring takes O(Cd) per row. The novelty is the distance to the nearest mean,
// 1−cos or Euclidean.
func (c Config) scoring(m *model) classifier.Scoring {
	return classifier.Scoring{
		Scores: m.Shared.means.scores,
		LogProb: func(dst, scores []float64) {
			for j, v := range scores {
				dst[j] = v / m.Shared.Tau
			}
			classifier.LogSoftmax(dst)
		},
		Novelty: func(scores []float64) float64 {
			best := slices.Max(scores)
			if c.Metric == Cosine {
				return 1 - best
			}
			return math.Sqrt(-2 * best)
		},
	}
}

// graph is scores as a graph.
func (m *means) graph(g *onnx.Graph, x string) string {
	C, d := m.rows.Rows, m.rows.Cols
	z := g.Op("Sub", classifier.PlacedGraph(g, x, m.cosine), g.Float64s(m.centre, d))
	s := classifier.MulTransGraph(g, z, m.rows.Data, C, d)
	if m.cosine {
		return s
	}
	half := g.Op("Div", g.Op("Add", classifier.SquaresGraph(g, z), g.Float64s(m.sq, C)), g.Scalar(2))
	return g.Op("Min", g.Op("Sub", s, half), g.Scalar(0))
}
