package gauss

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// scatterRows is the number of rows from which a d×d product is faster.
	scatterRows = 512
	// floor is the minimum between-class variance before shrinkage.
	floor = 1e-6
	// betaAlone is β when a single base class says nothing about it.
	betaAlone = 1
	// noSpread is the trace below which a covariance of rows of length 1 is zero.
	noSpread = 1e-12
	// correlation is ρ, that of two images of a class where no class has two.
	correlation = 1.0 / 3
	// roundTotal is the ε of the total covariance: few images tell little of it.
	roundTotal = 0.9
)

// A Basis holds what the base session determines before ε is chosen.
type Basis struct {
	totals []moments.Total
	means  blas64.General // C×d
	within blas64.General // S, d×d; empty if there are pairs
	pairs  *linalg.Eigen  // eigenpairs of S if there are few examples, nil otherwise
	thin   blas64.General // n×d with S = thinᵀ·thin, if there are pairs
	solver linalg.Solver

	weight  float64   // degrees of freedom of S that come from a prior
	epsilon float64   // ε that goes with it
	target  []float64 // what S is shrunk towards, a diagonal of mean 1; nil is I
	given   *float64  // the share that is guessed, if it is that of another session
}

// Fit computes class means and S, the covariance pooled within the classes with
// divisor Σ(n−1), from a base session of embeddings of length 1; totals holds
// its first moments. O(nd²), or O(Cd²) from statistics; O(n²d) for few examples.
func Fit(ctx context.Context, backend linalg.Backend, s *moments.Session, totals []moments.Total) (*Basis, error) {
	b := &Basis{totals: totals, means: meansOf(totals, s.Dim), solver: linalg.Solver{Backend: backend}}
	stated := func(e moments.Examples) bool { return e.Stats() != nil }
	if fewRows(b.Examples(), s.Dim) && !slices.ContainsFunc(s.Classes, stated) {
		return b, b.fitThin(s)
	}
	b.within = dense.New(s.Dim, s.Dim)
	pending := dense.New(0, s.Dim)
	for i, e := range s.Classes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if stats := e.Stats(); stats != nil {
			if stats.N() > 1 {
				cov, err := stats.Covariance()
				if err != nil {
					return nil, err
				}
				b.addWithin(cov, float64(stats.N()-1))
			}
			continue
		}
		z := e.Float64()
		dense.SubtractRow(z, dense.Row(b.means, i))
		pending.Data = append(pending.Data, z.Data...)
		pending.Rows += z.Rows
		if pending.Rows >= scatterRows || i == len(s.Classes)-1 {
			part, err := b.solver.Scatter(pending)
			if err != nil {
				return nil, err
			}
			b.addWithin(part, 1)
			pending.Rows, pending.Data = 0, pending.Data[:0]
		}
	}
	degrees := float64(max(b.Degrees(), 1)) // 1 if every class has one example: S is zero
	for i := range b.within.Data {
		b.within.Data[i] /= degrees
	}
	return b, nil
}

// fitThin computes the eigenpairs of S from few examples.
func (b *Basis) fitThin(s *moments.Session) error {
	b.thin = dense.New(0, s.Dim)
	for i, e := range s.Classes {
		z := e.Float64()
		dense.SubtractRow(z, dense.Row(b.means, i))
		b.thin.Data = append(b.thin.Data, z.Data...)
		b.thin.Rows += z.Rows
	}
	blas64.Scal(1/math.Sqrt(float64(max(b.Degrees(), 1))), dense.Vector(b.thin.Data))
	e, err := b.solver.ThinEigen(b.thin, b.thin.Rows, 1)
	b.pairs = &e
	return err
}

// full returns S as a matrix, which the caller must not change.
func (b *Basis) full() (blas64.General, error) {
	if b.pairs == nil {
		return b.within, nil
	}
	return b.solver.Scatter(b.thin)
}

// spread returns tr(S).
func (b *Basis) spread() float64 {
	if b.pairs == nil {
		return dense.Trace(b.within)
	}
	return dense.SumSquares(b.thin.Data)
}

// addWithin adds weight·m to the sum that will be S.
func (b *Basis) addWithin(m blas64.General, weight float64) {
	for i, v := range m.Data {
		b.within.Data[i] += weight * v
	}
}

