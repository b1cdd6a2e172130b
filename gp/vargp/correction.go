package vargp

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// An anchor is the frozen posterior q(ũ) of a group's old inducing outputs,
// which Global and Retrain replace by that of the new ones.
type anchor struct {
	z       blas64.General
	sizes   []int
	inverse []blas64.General // of each head, the inverse of its block-diagonal chol, transposed
	target  []blas64.General // of each head, chol⁻¹·m, 1×ñ
	logDet  float64          // of chol, the sum over heads
}

// anchorOf freezes a group; nil where it has seen no task.
func anchorOf(g group, heads int) *anchor {
	if len(g.blocks) == 0 {
		return nil
	}
	a := &anchor{}
	a.z, a.sizes = g.all()
	for h := range heads {
		inv, target := dense.New(a.z.Rows, a.z.Rows), dense.New(1, a.z.Rows)
		at := 0
		for _, b := range g.blocks {
			n := b.z.Rows
			block := autodiff.View(inv, at, at, n, n)
			for i := range n {
				block.Data[i*block.Stride+i] = 1
				a.logDet += math.Log(b.chol[h].Data[i*n+i])
			}
			blas64.Trsm(blas.Left, blas.NoTrans, 1, blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: n, Data: b.chol[h].Data}, block)
			for i := range n {
				for j, m := range autodiff.Row(b.mean, h) {
					target.Data[at+i] += block.Data[i*block.Stride+j] * m
				}
			}
			at += n
		}
		a.inverse, a.target = append(a.inverse, dense.Transposed(inv)), append(a.target, target)
	}
	return a
}

// only is the site with one of its heads.
func (s *site) only(h int) *site {
	one := *s
	one.mean, one.spreads, one.packs = nil, nil, make([]*pack, len(s.packs))
	for t, m := range s.mean {
		one.mean = append(one.mean, s.tp.Block(m, h, 0, 1, m.Value.Cols))
		one.spreads = append(one.spreads, s.spreads[t][h:h+1])
	}
	return &one
}

// before returns L̃ (ñ×ñ) and a = L⁻¹·k(z, z̃)·L̃⁻ᵀ (n×ñ), which is to y = L̃⁻¹ũ what
// whitened is to the functions.
func (s *site) before(old *anchor) (l, a *autodiff.Var, err error) {
	tp, z := s.tp, pointsAt(s.theta, autodiff.Constant(old.z))
	l, err = tp.Cholesky(gram(tp, s.theta, z), s.cfg.Jitter)
	if err != nil {
		return nil, nil, err
	}
	return l, tp.Transpose(tp.Solve(l, tp.Transpose(s.whitened(z)))), nil
}

// correction is E[log p(ũ|θ) − log q(ũ|θ)] under q(u)·p(ũ|u), the sum over
// heads: the last term of eq. 16 and of eq. 19, negated.
//
// With y = L̃⁻¹ũ and ẽ = R̃·y, log p = −½‖y‖² − log|L̃| and
// log q = −½‖chol⁻¹(ẽ − m̃)‖² − log|chol|, the determinants of L̃ and R̃ being
// equal. Both are squares of linear maps of ũ, whose mean and covariance are
// those of the functions at z̃.
func (s *site) correction(old *anchor) (*autodiff.Var, error) {
	tp, H, n := s.tp, float64(s.heads()), float64(old.z.Rows)
	l, a, err := s.before(old)
	if err != nil {
		return nil, err
	}
	r := tp.BlockDiagonal(l, old.sizes)
	mean, quad := s.moments(s.project(a))
	prior := tp.Add(tp.Add(tp.SumSquares(mean), 1, tp.Sum(quad)), -H, tp.SumSquares(a))
	sum := tp.Add(tp.Scale(-0.5, prior), -H*n/2, autodiff.Number(1))
	e := tp.Mul(a, tp.Transpose(r))
	for h, inverse := range old.inverse {
		inv := autodiff.Constant(inverse)
		ah := tp.Mul(e, inv)
		one := s.only(h)
		mean, quad := one.moments(one.project(ah))
		posterior := tp.Add(tp.SumSquares(tp.Add(mean, -1, autodiff.Constant(old.target[h]))), 1, tp.Sum(quad))
		posterior = tp.Add(posterior, -1, tp.SumSquares(ah))
		posterior = tp.Add(posterior, 1, tp.SumSquares(tp.Mul(tp.Transpose(r), inv)))
		sum = tp.Add(sum, 0.5, posterior)
	}
	sum = tp.Add(sum, -H, tp.LogDiagonal(l, 0, old.z.Rows))
	return tp.Add(sum, 1, autodiff.Number(old.logDet)), nil
}

// published is correction as the authors' program has it: the same number, but
// ũ is drawn there in a way that lets no derivative through. So nothing that is
// trained gets one but θ, by the densities of a ũ that stays where it is.
func (s *site) published(old *anchor) (*autodiff.Var, error) {
	tp, H, n := s.tp, s.heads(), old.z.Rows
	l, a, err := s.before(old)
	if err != nil {
		return nil, err
	}
	b := s.project(a)
	mean, _ := s.moments(b)
	y := tp.Solve(l, autodiff.Constant(l.Value)) // I: what another θ would make of the y of ũ
	e := tp.Transpose(tp.Mul(tp.BlockDiagonal(l, old.sizes), y))
	sum := tp.Scale(-float64(H), tp.LogDiagonal(l, 0, n))
	for h, inverse := range old.inverse {
		cov, mu := s.covariance(a.Value, b, h), autodiff.View(mean.Value, h, 0, 1, n)
		u := tp.Transpose(tp.Mul(e, autodiff.Constant(inverse)))
		off := tp.Add(tp.Mul(autodiff.Constant(mu), tp.Transpose(u)), -1, autodiff.Constant(old.target[h]))
		posterior := tp.Add(trace(tp, u, cov), 1, tp.SumSquares(off))
		prior := tp.Add(trace(tp, y, cov), 1, tp.SumSquares(tp.Mul(autodiff.Constant(mu), tp.Transpose(y))))
		sum = tp.Add(tp.Add(sum, 0.5, posterior), -0.5, prior)
	}
	return tp.Add(sum, 1, autodiff.Number(old.logDet)), nil
}

// covariance is that of L̃⁻¹ũ under q(u)·p(ũ|u) for one head, ñ×ñ:
// I − aᵀa + Σ_t b_tᵀ·S_t·b_t.
func (s *site) covariance(a blas64.General, b []*autodiff.Var, head int) blas64.General {
	cov := dense.Identity(a.Cols)
	s.tp.AddProduct(cov, -1, a, blas.Trans, a, blas.NoTrans)
	for t, v := range b {
		half := s.tp.Product(s.spreads[t][head].chol.Value, blas.Trans, v.Value, blas.NoTrans)
		s.tp.AddProduct(cov, 1, half, blas.Trans, half, blas.NoTrans)
	}
	return cov
}

// trace is tr(u·cov·uᵀ), 1×1; cov is symmetric.
func trace(tp *autodiff.Tape, u *autodiff.Var, cov blas64.General) *autodiff.Var {
	half, sum := tp.Product(u.Value, blas.NoTrans, cov, blas.NoTrans), 0.0
	for i := range half.Rows {
		for j, v := range autodiff.Row(u.Value, i) {
			sum += v * autodiff.Row(half, i)[j]
		}
	}
	return tp.Op(autodiff.Number(sum).Value, func(g blas64.General) {
		for i := range half.Rows {
			accumulate(autodiff.Row(u.Grad(), i), 2*g.Data[0], autodiff.Row(half, i))
		}
	}, u)
}
