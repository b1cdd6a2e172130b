package gauss

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// WhitenedGraph is Whitened as a graph, for the rows of z (n×d in float64).
func (sp *Space) WhitenedGraph(g *onnx.Graph, z string) string {
	d := sp.Dim()
	return classifier.MulTransGraph(g, g.Op("Sub", z, g.Float64s(sp.Origin, d)), sp.Whiten.Dense().Data, d, d)
}

// Graph is OpenLogDensities of whitened rows as a graph, all of it in float64: n×C, and n×1 of a class that
// has not been seen.
// The squared distance is computed as in exact,
//
//	zᵀD⁻¹z − 2·μᵀD⁻¹z + μᵀD⁻¹μ − |f|² + fᵀ·H·f,  f = F(z−μ)
//
// where H is what rounding F to float32 adds.
func (s *Stack) Graph(g *onnx.Graph, white string) (scores, unseen string, err error) {
	C, d := len(s.densities), s.space.Dim()
	quadratic := classifier.MulTransGraph(g, s.space.squaresGraph(g, white), s.precision.Data, s.precision.Rows,
		s.precision.Cols)
	perClass := classifier.ColumnsGraph(g, quadratic, s.shared)
	twice := g.Op("Mul", classifier.MulTransGraph(g, white, s.weights.Data, C, d), g.Scalar(2))
	squares := make([]float64, C)
	for i, p := range s.densities {
		squares[i] = p.square
	}
	r := g.Op("Add", g.Op("Sub", perClass, twice), g.Float64s(squares, C))
	if s.factors.Rows > 0 {
		own := make([]classifier.LowRank, C)
		for i, p := range s.densities {
			H, err := p.excess(s.space)
			if err != nil {
				return "", "", err
			}
			own[i] = classifier.LowRank{Rows: p.factor, Origin: p.shift,
				Weight: slices.Repeat([]float64{1}, len(p.values)), Excess: dense.Narrowed(H)}
		}
		r = g.Op("Sub", r, classifier.LowRankGraph(g, white, d, own))
	}
	unseen = classifier.ColumnsGraph(g, quadratic, []int{s.precision.Rows - 1})
	unseen = g.Op("Div", g.Op("Add", unseen, g.Scalar(s.unseen)), g.Scalar(-2))
	return s.logDensityGraph(g, r), unseen, nil
}

// squaresGraph is squares as a graph, of whitened rows and their coordinates
// along V.
func (sp *Space) squaresGraph(g *onnx.Graph, white string) string {
	all := classifier.SquaresGraph(g, white)
	r, d := len(sp.Beta), sp.Dim()
	if r == 0 {
		return all
	}
	a := classifier.MulTransGraph(g, white, sp.Directions.Data, r, d)
	along := g.Op("Mul", a, a)
	beside := g.Op("Max", g.Op("Sub", all, classifier.SumGraph(g, along, 1, true)), g.Scalar(0))
	if r == d {
		beside = g.Op("Mul", beside, g.Scalar(0))
	}
	return g.Node("Concat", []string{along, beside}, onnx.Int("axis", 1))
}

// excess returns H = F·D·Fᵀ + R⁻¹Λ⁻¹R⁻ᵀ − I (k×k), which is zero except for the
// rounding of F.
func (p *Density) excess(sp *Space) ([]float64, error) {
	k, d := len(p.values), len(p.mean)
	if k == 0 {
		return nil, nil
	}
	F, FD, root := mat.NewDense(k, d, nil), mat.NewDense(k, d, nil), mat.NewDense(k, k, nil)
	for i, value := range p.values {
		row := F.RawRowView(i)
		dense.Widen(row, p.factor[i*d:(i+1)*d])
		sp.multiply(FD.RawRowView(i), row, p)
		root.Set(i, i, 1/math.Sqrt(value))
	}
	if err := root.Solve(p.inner, root); err != nil {
		return nil, &linalg.NotPSDError{Order: k}
	}
	var H, inner mat.Dense
	H.Mul(FD, F.T())
	inner.Mul(root, root.T())
	H.Add(&H, &inner)
	for i := range k {
		H.Set(i, i, H.At(i, i)-1)
	}
	return H.RawMatrix().Data, nil
}

// logDensityGraph is logDensity as a graph, of squared distances r (n×C).
func (s *Stack) logDensityGraph(g *onnx.Graph, r string) string {
	C := len(s.densities)
	logDets := make([]float64, C)
	for i, p := range s.densities {
		logDets[i] = p.logDet
	}
	gaussian := g.Op("Div", g.Op("Add", r, g.Float64s(logDets, C)), g.Scalar(-2))
	isStudent, constants, factors, degrees := s.student()
	if isStudent == nil {
		return gaussian
	}
	// C −½·log|C| − ½(df+d)·log(1+r/df)
	tail := g.Op("Mul", g.Op("Log", g.Op("Add", g.Op("Div", g.Op("Max", r, g.Scalar(0)), g.Float64s(degrees, C)),
		g.Scalar(1))), g.Float64s(factors, C))
	student := g.Op("Add", tail, g.Float64s(constants, C))
	return g.Op("Where", g.Op("Greater", g.Float64s(isStudent, C), g.Scalar(0)), student, gaussian)
}

// student returns, for every class, 1 if it is Student's t, its constant,
// −½(df+d) and df; nil if there is no such class.
func (s *Stack) student() (is, constants, factors, degrees []float64) {
	d, some := float64(s.space.Dim()), false
	for i, p := range s.densities {
		df, one := 1.0, 0.0
		if p.student() {
			df, one, some = p.degrees, 1, true
		}
		is, degrees = append(is, one), append(degrees, df)
		constants, factors = append(constants, s.constants[i]-p.logDet/2), append(factors, -(df+d)/2)
	}
	if !some {
		return nil, nil, nil, nil
	}
	return is, constants, factors, degrees
}
