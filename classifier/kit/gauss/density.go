package gauss

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Class holds what a density is computed from, in whitened coordinates.
type Class struct {
	N    int
	Mean []float64 // L⁻¹(m̄−m₀), d
	// Noise is a = 1−ρ+ρr, the variance in every direction before that of the
	// mean is added; 1 if only the shared covariance is used.
	Noise float64
	// Values and Vectors (k×d, orthonormal rows, float32) are the directions with
	// additional variance, ρ(w−r) > 0, above Noise.
	Values  []float64
	Vectors []float32
	// Degrees is the degrees of freedom of Student's t; 0 means Gaussian.
	Degrees float64
}

// A Density is the predictive density of a class, N or t with mean μ and scale
// C = diag(a+v) + Uᵀ·diag(ρ(w−r))·U, prepared for a Stack. It is immutable.
type Density struct {
	n, noise float64
	mean     []float64 // μ, d
	weight   []float64 // D⁻¹μ, d, D = diag(a+v)
	square   float64   // μᵀD⁻¹μ
	logDet   float64   // log|C|
	degrees  float64
	// The low-rank part by Woodbury: A = Λ⁻¹ + U·D⁻¹·Uᵀ = R·Rᵀ, and the rows of
	// factor F = R⁻¹·U·D⁻¹, so that C⁻¹ = D⁻¹ − FᵀF.
	factor []float32 // k×d
	shift  []float64 // Fμ, k
	values []float64 // Λ, k
	inner  *mat.TriDense
}

// Densities returns the densities of classes, O(d(r+k)) per class plus O(dr)
// for all.
func (sp *Space) Densities(classes []Class) ([]*Density, error) {
	means := dense.New(len(classes), sp.Dim())
	for i, c := range classes {
		copy(dense.Row(means, i), c.Mean)
	}
	along, err := sp.along(means)
	if err != nil {
		return nil, err
	}
	out, back := make([]*Density, len(classes)), dense.Transposed(sp.Directions)
	// What μ and D⁻¹μ have along V beyond a multiple of m̄.
	mean, weight := dense.New(along.Rows, along.Cols), dense.New(along.Rows, along.Cols)
	dense.Parallel(len(classes), func(i int) {
		out[i] = sp.started(classes[i], dense.Row(along, i), dense.Row(mean, i), dense.Row(weight, i))
	})
	for _, m := range []*blas64.General{&mean, &weight} {
		if *m, err = sp.turnedBack(*m, back); err != nil {
			return nil, err
		}
	}
	return out, dense.ParallelErr(len(classes), func(i int) error {
		floats.Add(out[i].mean, dense.Row(mean, i))
		floats.Add(out[i].weight, dense.Row(weight, i))
		return sp.finish(out[i], classes[i], back)
	})
}

// turnedBack returns the vectors (n×d) that have these coordinates along V (n×r).
func (sp *Space) turnedBack(along, back blas64.General) (blas64.General, error) {
	out := dense.New(along.Rows, sp.Dim())
	if len(sp.Beta) == 0 || along.Rows == 0 {
		return out, nil
	}
	return out, sp.Backend().MulTrans64(out, along, back)
}

// started returns a density whose μ and D⁻¹μ are multiples of m̄, and writes the coordinates
// along V of what they lack. along holds those of m̄: V is orthonormal, so that those of μ are
// gain·along, and those of D⁻¹μ the same divided by a+v.
func (sp *Space) started(c Class, along, mean, weight []float64) *Density {
	n := float64(c.N)
	p := &Density{n: n, noise: c.Noise, degrees: c.Degrees, mean: make([]float64, len(c.Mean)),
		weight: make([]float64, len(c.Mean))}
	precision, elsewhere := sp.precisions(p)
	rest := sp.gain(sp.Rest, n)
	floats.ScaleTo(p.mean, rest, c.Mean)
	floats.ScaleTo(p.weight, elsewhere*rest, c.Mean)
	remainder := dense.SumSquares(c.Mean)
	for i, a := range along {
		mu := sp.gain(sp.Beta[i], n) * a
		mean[i], weight[i] = mu-rest*a, precision[i]*mu-elsewhere*rest*a
		p.square += precision[i] * mu * mu
		remainder -= a * a
	}
	p.square += elsewhere * rest * rest * max(0, remainder)
	return p
}

