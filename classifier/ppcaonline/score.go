package ppcaonline

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// guard is the share of the terms of a difference below which it has lost too
// many digits, even in float64, and is computed from vectors instead.
const guard = 1e-6

// A scorer holds the roots of all classes, stacked for one product per batch.
// It is immutable.
type scorer struct {
	backend    linalg.Backend
	unit       bool
	roots      blas64.General // Σq×d
	means      blas64.General // C×d
	classes    []scored
	centre     []float64 // mean of the means
	background lowrank.Background
}

// scored is one class prepared for scoring.
type scored struct {
	*engine.Gaussian
	first  int       // its first row in roots
	origin []float64 // Rμ
	norm   float64   // ‖μ‖²
}

func newScorer(m *model, unit bool) (*scorer, error) {
	s := &scorer{backend: m.Backend, unit: unit, roots: dense.New(0, m.Dim), means: dense.New(m.Classes.Len(), m.Dim)}
	for i, c := range m.Classes.Values() {
		g := c.Gaussian()
		root, err := g.Root()
		if err != nil {
			return nil, err
		}
		k := scored{Gaussian: g, first: s.roots.Rows, origin: make([]float64, root.Rows), norm: dot(g.Mean, g.Mean)}
		for r := range root.Rows {
			k.origin[r] = dot(dense.Row(root, r), g.Mean)
		}
		copy(dense.Row(s.means, i), g.Mean)
		s.roots.Rows += root.Rows
		s.roots.Data = append(s.roots.Data, root.Data...)
		s.classes = append(s.classes, k)
	}
	s.centre = dense.MeanRow(s.means)
	s.background = s.against()
	return s, nil
}

// against returns what classes are compared with.
func (s *scorer) against() lowrank.Background {
	means, traces := make([][]float64, len(s.classes)), make([]float64, len(s.classes))
	for i, k := range s.classes {
		means[i], traces[i] = k.Mean, dense.SumSquares(k.W.Data)+float64(len(k.Mean))*k.Sigma2
	}
	return lowrank.NewBackground(means, traces, s.centre, 1/(2*math.Pi), true)
}

// scores returns the log-densities of a few rows under the classes and, in the last
// column, the background (n×(C+1)), in O(Cdq) per row.
func (s *scorer) scores(x blas32.General) (blas64.General, error) {
	z := classifier.Placed(x, dense.Range(0, x.Rows), s.unit)
	projected, crossed := dense.New(x.Rows, s.roots.Rows), dense.New(x.Rows, len(s.classes))
	if s.roots.Rows > 0 {
		if err := s.backend.MulTrans64(projected, z, s.roots); err != nil {
			return blas64.General{}, err
		}
	}
	if err := s.backend.MulTrans64(crossed, z, s.means); err != nil {
		return blas64.General{}, err
	}
	C := len(s.classes)
	scores := dense.New(x.Rows, C+1)
	dense.Parallel(x.Rows, func(i int) {
		row := dense.Row(scores, i)
		row[C] = s.background.Score(dense.SquaredDistance(dense.Row(z, i), s.centre))
		s.scoreRow(row[:C], dense.Row(z, i), dense.Row(projected, i), dense.Row(crossed, i))
	})
	return scores, nil
}

// scoreRow writes log N(z; μ, C) for every class. projected is Rz of all
// classes, crossed is μᵀz.
func (s *scorer) scoreRow(dst, z, projected, crossed []float64) {
	square := dot(z, z)
	for i := range s.classes {
		k := &s.classes[i]
		terms := square + k.norm
		r := terms - 2*crossed[i]
		for j, o := range k.origin {
			u := projected[k.first+j] - o
			r -= u * u
		}
		if !(r > guard*terms) || math.IsInf(terms, 0) {
			dst[i] = k.LogDensityNats(z)
			continue
		}
		dst[i] = -(float64(len(z))*math.Log(2*math.Pi) + k.LogDetNats() + r/k.Sigma2) / 2
	}
}

func dot(a, b []float64) float64 {
	var sum float64
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}

// Export implements classifier.Exporter: scoreRow as a graph.
func (h *Online) Export(g *onnx.Graph, x string) (logProb, novelty string, err error) {
	if err := h.CheckFitted("export"); err != nil {
		return "", "", err
	}
	s, d := h.Model().Shared.scorer, h.Dim()
	C := len(s.classes)
	z := classifier.PlacedGraph(g, x, s.unit)
	norms, sigma2, constants := make([]float64, C), make([]float64, C), make([]float64, C)
	for i, k := range s.classes {
		norms[i], sigma2[i] = k.norm, k.Sigma2
		constants[i] = float64(d)*math.Log(2*math.Pi) + k.LogDetNats()
	}
	twice := g.Op("Mul", classifier.MulTransGraph(g, z, s.means.Data, C, d), g.Scalar(2))
	r := g.Op("Add", g.Op("Sub", classifier.SquaresGraph(g, z), twice), g.Float64s(norms, C))
	if s.roots.Rows > 0 {
		r = g.Op("Sub", r, s.withinGraph(g, z))
	}
	r = g.Op("Max", r, g.Scalar(0))
	scores := g.Op("Div", g.Op("Add", g.Op("Div", r, g.Float64s(sigma2, C)), g.Float64s(constants, C)), g.Scalar(-2))
	novelty = classifier.UnseenGraph(g, scores, C, s.background.Graph(g, z, s.centre))
	return classifier.LogSoftmaxGraph(g, scores), novelty, nil
}

// withinGraph computes ‖R(z−μ)‖² for every class (n×C): the squares for all
// roots, summed per class with a matrix of ones and zeros.
func (s *scorer) withinGraph(g *onnx.Graph, z string) string {
	member := dense.New(len(s.classes), s.roots.Rows)
	var origin []float64
	for i, k := range s.classes {
		for j := range k.origin {
			dense.Row(member, i)[k.first+j] = 1
		}
		origin = append(origin, k.origin...)
	}
	u := g.Op("Sub", classifier.MulTransGraph(g, z, s.roots.Data, s.roots.Rows, s.roots.Cols),
		g.Float64s(origin, len(origin)))
	return classifier.MulTransGraph(g, g.Op("Mul", u, u), member.Data, member.Rows, member.Cols)
}
