package bound

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/quadrature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// LogOdds writes log p(left)/p(right) of every row of knm (n×M), with prior
// variances knn (n), at every split into dst (n×splits), by quadrature (eq.
// 11, 14). What Place was given is gone after it.
func (n *Nodes) LogOdds(dst, kmm, knm blas64.General, knn []float64) error {
	p := Problem{Kmm: kmm, Knm: knm, Knn: knn, Leaf: make([]int, len(knn))}
	if err := n.check(p); err != nil {
		return fmt.Errorf("bound: predict: %w", err)
	}
	if dst.Rows != knm.Rows || dst.Cols != len(n.nodes) {
		return fmt.Errorf("bound: predict: %d×%d for %d rows and %d splits", dst.Rows, dst.Cols, knm.Rows, len(n.nodes))
	}
	errs := make([]error, len(n.nodes))
	dense.Parallel(len(n.nodes), func(i int) {
		v := &n.nodes[i]
		v.from, v.middle, v.to = 0, 0, len(knn)
		if errs[i] = v.predict(p); errs[i] != nil {
			return
		}
		for j, mean := range v.mu {
			yes, no := quadrature.LogSigmoids(mean, max(v.c[j]*v.c[j]-mean*mean, 0))
			dense.Row(dst, j)[i] = yes - no
		}
	})
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("bound: predict: split %d: %w", i, err)
		}
	}
	return nil
}

// predict computes the moments of the rows.
func (v *node) predict(p Problem) error {
	if err := v.factor(p.Kmm); err != nil {
		return err
	}
	if err := v.place(p); err != nil {
		return err
	}
	return v.moments()
}

// Moments returns the mean (m) and covariance (m×m) of f̄ at a split under the
// kernel matrix of all inducing inputs.
func (n *Nodes) Moments(split int, kmm blas64.General) ([]float64, blas64.General, error) {
	v := &n.nodes[split]
	mean, cov, err := v.inducing(kmm)
	if err != nil {
		return nil, cov, fmt.Errorf("bound: split %d: %w", split, err)
	}
	return mean, cov, nil
}

// inducing returns L·Eu and L·S·Lᵀ.
func (v *node) inducing(kmm blas64.General) ([]float64, blas64.General, error) {
	l, half := dense.New(v.len(), v.len()), dense.New(v.len(), v.len())
	if err := v.cholesky(l, kmm); err != nil {
		return nil, l, err
	}
	mean := make([]float64, v.len())
	for i := range mean {
		clear(dense.Row(l, i)[i+1:])
		mean[i] = blas64.Dot(dense.Vector(dense.Row(l, i)), dense.Vector(v.mean))
	}
	if err := v.timesTrans(half, l, v.r); err != nil {
		return nil, l, err
	}
	cov, err := linalg.Gram(half)
	return mean, cov, err
}

// State returns the natural parameters of all splits, one after the other:
// h (Σm) and the lower triangles of P by rows (Σm(m+1)/2).
func (n *Nodes) State() (eta, precision []float64) {
	for i := range n.nodes {
		v := &n.nodes[i]
		eta = append(eta, v.eta...)
		for j := range v.len() {
			precision = append(precision, dense.Row(v.p, j)[:j+1]...)
		}
	}
	return eta, precision
}

// Restore takes back what State returned.
func (n *Nodes) Restore(eta, precision []float64) error {
	values, squares := n.size()
	if len(eta) != values || len(precision) != squares {
		return fmt.Errorf("bound: natural parameters of %d and %d values, want %d and %d", len(eta), len(precision), values, squares)
	}
	return n.restore(eta, precision)
}

func (n *Nodes) restore(eta, precision []float64) error {
	for i := range n.nodes {
		v := &n.nodes[i]
		eta = eta[copy(v.eta, eta):]
		for j := range v.len() {
			precision = precision[copy(dense.Row(v.p, j)[:j+1], precision):]
		}
		if err := v.refresh(); err != nil {
			return fmt.Errorf("bound: split %d: %w", i, err)
		}
	}
	return nil
}

// size is the lengths of what State returns.
func (n *Nodes) size() (eta, precision int) {
	for i := range n.nodes {
		m := n.nodes[i].len()
		eta, precision = eta+m, precision+m*(m+1)/2
	}
	return eta, precision
}
