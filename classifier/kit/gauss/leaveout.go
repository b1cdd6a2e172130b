package gauss

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// leftOutRows is the number of examples of a session that are left out, about:
// at least one of every class, of at most as many classes.
const leftOutRows = 200

// tolerance is the share by which the likelihood of examples that are left out may get
// worse as ε falls.
const tolerance = 0.005

// LeaveOut leaves single examples of a base session out of everything that
// Space estimates from them, for the comparison of values of ε.
type LeaveOut struct {
	basis *Basis
	rows  blas64.General // examples, centred at m₀
	of    []int          // their classes
}

// LeaveOut draws about 200 examples, by content, of classes with more than one;
// nil if there are none, because the session says nothing about the spread
// within classes without any one of them, or has only statistics without examples.
func (b *Basis) LeaveOut(s *moments.Session) *LeaveOut {
	if !b.leavesOut() {
		return nil
	}
	l := &LeaveOut{basis: b, rows: dense.New(0, b.Dim())}
	each := max(1, leftOutRows/len(s.Classes))
	step := max(1, len(s.Classes)/leftOutRows)
	for c := 0; c < len(s.Classes); c += step {
		if b.totals[c].N < 2 {
			continue
		}
		x, ok := s.Classes[c].Stored()
		if !ok {
			return nil
		}
		rows := make([][]float32, x.Rows)
		for i := range rows {
			rows[i] = dense.Row32(x, i)
		}
		for _, i := range holdout.Order(rows)[:min(each, x.Rows)] {
			row := make([]float64, x.Cols)
			dense.Widen(row, dense.Row32(x, i))
			l.rows.Data, l.of = append(l.rows.Data, row...), append(l.of, c)
		}
	}
	l.rows.Rows = len(l.of)
	dense.SubtractRow(l.rows, dense.MeanRow(b.means))
	return l
}

// leavesOut reports whether something is known about the spread within classes without
// any one example.
func (b *Basis) leavesOut() bool { return b.Guessed() == 0 && float64(b.Degrees())+b.weight >= 2 }

// Len returns the number of examples that are left out.
func (l *LeaveOut) Len() int { return len(l.of) }

// Choose chooses ε (ChooseEpsilon).
func (l *LeaveOut) Choose(ctx context.Context) ([]Trial, float64, error) {
	return ChooseEpsilon(ctx, tolerance, l.try)
}

// try scores every example after it was left out of S and of the mean of its class.
// O(d³ + (n+C)d² + nCd).
func (l *LeaveOut) try(epsilon float64) (Trial, error) {
	g, err := l.geometry(epsilon)
	if err != nil {
		return Trial{}, err
	}
	return trialOf(epsilon, len(l.of), func(i int) ([]float64, int) { return g.scores(i, l.of[i]), l.of[i] }), nil
}

// on leaves the same examples out of a basis with another weight of a prior.
func (l *LeaveOut) on(b *Basis) *LeaveOut { return &LeaveOut{basis: b, rows: l.rows, of: l.of} }

// geometry holds the examples and the class means, whitened by the W of one ε, with
// the products by which a single example is left out of it.
type geometry struct {
	rows, means       blas64.General // n×d, C×d
	products, between blas64.General // of rows and means, n×C; of means, C×C
	n                 []float64      // sizes of the classes
	beta              float64        // of all directions: enough to compare values of ε
	epsilon, degrees  float64        // ε, D
}

// geometry takes the mean of the traces that are left for that of S.
func (l *LeaveOut) geometry(epsilon float64) (*geometry, error) {
	b, d := l.basis, float64(l.basis.Dim())
	g := &geometry{epsilon: epsilon, degrees: float64(b.Degrees()) + b.weight, n: make([]float64, len(b.totals))}
	for c, t := range b.totals {
		g.n[c] = float64(t.N)
	}
	means := dense.Clone(b.means)
	dense.SubtractRow(means, dense.MeanRow(b.means))
	var lost float64
	for i, c := range l.of {
		lost += g.n[c] / (g.n[c] - 1) * dense.SquaredDistance(dense.Row(l.rows, i),
			dense.Row(means, c)) / float64(len(l.of))
	}
	sp := &Space{mul: b.solver.Backend}
	var err error
	if b.pairs != nil {
		sp.Whiten, err = rootOf(*b.pairs, 1-epsilon, epsilon*(b.spread()-lost/g.degrees)/d)
	} else {
		G := dense.Clone(b.within)
		b.shrink(G, epsilon)
		b.addTarget(G, -epsilon*lost/g.degrees/d)
		sp.Whiten.Full, err = linalg.InverseCholesky(b.solver.Raw(), G)
	}
	if err != nil {
		return nil, err
	}
	if g.means, err = sp.Turned(means); err != nil {
		return nil, err
	}
	if g.rows, err = sp.Turned(l.rows); err != nil {
		return nil, err
	}
	g.between, g.products = dense.New(means.Rows, means.Rows), dense.New(l.rows.Rows, means.Rows)
	if err := sp.Backend().MulTrans64(g.between, g.means, g.means); err != nil {
		return nil, err
	}
	if err := sp.Backend().MulTrans64(g.products, g.rows, g.means); err != nil {
		return nil, err
	}
	variance := g.left() * dense.Trace(g.between) / max(1, float64(means.Rows-1)) / d
	g.beta = max(variance-b.noise(), leastBeta)
	return g, nil
}

// left returns (D−1)/D, the share of the degrees of freedom that are left.
func (g *geometry) left() float64 { return (g.degrees - 1) / g.degrees }

// scores returns the log-densities of example i of the class own, left out.
//
// x of a class of n examples with mean m̄, r = x−m̄, leaves S − αrrᵀ/D of D
// degrees of freedom, α = n/(n−1), and the mean μ = m̄ − kr, k = 1/(n−1). The inverse
// of W is that of G = (1−ε)S + ε·tr/d·I updated by Sherman and Morrison's formula.
// The mean of n−1 examples is noisier than that of n: by k²rᵀW⁻¹r in ‖μ‖², which is
// subtracted, since the rivals have all of theirs.
func (g *geometry) scores(i, own int) []float64 {
	x, d, left := dense.Row(g.rows, i), float64(g.rows.Cols), g.left()
	r := slices.Clone(x)
	floats.Sub(r, dense.Row(g.means, own))
	n := g.n[own]
	weight := (1 - g.epsilon) * n / (n - 1) / g.degrees
	q, xr := dense.SumSquares(r), dense.Dot(x, r)
	kappa := weight / (1 - weight*q)
	xx := left * (dense.SumSquares(x) + kappa*xr*xr)
	scores := dense.Row(g.products, i)
	for c, p := range scores {
		rm := p - g.between.Data[own*g.between.Stride+c]
		xm := left * (p + kappa*xr*rm)
		mm := left * (g.between.Data[c*g.between.Stride+c] + kappa*rm*rm)
		if c == own {
			k := 1 / (n - 1)
			xm -= k * left * (xr + kappa*xr*q)
			mm -= 2 * k * left * (rm + kappa*rm*q)
		}
		gain, v := g.n[c]*g.beta/(1+g.n[c]*g.beta), g.beta/(1+g.n[c]*g.beta)
		scores[c] = -(xx-2*gain*xm+gain*gain*mm)/(1+v)/2 - d*math.Log1p(v)/2
	}
	return scores
}

// leastBeta is the least variance of class means by which values of ε are
// compared.
const leastBeta = 0.02