// finish corrects the length of μ, and adds what a class has of its own; back is Vᵀ.
func (sp *Space) finish(p *Density, c Class, back blas64.General) error {
	if f := sp.lengthening(c.Mean, p); f != 1 {
		floats.Scale(f, p.mean)
		floats.Scale(f, p.weight)
		p.square *= f * f
	}
	p.logDet = sp.logDet(p)
	if len(c.Values) == 0 {
		return nil
	}
	return sp.addLowRank(p, c, back)
}

// mostLengthened bounds the change of the length of a mean, for one near the origin.
const mostLengthened = 2.0

// lengthening returns (E[t]/t)^(η/2), by which μ is multiplied, from m̄ and D⁻¹μ in p:
// t = m̄ᵀD⁻¹μ is the square of a length and Σ β/(a+v) its expectation. Examples that are
// by chance more typical than others, or alike, make m̄ longer than those of other
// classes, and with it the scores of the class.
func (sp *Space) lengthening(mean []float64, p *Density) float64 {
	if sp.Length == 0 || sp.Certain {
		return 1
	}
	measured := dense.Dot(mean, p.weight)
	if measured <= 0 {
		return 1
	}
	precision, rest := sp.precisions(p)
	expected := float64(sp.Dim()-len(sp.Beta)) * sp.Rest * rest
	for i, w := range precision {
		expected += sp.Beta[i] * w
	}
	return min(max(math.Pow(expected/measured, sp.Length/2), 1/mostLengthened), mostLengthened)
}

func (sp *Space) direction(i int) []float64 { return dense.Row(sp.Directions, i) }

// precisions returns 1/(a+v) along V, and in the other directions.
func (sp *Space) precisions(p *Density) ([]float64, float64) {
	out := make([]float64, len(sp.Beta))
	for i, b := range sp.Beta {
		out[i] = 1 / (p.noise + sp.variance(b, p.n))
	}
	return out, 1 / (p.noise + sp.variance(sp.Rest, p.n))
}

// divide writes D⁻¹u into dst and returns uᵀD⁻¹u, from the coordinates of u
// along V and the remainder.
func (sp *Space) divide(dst, u []float64, p *Density) float64 {
	precision, rest := sp.precisions(p)
	copy(dst, u)
	along := make([]float64, len(precision))
	var sum float64
	for i, w := range precision {
		v := sp.direction(i)
		a := dense.Dot(u, v)
		along[i] = a
		sum += w * a * a
		blas64.Axpy(-a, dense.Vector(v), dense.Vector(dst)) // the remainder of u
	}
	sum += rest * dense.Dot(dst, dst)
	blas64.Scal(rest, dense.Vector(dst))
	for i, w := range precision {
		blas64.Axpy(w*along[i], dense.Vector(sp.direction(i)), dense.Vector(dst))
	}
	return sum
}

// dividedRows returns U·D⁻¹ for the rows of U (k×d): D⁻¹ is 1/(a+v₀), and along V
// 1/(a+v) instead; back is Vᵀ. Two products of matrices, O(kdr), are faster than divide
// for each row.
func (sp *Space) dividedRows(U blas64.General, p *Density, back blas64.General) (blas64.General, error) {
	precision, rest := sp.precisions(p)
	out := dense.New(U.Rows, U.Cols)
	if len(precision) > 0 {
		along := dense.New(U.Rows, len(precision))
		if err := sp.Backend().Mul64(along, U, sp.Directions); err != nil {
			return out, err
		}
		for i := range along.Rows {
			for j, w := range precision {
				along.Data[i*along.Stride+j] *= w - rest
			}
		}
		if err := sp.Backend().Mul64(out, along, back); err != nil {
			return out, err
		}
	}
	for i := range U.Rows {
		blas64.Axpy(rest, dense.Vector(dense.Row(U, i)), dense.Vector(dense.Row(out, i)))
	}
	return out, nil
}

