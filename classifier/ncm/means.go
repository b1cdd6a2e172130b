package ncm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
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
	mean   []float64 // of all class means
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
		out.mean = dense.MeanRow(out.rows)
		return out
	}
	out.mean = out.centre
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

// open returns scores, and in column C that of a class that has not been seen: an example
// of it is as far from the mean of all classes as is usual, which is κ times as much as
// from the mean of its own.
func (m *means) open(kappa float64) func(x blas32.General) (blas64.General, error) {
	return func(x blas32.General) (blas64.General, error) {
		scores, err := m.scores(x)
		if err != nil {
			return scores, err
		}
		z, C := m.place(x, dense.Range(0, x.Rows)), scores.Cols
		out := dense.New(scores.Rows, C+1)
		dense.Copy(out, scores)
		for i := range out.Rows {
			dense.Row(out, i)[C] = m.unseen(dense.Row(z, i), kappa)
		}
		return out, nil
	}
}

// unseen returns −κ/2 times the squared distance from the mean of all classes, plus 1 for
// the cosine of unit vectors.
func (m *means) unseen(z []float64, kappa float64) float64 {
	score := -kappa * dense.SquaredDistance(z, m.mean) / 2
	if m.cosine {
		score++
	}
	return score
}

// leastKappa is κ where the examples of a class are all alike.
const leastKappa = 1e-6

// kappa returns κ ≤ 1, the expected square of the distance of an example from the mean of
// its class over that from the mean of all: w(1+1/n)/(w+t²), with w within classes and t²
// between them. Where no class tells w, a third of the variance is taken to be between
// classes, and half of it with a single class.
func kappa(totals []moments.Total, s *moments.Session) float64 {
	var scatter, degrees, inverse float64
	means := dense.New(len(totals), s.Dim)
	for i, t := range totals {
		scatter += s.Classes[i].Scatter()
		degrees += float64(t.N - 1)
		inverse += 1 / float64(t.N) / float64(len(totals))
		copy(dense.Row(means, i), t.Mean())
	}
	if len(totals) < 2 {
		return (1 + inverse) / 2
	}
	dense.SubtractRow(means, dense.MeanRow(means))
	between := dense.SumSquares(means.Data) / float64(len(totals)-1)
	within := 2 * between / 3
	if degrees > 0 {
		within = scatter / degrees
	}
	all := within + max(between-within*inverse, 0)
	if !(all > 0) {
		return 1
	}
	return min(max(within*(1+inverse)/all, leastKappa), 1)
}

// scoring takes O(Cd) per row. Closed heads have the distance to the nearest mean, 1−cos
// or Euclidean.
func (c Config) scoring(m *model) classifier.Scoring {
	s := classifier.Scoring{
		LogProb: func(dst, scores []float64) {
			for j := range dst {
				dst[j] = scores[j] / m.Shared.Tau
			}
			classifier.LogSoftmax(dst)
		},
	}
	if k := m.Shared.Kappa; k > 0 {
		s.Scores, s.Novelty = m.Shared.means.open(k), classifier.Unseen
	} else {
		s.Scores, s.Novelty = m.Shared.means.scores, c.distance
	}
	return s
}

func (c Config) distance(scores []float64) float64 {
	best := slices.Max(scores)
	if c.Metric == Cosine {
		return 1 - best
	}
	return math.Sqrt(-2 * best)
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