// meansOf returns the means of classes as rows.
func meansOf(totals []moments.Total, d int) blas64.General {
	means := dense.New(len(totals), d)
	for i, t := range totals {
		copy(dense.Row(means, i), t.Mean())
	}
	return means
}

// Degrees returns Σ(n−1), the degrees of freedom of S.
func (b *Basis) Degrees() int {
	degrees := 0
	for _, t := range b.totals {
		degrees += t.N - 1
	}
	return degrees
}

// MostExamples returns the size of the largest class.
func (b *Basis) MostExamples() (n int) {
	for _, t := range b.totals {
		n = max(n, t.N)
	}
	return n
}

// Examples returns the number of rows of the base session.
func (b *Basis) Examples() int { return b.Degrees() + len(b.totals) }

// Dim returns d.
func (b *Basis) Dim() int { return b.means.Cols }

// Space returns the shared part for a given ε, 0 < ε ≤ 1. O(d³), of few examples O(n²d).
func (b *Basis) Space(epsilon float64) (*Space, error) {
	means := dense.Clone(b.means)
	sp := &Space{Origin: dense.MeanRow(means), mul: b.solver.Backend}
	dense.SubtractRow(means, sp.Origin)
	guessed, err := b.Guessed(), error(nil)
	if b.pairs != nil {
		sp.Whiten, err = b.root(means, epsilon, guessed)
	} else {
		sp.Whiten.Full, err = b.triangle(means, epsilon, guessed)
	}
	if err != nil {
		return nil, err
	}
	if means, err = sp.Turned(means); err != nil {
		return nil, err
	}
	return sp, sp.fitBetween(b.solver, means, b.noise(), guessed)
}

// triangle returns L⁻¹ from the centred class means.
func (b *Basis) triangle(means blas64.General, epsilon, guessed float64) (blas64.General, error) {
	W := dense.Clone(b.within)
	b.shrink(W, epsilon)
	if guessed > 0 && b.weight == 0 {
		total, err := b.total(means)
		if err != nil {
			return W, err
		}
		blas64.Scal(1-guessed, dense.Vector(W.Data))
		blas64.Axpy(guessed*(1-correlation), dense.Vector(total.Data), dense.Vector(W.Data))
	}
	return linalg.InverseCholesky(b.solver.Raw(), W)
}

// root is triangle from the eigenpairs of S: those of W are the same unless a share is guessed, which
// adds the class means.
func (b *Basis) root(means blas64.General, epsilon, guessed float64) (Whitening, error) {
	d := float64(b.Dim())
	within := (1 - guessed) * (1 - epsilon)
	around := (1 - guessed) * epsilon * b.spread() / d
	if guessed == 0 {
		return rootOf(*b.pairs, within, around)
	}
	C, share := float64(means.Rows), guessed*(1-correlation)
	between := share * (1 - roundTotal) / C
	total := dense.SumSquares(means.Data)/C + (1-b.noise())*b.spread()
	if total < noSpread {
		return rootOf(*b.pairs, within, around+share/d)
	}
	within += share * (1 - roundTotal) * (1 - b.noise())
	rows := dense.New(b.thin.Rows+means.Rows, b.Dim())
	dense.Copy(dense.View(rows, 0, 0, b.thin.Rows, b.Dim()), b.thin)
	dense.Copy(dense.View(rows, b.thin.Rows, 0, means.Rows, b.Dim()), means)
	blas64.Scal(math.Sqrt(within), dense.Vector(rows.Data[:len(b.thin.Data)]))
	blas64.Scal(math.Sqrt(between), dense.Vector(rows.Data[len(b.thin.Data):]))
	e, err := b.solver.ThinEigen(rows, rows.Rows, 1)
	if err != nil {
		return Whitening{}, err
	}
	return rootOf(e, 1, around+share*roundTotal*total/d)
}

// Guessed returns the share, 0 to 1, of W that comes from the total covariance
// unless there is a prior, and of β that comes from a rule: 1 if no class has two
// different examples, 0 as soon as there are as many degrees of freedom within
// classes as classes, linear between; or what GuessAs was told. O(d).
func (b *Basis) Guessed() float64 {
	if b.spread() < noSpread {
		return 1
	}
	if b.given != nil {
		return *b.given
	}
	return max(0, 1-float64(b.Degrees())/float64(len(b.totals)))
}

