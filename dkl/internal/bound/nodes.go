package bound

import (
	"fmt"
	"sort"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Split is a node of a tree: the leaves Lo … Mid−1, counted from the left, are
// on its left, Mid … Hi−1 on its right.
type Split struct{ Lo, Mid, Hi int }

// Nodes are the variational posteriors of all nodes of a tree. No method is
// safe for concurrent use.
type Nodes struct {
	nodes []node
	// first is the first inducing input of every leaf, followed by their number.
	first []int
}

// A node is a split with its posterior and its part of the placed batch.
type node struct {
	Split
	*gp.VI
	lo, hi   int     // inducing inputs
	examples float64 // of training
	from, to int     // rows of the batch
	batch    *gp.Batch
	gradient gp.BoundGradient
	loss     float64
}

// scale returns n/|B|.
func (v *node) scale() float64 { return v.examples / float64(v.to-v.from) }

// New returns nodes whose posteriors are the priors. inducing and examples
// count, for every leaf, its inducing inputs and its training examples.
func New(splits []Split, inducing, examples []int, on linalg.Backend) (*Nodes, error) {
	if len(splits) == 0 || len(inducing) != len(splits)+1 || len(examples) != len(inducing) {
		return nil, fmt.Errorf("bound: %d splits with inducing inputs of %d and examples of %d leaves", len(splits),
			len(inducing), len(examples))
	}
	n := &Nodes{nodes: make([]node, len(splits)), first: make([]int, len(inducing)+1)}
	for i, m := range inducing {
		if m < 1 || examples[i] < 1 {
			return nil, fmt.Errorf("bound: leaf %d has %d inducing inputs and %d examples", i, m, examples[i])
		}
		n.first[i+1] = n.first[i] + m
	}
	for v, s := range splits {
		if !(0 <= s.Lo && s.Lo < s.Mid && s.Mid < s.Hi && s.Hi <= len(inducing)) {
			return nil, fmt.Errorf("bound: split %d of leaves %d, %d, %d", v, s.Lo, s.Mid, s.Hi)
		}
		total := 0
		for _, e := range examples[s.Lo:s.Hi] {
			total += e
		}
		lo, hi := n.first[s.Lo], n.first[s.Hi]
		n.nodes[v] = node{Split: s, VI: gp.VIPrior(hi-lo, on), lo: lo, hi: hi, examples: float64(total)}
	}
	return n, nil
}

// Inducing returns M, the number of inducing inputs.
func (n *Nodes) Inducing() int { return n.first[len(n.first)-1] }

// Splits returns the number of nodes.
func (n *Nodes) Splits() int { return len(n.nodes) }

// A Problem holds the kernel matrices of a batch. It is only read.
type Problem struct {
	// Kmm (M×M, both triangles filled) and Knm (n×M) have the inducing inputs
	// leaf after leaf; Knn (n) holds the prior variances.
	Kmm, Knm blas64.General
	Knn      []float64
	// Leaf is the leaf of every row, in ascending order.
	Leaf []int
}

func (n *Nodes) check(p Problem) error {
	for _, m := range []blas64.General{p.Kmm, p.Knm} {
		if err := dense.Valid(m); err != nil {
			return err
		}
	}
	M := n.Inducing()
	if p.Kmm.Rows != M || p.Kmm.Cols != M || p.Knm.Cols != M {
		return fmt.Errorf("kernel matrices of %d×%d and %d×%d for %d inducing inputs", p.Kmm.Rows, p.Kmm.Cols,
			p.Knm.Rows, p.Knm.Cols, M)
	}
	if len(p.Knn) != p.Knm.Rows || len(p.Leaf) != p.Knm.Rows || !sort.IntsAreSorted(p.Leaf) {
		return fmt.Errorf("%d rows with %d variances and %d leaves, which must ascend", p.Knm.Rows, len(p.Knn),
			len(p.Leaf))
	}
	rows := len(p.Leaf)
	if rows > 0 && (p.Leaf[0] < 0 || p.Leaf[rows-1] >= len(n.first)-1) {
		return fmt.Errorf("leaves %d … %d of %d", p.Leaf[0], p.Leaf[rows-1], len(n.first)-1)
	}
	return nil
}

// Place sets the batch that all other methods work on. An error means that
// training diverged.
func (n *Nodes) Place(p Problem) error {
	if err := n.check(p); err != nil {
		return fmt.Errorf("bound: %w", err)
	}
	for i := range n.nodes {
		v := &n.nodes[i]
		v.from, v.to = sort.SearchInts(p.Leaf, v.Lo), sort.SearchInts(p.Leaf, v.Hi)
	}
	return n.each(func(_ int, v *node) error {
		if err := v.move(p.Kmm); err != nil {
			return err
		}
		left := make([]bool, v.to-v.from)
		for i := range left {
			left[i] = p.Leaf[v.from+i] < v.Mid
		}
		var err error
		v.batch, err = v.Batch(dense.View(p.Knm, v.from, v.lo, v.to-v.from, v.Len()), p.Knn[v.from:v.to], left)
		return err
	})
}

// move sets the node's part of K_mm.
func (v *node) move(kmm blas64.General) error {
	if err := v.Move(dense.View(kmm, v.lo, v.lo, v.Len(), v.Len())); err != nil {
		return fmt.Errorf("training diverged, lower the rate: %w", err)
	}
	return nil
}

// Update updates c and takes a natural-gradient step of rate ρ in 0 … 1 at every
// node that has examples in the batch (eq. 16, 17).
func (n *Nodes) Update(rate float64) error {
	if !(rate > 0 && rate <= 1) {
		return fmt.Errorf("bound: natural rate %g is not above 0 and at most 1", rate)
	}
	return n.each(func(_ int, v *node) error { return v.Step(v.batch, v.scale(), rate) })
}

// each calls do in parallel for the nodes that have examples in the batch, and
// returns the first error.
func (n *Nodes) each(do func(split int, v *node) error) error {
	return dense.ParallelErr(len(n.nodes), func(i int) error {
		v := &n.nodes[i]
		if v.from == v.to {
			return nil
		}
		if err := do(i, v); err != nil {
			return fmt.Errorf("bound: split %d: %w", i, err)
		}
		return nil
	})
}

// An Adjoint is the gradient of the loss with respect to the matrices of a
// Problem; that of Kmm is symmetric.
type Adjoint = gp.BoundGradient

// Loss returns the loss of the batch in nats, each node's bound per example.
func (n *Nodes) Loss() (float64, error) {
	err := n.each(func(_ int, v *node) error {
		bound, err := v.Bound(v.batch, v.scale())
		v.loss = -bound / v.examples
		return err
	})
	if err != nil {
		return 0, err
	}
	return n.sum()
}

// Gradient returns the loss and its gradient.
func (n *Nodes) Gradient(rows int) (float64, Adjoint, error) {
	err := n.each(func(_ int, v *node) error {
		bound, g, err := v.Gradient(v.batch, v.scale())
		v.loss, v.gradient = -bound/v.examples, g
		return err
	})
	if err != nil {
		return 0, Adjoint{}, err
	}
	M := n.Inducing()
	adj := Adjoint{Kmm: dense.New(M, M), Knm: dense.New(rows, M), Knn: make([]float64, rows)}
	dense.Parallel(M+rows, func(i int) {
		for v := range n.nodes {
			switch v, e := &n.nodes[v], i-M; {
			case v.from == v.to:
			case v.lo <= i && i < v.hi: // a row of Kmm
				v.addTo(dense.Row(adj.Kmm, i), v.gradient.Kmm, i-v.lo)
			case v.from <= e && e < v.to: // of Knm
				v.addTo(dense.Row(adj.Knm, e), v.gradient.Knm, e-v.from)
				adj.Knn[e] -= v.gradient.Knn[e-v.from] / v.examples
			}
		}
	})
	loss, err := n.sum()
	return loss, adj, err
}

// addTo adds row i of the gradient of the node's bound to that of the loss.
func (v *node) addTo(dst []float64, g blas64.General, i int) {
	blas64.Axpy(-1/v.examples, dense.Vector(dense.Row(g, i)), dense.Vector(dst[v.lo:v.hi]))
}

func (n *Nodes) sum() (float64, error) {
	var sum float64
	for _, v := range n.nodes {
		if v.from < v.to {
			sum += v.loss
		}
	}
	if sum-sum != 0 {
		return 0, fmt.Errorf("bound: the loss is not finite: training diverged, lower the rate")
	}
	return sum, nil
}

// LogOdds writes log p(left)/p(right) of every row of knm (n×M), with prior
// variances knn (n), at every split into dst (n×splits), by quadrature (eq. 11,
// 14). It discards the placed batch.
func (n *Nodes) LogOdds(dst, kmm, knm blas64.General, knn []float64) error {
	p := Problem{Kmm: kmm, Knm: knm, Knn: knn, Leaf: make([]int, len(knn))}
	if err := n.check(p); err != nil {
		return fmt.Errorf("bound: predict: %w", err)
	}
	if dst.Rows != knm.Rows || dst.Cols != len(n.nodes) {
		return fmt.Errorf("bound: predict: %d×%d for %d rows and %d splits", dst.Rows, dst.Cols, knm.Rows, len(n.nodes))
	}
	for i := range n.nodes {
		n.nodes[i].from, n.nodes[i].to = 0, len(knn)
	}
	return n.each(func(split int, v *node) error {
		if err := v.move(kmm); err != nil {
			return err
		}
		latent, err := v.Latent(dense.View(knm, 0, v.lo, knm.Rows, v.Len()), knn)
		if err != nil {
			return err
		}
		left, right := make([]float64, len(knn)), make([]float64, len(knn))
		latent.LogProbs(left, right, gp.Quadrature)
		for i := range left {
			dense.Row(dst, i)[split] = left[i] - right[i]
		}
		return nil
	})
}

// State returns the natural parameters of all splits, one after the other:
// h (Σm) and the lower triangles of P by rows (Σm(m+1)/2).
func (n *Nodes) State() (eta, precision []float64) {
	for _, v := range n.nodes {
		h, p := v.State()
		eta = append(eta, h...)
		for i := range p.Rows {
			precision = append(precision, dense.Row(p, i)[:i+1]...)
		}
	}
	return eta, precision
}

// Restore sets the natural parameters to those returned by State.
func (n *Nodes) Restore(eta, precision []float64) error {
	var values, squares int
	for _, v := range n.nodes {
		values, squares = values+v.Len(), squares+v.Len()*(v.Len()+1)/2
	}
	if len(eta) != values || len(precision) != squares {
		return fmt.Errorf("bound: natural parameters of %d and %d values, want %d and %d", len(eta), len(precision),
			values, squares)
	}
	for k, v := range n.nodes {
		p := dense.New(v.Len(), v.Len())
		for i := range p.Rows {
			for j := range i + 1 {
				dense.Row(p, i)[j], dense.Row(p, j)[i] = precision[j], precision[j]
			}
			precision = precision[i+1:]
		}
		if err := v.Restore(eta[:v.Len()], p); err != nil {
			return fmt.Errorf("bound: split %d: %w", k, err)
		}
		eta = eta[v.Len():]
	}
	return nil
}
