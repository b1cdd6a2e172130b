package engine

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// Params holds the parameters of a low-rank Gaussian.
type Params struct {
	Mean   []float64      // μ (d)
	W      blas64.General // d×q
	Sigma2 float64        // σ²
}

// A Gaussian is N(μ, W·Wᵀ + σ²I). It is immutable.
type Gaussian struct {
	Params
	wtw, minv blas64.General // WᵀW and M⁻¹ (q×q)
	logDet    float64        // of C
}

// NewGaussian takes ownership of the parameters. q may be 0 … d; σ² must be
// positive. O(dq² + q³).
func NewGaussian(p Params) (*Gaussian, error) {
	d, q := len(p.Mean), p.W.Cols
	if p.W.Rows != d || q > d || d == 0 {
		return nil, fmt.Errorf("gaussian: the mean has %d values, the directions are %d×%d", d, p.W.Rows, q)
	}
	if !(p.Sigma2 > 0) || math.IsInf(p.Sigma2, 0) {
		return nil, fmt.Errorf("gaussian: σ² is %g", p.Sigma2)
	}
	g := &Gaussian{Params: p, wtw: dense.New(q, q), minv: dense.New(q, q), logDet: float64(d-q) * math.Log(p.Sigma2)}
	if q == 0 {
		return g, nil
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, p.W, p.W, 0, g.wtw)
	inverse, logDet, err := invert(g.m())
	if err != nil {
		return nil, fmt.Errorf("gaussian: %w", err)
	}
	g.minv = inverse
	g.logDet += logDet
	return g, nil
}

// m returns M = WᵀW + σ²I (q×q).
func (g *Gaussian) m() blas64.General {
	m := dense.Clone(g.wtw)
	for j := range m.Rows {
		m.Data[j*m.Stride+j] += g.Sigma2
	}
	return m
}

// invert returns the inverse of a positive definite matrix and its
// log-determinant. If rounding has made the matrix indefinite, a little is
// added to its diagonal.
func invert(a blas64.General) (blas64.General, float64, error) {
	trace := dense.Trace(a)
	for jitter := 0.0; ; jitter = max(1e-12, 100*jitter) {
		for i := range a.Rows {
			a.Data[i*a.Stride+i] += jitter * trace / float64(a.Rows)
		}
		l, err := linalg.InverseCholesky(linalg.Gonum{}, a)
		if err == nil {
			return fromFactor(l)
		}
		var indefinite *linalg.NotPSDError
		if !errors.As(err, &indefinite) || jitter > 1e-3 || !(trace > 0) || math.IsInf(trace, 0) {
			return l, 0, err
		}
	}
}

// fromFactor returns lᵀ·l, the inverse of the matrix whose factor is l⁻¹.
func fromFactor(l blas64.General) (blas64.General, float64, error) {
	inverse := dense.New(l.Rows, l.Rows)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, l, l, 0, inverse)
	logDet := 0.0
	for i := range l.Rows {
		logDet -= 2 * math.Log(l.Data[i*l.Stride+i])
	}
	return inverse, logDet, nil
}

// latent writes z = M⁻¹Wᵀδ (q) for δ = x − μ. O(dq).
func (g *Gaussian) latent(z, delta []float64) {
	if len(z) == 0 {
		return
	}
	u := make([]float64, len(z))
	blas64.Gemv(blas.Trans, 1, g.W, dense.Vector(delta), 0, dense.Vector(u))
	blas64.Gemv(blas.NoTrans, 1, g.minv, dense.Vector(u), 0, dense.Vector(z))
}

// LogDensityNats returns log N(x; μ, C). The squared distance is
// ‖δ − Wz‖²/σ² + ‖z‖², in which nothing cancels. O(dq).
func (g *Gaussian) LogDensityNats(x []float64) float64 {
	delta := make([]float64, len(x))
	for j, m := range g.Mean {
		delta[j] = x[j] - m
	}
	z := make([]float64, g.W.Cols)
	g.latent(z, delta)
	if len(z) > 0 {
		blas64.Gemv(blas.NoTrans, -1, g.W, dense.Vector(z), 1, dense.Vector(delta))
	}
	r := dense.SumSquares(delta)/g.Sigma2 + dense.SumSquares(z)
	return -(float64(len(x))*math.Log(2*math.Pi) + g.logDet + r) / 2
}

// LogDetNats returns log|C|.
func (g *Gaussian) LogDetNats() float64 { return g.logDet }

// Root returns R (q×d) with RᵀR = W·M⁻¹·Wᵀ, so that the squared Mahalanobis
// distance is (‖δ‖² − ‖Rδ‖²)/σ². O(dq²).
func (g *Gaussian) Root() (blas64.General, error) {
	q, d := g.W.Cols, g.W.Rows
	root := dense.New(q, d)
	if q == 0 {
		return root, nil
	}
	l, err := linalg.InverseCholesky(linalg.Gonum{}, g.m())
	if err != nil {
		return root, fmt.Errorf("gaussian: %w", err)
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, l, g.W, 0, root)
	return root, nil
}