// logDet returns log|D| = Σ log(a+v).
func (sp *Space) logDet(p *Density) float64 {
	sum := float64(sp.Dim()-len(sp.Beta)) * math.Log(p.noise+sp.variance(sp.Rest, p.n))
	for _, b := range sp.Beta {
		sum += math.Log(p.noise + sp.variance(b, p.n))
	}
	return sum
}

// addLowRank fills in the Woodbury part.
func (sp *Space) addLowRank(p *Density, c Class, back blas64.General) error {
	d, k := sp.Dim(), len(c.Values)
	U := dense.New(k, d)
	dense.Widen(U.Data, c.Vectors)
	G, err := sp.dividedRows(U, p, back)
	if err != nil {
		return err
	}
	A := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			A.SetSym(i, j, dense.Dot(dense.Row(U, i), dense.Row(G, j)))
		}
		A.SetSym(i, i, A.At(i, i)+1/c.Values[i])
		p.logDet += math.Log(c.Values[i])
	}
	var chol mat.Cholesky
	if !chol.Factorize(A) {
		return &linalg.NotPSDError{Order: k}
	}
	p.logDet += chol.LogDet()
	p.inner = new(mat.TriDense)
	chol.LTo(p.inner)
	F := mat.NewDense(k, d, G.Data)
	if err := F.Solve(p.inner, F); err != nil {
		return &linalg.NotPSDError{Order: k}
	}
	p.values, p.factor, p.shift = c.Values, dense.Narrowed(F.RawMatrix().Data), make([]float64, k)
	for i := range k {
		p.shift[i] = dot32(p.factor[i*d:(i+1)*d], p.mean)
	}
	return nil
}

func dot32(a []float32, b []float64) float64 {
	var sum float64
	for j, v := range a {
		sum += float64(v) * b[j]
	}
	return sum
}

// exact returns the squared Mahalanobis distance of whitened z in float64 as a
// sum of squares, so that nothing cancels: with f = F(z−μ) the minimiser of
// |δ−Uᵀa|²_D + aᵀΛ⁻¹a is a = R⁻ᵀf, and Uᵀa = D·Fᵀf. O(d(r+k)).
func (p *Density) exact(sp *Space, z []float64) float64 {
	delta, scratch := make([]float64, len(z)), make([]float64, len(z))
	for j, m := range p.mean {
		delta[j] = z[j] - m
	}
	k, d := len(p.values), len(z)
	if k == 0 {
		return sp.divide(scratch, delta, p)
	}
	f := make([]float64, k)
	back := make([]float64, d) // Fᵀf
	for i := range k {
		row := p.factor[i*d : (i+1)*d]
		f[i] = dot32(row, delta)
		for j, v := range row {
			back[j] += f[i] * float64(v)
		}
	}
	sp.multiply(scratch, back, p)
	for j, v := range scratch {
		delta[j] -= v
	}
	sum := sp.divide(scratch, delta, p)
	var a mat.VecDense
	if err := a.SolveVec(p.inner.T(), mat.NewVecDense(k, f)); err != nil {
		return math.Inf(1) // not reached: R has a positive diagonal
	}
	for i, v := range p.values {
		sum += a.AtVec(i) * a.AtVec(i) / v
	}
	return sum
}

// multiply writes D·u into dst.
func (sp *Space) multiply(dst, u []float64, p *Density) {
	precision, rest := sp.precisions(p)
	copy(dst, u)
	blas64.Scal(1/rest, dense.Vector(dst))
	for i, w := range precision {
		v := sp.direction(i)
		blas64.Axpy((1/w-1/rest)*dense.Dot(u, v), dense.Vector(v), dense.Vector(dst))
	}
}
