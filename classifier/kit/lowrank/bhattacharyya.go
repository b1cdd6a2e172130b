package lowrank

import (
	"math"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Bhattacharyya writes the Bhattacharyya distance (eq. 4.9) of every Gaussian
// of the set from q into dst, or only its mean term if meanOnly.
func (s *Set) Bhattacharyya(dst []float64, q Gaussian, meanOnly bool) error {
	o := s.against([]Gaussian{q})
	components := o.rows
	o.rows = fresh(components.Rows+1, components.Cols)
	dense.Copy32(o.rows, components)
	copy(dense.Row32(o.rows, components.Rows), o.means.Data)
	return s.each(&o, func(i int, c *compared) {
		mean, spread := s.items[i].bhattacharyya(&o.items[0], i, c)
		if dst[i] = mean; !meanOnly {
			dst[i] = mean + spread
		}
	})
}

// bhattacharyya returns both terms of eq. 4.9. With Σ = A + ½·L_q·D_q·L_qᵀ and
// A = λI + ½·L_p·D_p·L_pᵀ, λ the mean of both, everything follows from
// X = L_p·L_qᵀ and one Cholesky factor of the order of q:
//
//	A⁻¹ = (I − L_pᵀ·diag(W)·L_p)/λ,  W = D_p/(D_p + 2λ)
//	M   = I + ½·√D_q·L_q·A⁻¹·L_qᵀ·√D_q
//	|Σ| = |A|·|M|,  δᵀΣ⁻¹δ = δᵀA⁻¹δ − ‖chol(M)⁻¹·y‖²,  y = √(D_q/2)·L_q·A⁻¹·δ
func (p *stacked) bhattacharyya(q *stacked, i int, c *compared) (mean, spread float64) {
	lambda := (p.Lambda + q.Lambda) / 2
	m := len(q.Values)
	y := make([]float64, m) // first L_q·δ, δ = μ_p − μ_q
	for a, x := range c.meanOf(i, 0, m) {
		y[a] = float64(x) - q.origin[a]
	}
	M := dense.Identity(m).Data
	quadratic := dense.SquaredDistance(p.Mean, q.Mean)
	for b, v := range p.Values {
		x := c.of(i, b, 0, m+1)
		w, along := v/(v+2*lambda), p.origin[b]-float64(x[m]) // L_p·δ
		quadratic -= w * along * along
		for a := range m {
			y[a] -= w * along * float64(x[a])
			for e := range a + 1 {
				M[a*m+e] -= w * float64(x[a]) * float64(x[e])
			}
		}
	}
	for a, v := range q.Values {
		y[a] *= math.Sqrt(v/2) / lambda
		for e := range a + 1 {
			M[a*m+e] *= math.Sqrt(v*q.Values[e]) / (2 * lambda)
		}
		M[a*m+a]++
	}
	logDetM, inside := forward(M, y)
	quadratic = max(max(quadratic, 0)/lambda-inside, 0)
	logDet := logDetM + float64(p.Dim())*(math.Log(lambda)-(math.Log(p.Lambda)+math.Log(q.Lambda))/2)
	for _, v := range p.Values {
		logDet += math.Log1p(v / (2 * lambda))
	}
	return quadratic / 8, max(logDet-(p.logDet+q.logDet)/2, 0) / 2
}

// forward factors M (lower triangle, in place) and returns log|M| and ‖C⁻¹y‖²,
// C being the factor. M − I is positive semi-definite, so that no pivot is less
// than 1 except by rounding.
func forward(M, y []float64) (logDet, sq float64) {
	m := len(y)
	for i := range m {
		row := M[i*m : i*m+i+1]
		for j := range i {
			above := M[j*m : j*m+j+1]
			for k := range j {
				row[j] -= row[k] * above[k]
			}
			row[j] /= above[j]
			row[i] -= row[j] * row[j]
			y[i] -= row[j] * y[j]
		}
		row[i] = math.Sqrt(max(row[i], 1))
		y[i] /= row[i]
		logDet += 2 * math.Log(row[i])
		sq += y[i] * y[i]
	}
	return logDet, sq
}