// GuessAs sets the share that is guessed to that of the session of which this one is
// a part; nil leaves it as it is. Without some of its examples a session would guess
// more, and the temperature of heads that learn it would not be that of a head that
// has learned all.
func (b *Basis) GuessAs(share *float64) { b.given = share }

// noise returns mean(1/n), how much of the covariance of whitened class means
// is due to the examples.
func (b *Basis) noise() float64 {
	var sum float64
	for _, t := range b.totals {
		sum += 1 / float64(t.N)
	}
	return sum / float64(len(b.totals))
}

// total returns the covariance T of an image of any class, all being equally
// probable, as (1−ε)T + ε·tr(T)/d·I with ε = roundTotal, from the centred class
// means; I/d if there is none, as of rows of length 1. O(Cd²).
func (b *Basis) total(means blas64.General) (blas64.General, error) {
	T, err := b.solver.Scatter(means)
	if err != nil {
		return T, err
	}
	blas64.Scal(1/float64(means.Rows), dense.Vector(T.Data))
	blas64.Axpy(1-b.noise(), dense.Vector(b.within.Data), dense.Vector(T.Data))
	if dense.Trace(T) < noSpread {
		T = dense.Identity(T.Rows)
		blas64.Scal(1/float64(T.Rows), dense.Vector(T.Data))
		return T, nil
	}
	b.shrink(T, roundTotal)
	return T, nil
}

// shrink turns S into (1−ε)S + ε·tr(S)/d·t, t being the target: I without a prior.
func (b *Basis) shrink(S blas64.General, epsilon float64) {
	add := epsilon * dense.Trace(S) / float64(S.Rows)
	blas64.Scal(1-epsilon, dense.Vector(S.Data))
	b.addTarget(S, add)
}

// addTarget adds a multiple of the target to S.
func (b *Basis) addTarget(S blas64.General, factor float64) {
	for i := range S.Rows {
		t := 1.0
		if b.target != nil {
			t = b.target[i]
		}
		S.Data[i*S.Stride+i] += factor * t
	}
}

// fitBetween computes V and β from the whitened means of the base classes.
func (sp *Space) fitBetween(solver linalg.Solver, white blas64.General, noise, guessed float64) error {
	e := linalg.Eigen{Vectors: dense.New(0, white.Cols)}
	if white.Rows > 1 {
		var err error
		if e, err = betweenPairs(solver, white); err != nil {
			return err
		}
	}
	sp.Directions, sp.Rest = e.Vectors, betaAlone
	if white.Rows > 1 {
		sp.setBeta(e.Values, noise, guessed)
	}
	return nil
}

// betweenPairs returns the nonzero eigenpairs of the covariance of the rows
// (divisor C−1), from the smaller of the C×C and the d×d matrix.
func betweenPairs(solver linalg.Solver, white blas64.General) (linalg.Eigen, error) {
	C, d := white.Rows, white.Cols
	if C <= d {
		return solver.ThinEigen(white, C-1, float64(C-1))
	}
	s, err := solver.Scatter(white)
	if err != nil {
		return linalg.Eigen{}, err
	}
	e, err := solver.TopEigen(s, d)
	for i := range e.Values {
		e.Values[i] /= float64(C - 1)
	}
	return e, err
}

// setBeta turns eigenvalues b, zero in the directions without one, into β =
// max(b − noise, floor), averaged with its mean. The guessed share of β is that
// of images of a class that are correlated by ρ, ρ/(1−ρ) in every direction.
func (sp *Space) setBeta(b []float64, noise, guessed float64) {
	d := float64(len(sp.Origin))
	sp.Beta = make([]float64, len(b))
	mean := floor * (d - float64(len(b))) / d
	for i, v := range b {
		sp.Beta[i] = max(v-noise, floor)
		mean += sp.Beta[i] / d
	}
	shrunk := func(beta float64) float64 {
		return (1-guessed)*(beta+mean)/2 + guessed*correlation/(1-correlation)
	}
	for i, beta := range sp.Beta {
		sp.Beta[i] = shrunk(beta)
	}
	sp.Rest = shrunk(floor)
}
