package gauss

import (
	"bytes"
	"crypto/sha256"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// leftOutRows is the number of examples of a session that are left out, about:
// at least one of every class, of at most as many classes.
const leftOutRows = 200

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
	if b.guessed() > 0 || float64(b.Degrees())+b.weight < 2 {
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
		hashes := make([][sha256.Size]byte, x.Rows)
		for i := range hashes {
			hashes[i] = dense.Hash32(dense.Row32(x, i))
		}
		order := dense.Range(0, x.Rows)
		slices.SortStableFunc(order, func(i, j int) int { return bytes.Compare(hashes[i][:], hashes[j][:]) })
		for _, i := range order[:min(each, x.Rows)] {
			row := make([]float64, x.Cols)
			dense.Widen(row, dense.Row32(x, i))
			l.rows.Data, l.of = append(l.rows.Data, row...), append(l.of, c)
		}
	}
	l.rows.Rows = len(l.of)
	dense.SubtractRow(l.rows, dense.MeanRow(b.means))
	return l
}

// Len returns the number of examples that are left out.
func (l *LeaveOut) Len() int { return len(l.of) }

// Score returns the mean negative log-likelihood of the examples in nats at the
// best temperature, and the share that is named correctly, when each is left out
// of S and of the mean of its class. O(d³ + (n+C)d² + nCd).
//
// x of a class of n examples with mean m̄, r = x−m̄, leaves S − αrrᵀ/D of D
// degrees of freedom, α = n/(n−1), and the mean m̄ − r/(n−1). The inverse of W is
// that of G = (1−ε)S + ε·tr/d·I updated by Sherman and Morrison's formula, with
// the mean tr of the traces that are left; package calibration says why x moves
// towards the mean. The means have one variance β in all directions: that is
// enough to compare values of ε.
func (l *LeaveOut) Score(epsilon float64) (nll, accuracy float64, err error) {
	b, d := l.basis, float64(l.basis.Dim())
	D := float64(b.Degrees()) + b.weight
	n := make([]float64, len(b.totals))
	for c, t := range b.totals {
		n[c] = float64(t.N)
	}
	means := dense.Clone(b.means)
	dense.SubtractRow(means, dense.MeanRow(b.means))

	G := dense.Clone(b.within)
	var lost float64
	for i, c := range l.of {
		lost += n[c] / (n[c] - 1) * dense.SquaredDistance(dense.Row(l.rows, i), dense.Row(means, c)) / float64(len(l.of))
	}
	b.shrink(G, epsilon)
	b.addTarget(G, -epsilon*lost/D/d)
	L, err := linalg.InverseCholesky(G)
	if err != nil {
		return 0, 0, err
	}
	sp := &Space{Whiten: L, mul: b.solver.Backend}
	if means, err = sp.Turned(means); err != nil {
		return 0, 0, err
	}
	rows, err := sp.Turned(l.rows)
	if err != nil {
		return 0, 0, err
	}
	between, products := dense.New(means.Rows, means.Rows), dense.New(rows.Rows, means.Rows) // of means, and of rows and means
	if err := sp.Backend().MulTrans64(between, means, means); err != nil {
		return 0, 0, err
	}
	if err := sp.Backend().MulTrans64(products, rows, means); err != nil {
		return 0, 0, err
	}
	left := (D - 1) / D
	beta := max(left*dense.Trace(between)/max(1, float64(means.Rows-1))/d-b.noise(), leastBeta)

	var likelihood temperature.Likelihood
	for i, own := range l.of {
		x, r := dense.Row(rows, i), slices.Clone(dense.Row(rows, i))
		floats.Sub(r, dense.Row(means, own))
		alpha := n[own] / (n[own] - 1)
		q, moved := dense.SumSquares(r), (1-math.Sqrt((1+1/n[own])*(n[own]-1)/n[own]))*alpha
		floats.AddScaled(x, -moved, r)
		weight := (1 - epsilon) * alpha / D
		kappa := weight / (1 - weight*q)
		xr := dense.Dot(x, r)
		xx := left * (dense.SumSquares(x) + kappa*xr*xr)
		scores := dense.Row(products, i)
		for c, p := range scores {
			rm := p - between.Data[own*between.Stride+c]
			xm := left * (p - moved*rm + kappa*xr*rm)
			mm := left * (between.Data[c*between.Stride+c] + kappa*rm*rm)
			if c == own {
				k := 1 / (n[c] - 1)
				xm -= k * left * (xr + kappa*xr*q)
				mm += left * (k*k*(q+kappa*q*q) - 2*k*(rm+kappa*rm*q))
			}
			gain, v := n[c]*beta/(1+n[c]*beta), beta/(1+n[c]*beta)
			scores[c] = -(xx-2*gain*xm+gain*gain*mm)/(1+v)/2 - d*math.Log1p(v)/2
		}
		likelihood.Add(scores, own)
		if floats.MaxIdx(scores) == own {
			accuracy += 1 / float64(len(l.of))
		}
	}
	return likelihood.Minimum().After, accuracy, nil
}

// leastBeta is the least variance of class means by which values of ε are
// compared.
const leastBeta = 0.02
