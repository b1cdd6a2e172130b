package ncm

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/onnx"
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
	mean   []float64 // m₀, that of all class means
	others []other   // for novelty
}

func (c Config) meansOf(m *model) *means {
	out := &means{backend: m.Backend, cosine: c.Metric == Cosine, centre: make([]float64, m.Dim),
		rows: dense.New(m.Classes.Len(), m.Dim)}
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
	err := m.backend.MulTrans64(s, z, m.rows)
	if err != nil || m.cosine {
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

// open returns scores, and in column C the novelty (package comment).
func (m *means) open(x blas32.General) (blas64.General, error) {
	scores, err := m.scores(x)
	if err != nil {
		return scores, err
	}
	z, C := m.place(x, dense.Range(0, x.Rows)), scores.Cols
	out := dense.New(scores.Rows, C+1)
	dense.Copy(out, scores)
	for i := range out.Rows {
		row := dense.Row(out, i)
		row[C] = m.novelty(row[:C], dense.SquaredDistance(dense.Row(z, i), m.mean))
	}
	return out, nil
}

// novelty is that of a row with the given scores, at the squared distance D from m₀.
func (m *means) novelty(scores []float64, D float64) float64 {
	nearest := math.Inf(1)
	for c, s := range scores {
		if m.cosine {
			s-- // −‖x−m_c‖²/2
		}
		o := m.others[c]
		along := (D + o.square + 2*s) / 2 // (x−m₀)·(m_c−m₀)
		own := (D - 2*o.gain*along + o.gain*o.gain*o.square) / o.spread
		nearest = min(nearest, (own-D)/(2*math.Sqrt(1-o.spread)))
	}
	return nearest
}

// other is what compares a class with one that has not been seen.
type other struct {
	square       float64 // ‖m_c−m₀‖²
	gain, spread float64 // how far μ moves from m₀, and the expected ratio of squared distances
}

// compare prepares the means for novelty, given b = t²/w.
func (m *means) compare(totals []moments.Total, b float64) {
	m.others = make([]other, len(totals))
	for c, t := range totals {
		n := float64(t.N)
		m.others[c] = other{
			square: dense.SquaredDistance(dense.Row(m.rows, c), m.offset()),
			gain:   n * b / (1 + n*b), spread: (1 + b/(1+n*b)) / (1 + b),
		}
	}
}

// offset returns m₀ in the coordinates of rows.
func (m *means) offset() []float64 {
	if m.cosine {
		return m.mean
	}
	return make([]float64, len(m.mean)) // rows are centred
}

const (
	// leastBetween is b where classes do not differ, mostBetween where the examples of a
	// class are all alike.
	leastBetween, mostBetween = 1e-3, 1e3
	// guessedBetween is b where no class tells w: a third of the variance is between.
	guessedBetween = 0.5
)

// betweenOf returns b = t²/w of a base session, the variance between classes over that within.
func betweenOf(totals []moments.Total, s *moments.Session) float64 {
	var scatter, degrees, inverse float64
	means := dense.New(len(totals), s.Dim)
	for i, t := range totals {
		scatter += s.Classes[i].Scatter()
		degrees += float64(t.N - 1)
		inverse += 1 / float64(t.N) / float64(len(totals))
		copy(dense.Row(means, i), t.Mean())
	}
	switch {
	case len(totals) < 2:
		return 1
	case degrees == 0:
		return guessedBetween
	case scatter == 0:
		return mostBetween
	}
	dense.SubtractRow(means, dense.MeanRow(means))
	between := dense.SumSquares(means.Data) / float64(len(totals)-1)
	return min(max(between*degrees/scatter-inverse, leastBetween), mostBetween)
}

// scoring takes O(Cd) per row.
func (c Config) scoring(m *model) classifier.Scoring {
	return classifier.Scoring{
		Scores: m.Shared.means.open,
		LogProb: func(dst, scores []float64) {
			for j := range dst {
				dst[j] = scores[j] / m.Shared.Tau
			}
			classifier.LogSoftmax(dst)
		},
		Novelty: func(scores []float64) float64 { return scores[len(scores)-1] },
	}
}

// graph is open as a graph: scores (n×C) and novelty (n×1); with closed set, that of closed heads.
func (m *means) graph(g *onnx.Graph, x string, closed bool) (scores, novelty string) {
	C, d := m.rows.Rows, m.rows.Cols
	z := g.Op("Sub", classifier.PlacedGraph(g, x, m.cosine), g.Float64s(m.centre, d))
	scores = classifier.MulTransGraph(g, z, m.rows.Data, C, d)
	if !m.cosine {
		half := g.Op("Div", g.Op("Add", classifier.SquaresGraph(g, z), g.Float64s(m.sq, C)), g.Scalar(2))
		scores = g.Op("Min", g.Op("Sub", scores, half), g.Scalar(0))
	}
	switch {
	case !closed:
		return scores, m.noveltyGraph(g, z, scores)
	case m.cosine:
		return scores, g.Op("Sub", g.Scalar(1), classifier.MaxGraph(g, scores, C))
	}
	return scores, g.Op("Sqrt", g.Op("Mul", classifier.MaxGraph(g, scores, C), g.Scalar(-2)))
}

// noveltyGraph is novelty as a graph. Multiplied out, it is for every class
//
//	a·D + b·‖m_c−m₀‖² + e·s,  a = (1−g)/r − 1, b = (g²−g)/r, e = −2g/r
//
// over 2√(1−r), with g the gain and r the spread.
func (m *means) noveltyGraph(g *onnx.Graph, z, scores string) string {
	C, d := m.rows.Rows, m.rows.Cols
	ofD, constant, ofS := make([]float64, C), make([]float64, C), make([]float64, C)
	for c, o := range m.others {
		scale := 2 * math.Sqrt(1-o.spread)
		ofD[c] = ((1-o.gain)/o.spread - 1) / scale
		constant[c] = (o.gain*o.gain - o.gain) / o.spread * o.square / scale
		if ofS[c] = -2 * o.gain / o.spread / scale; m.cosine {
			constant[c] -= ofS[c] // of s−1
		}
	}
	D := classifier.SquaresGraph(g, g.Op("Sub", z, g.Float64s(m.offset(), d)))
	all := g.Op("Add", g.Op("Add", g.Op("Mul", D, g.Float64s(ofD, C)), g.Float64s(constant, C)),
		g.Op("Mul", scores, g.Float64s(ofS, C)))
	return g.Op("Neg", classifier.MaxGraph(g, g.Op("Neg", all), C))
}
