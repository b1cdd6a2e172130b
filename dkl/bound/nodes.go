package bound

import (
	"fmt"
	"sort"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// A Split is a node of a tree: the leaves Lo … Mid−1, counted from the left,
// are to its left, Mid … Hi−1 to its right.
type Split struct{ Lo, Mid, Hi int }

// Nodes are the variational posteriors of all nodes of a tree. No method is
// safe for concurrent use.
type Nodes struct {
	nodes []node
	// first is the first inducing input of every leaf, and last their number.
	first []int
}

// New returns nodes whose posteriors are the priors. inducing and examples
// count, for every leaf, its inducing inputs and its training examples; raw
// multiplies what is large.
func New(splits []Split, inducing, examples []int, raw linalg.Raw) (*Nodes, error) {
	if len(splits) == 0 || len(inducing) != len(splits)+1 || len(examples) != len(inducing) {
		return nil, fmt.Errorf("bound: %d splits with inducing inputs of %d and examples of %d leaves", len(splits), len(inducing), len(examples))
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
		n.nodes[v] = newNode(s, n.first[s.Lo], n.first[s.Hi], total, raw)
	}
	return n, nil
}

// Inducing returns M, the number of inducing inputs.
func (n *Nodes) Inducing() int { return n.first[len(n.first)-1] }

// Splits returns the number of nodes.
func (n *Nodes) Splits() int { return len(n.nodes) }

// A Problem is a batch as the nodes see it. It is only read.
type Problem struct {
	// Kmm (M×M, both triangles filled) and Knm (n×M) have the inducing inputs
	// leaf after leaf, Knn (n) is the prior variances.
	Kmm, Knm blas64.General
	Knn      []float64
	// Leaf is that of every row, ascending.
	Leaf []int
}

func (n *Nodes) check(p Problem) error {
	for _, m := range []blas64.General{p.Kmm, p.Knm} {
		if err := dense.Valid(m); err != nil {
			return err
		}
	}
	if M := n.Inducing(); p.Kmm.Rows != M || p.Kmm.Cols != M || p.Knm.Cols != M {
		return fmt.Errorf("kernel matrices of %d×%d and %d×%d for %d inducing inputs", p.Kmm.Rows, p.Kmm.Cols, p.Knm.Rows, p.Knm.Cols, M)
	}
	if len(p.Knn) != p.Knm.Rows || len(p.Leaf) != p.Knm.Rows || !sort.IntsAreSorted(p.Leaf) {
		return fmt.Errorf("%d rows with %d variances and %d leaves, which must ascend", p.Knm.Rows, len(p.Knn), len(p.Leaf))
	}
	if rows := len(p.Leaf); rows > 0 && (p.Leaf[0] < 0 || p.Leaf[rows-1] >= len(n.first)-1) {
		return fmt.Errorf("leaves %d … %d of %d", p.Leaf[0], p.Leaf[rows-1], len(n.first)-1)
	}
	return nil
}

// Place takes the kernel matrices of a batch: every other method speaks of
// that batch. An error says that training diverged.
func (n *Nodes) Place(p Problem) error {
	if err := n.check(p); err != nil {
		return fmt.Errorf("bound: %w", err)
	}
	return n.each(func(v *node) error {
		v.from, v.to = sort.SearchInts(p.Leaf, v.Lo), sort.SearchInts(p.Leaf, v.Hi)
		v.middle = sort.SearchInts(p.Leaf, v.Mid)
		if v.from == v.to {
			return nil
		}
		if err := v.factor(p.Kmm); err != nil {
			return err
		}
		return v.place(p)
	})
}

// Update brings c up to date and takes a natural-gradient step of rate ρ in
// 0 … 1 at every node that the batch has examples of (eq. 16, 17).
func (n *Nodes) Update(rate float64) error {
	if !(rate > 0 && rate <= 1) {
		return fmt.Errorf("bound: natural rate %g is not above 0 and at most 1", rate)
	}
	return n.each(func(v *node) error {
		if v.from == v.to {
			return nil
		}
		return v.update(rate)
	})
}

// each calls do for all nodes, in parallel, and returns the first error.
func (n *Nodes) each(do func(*node) error) error {
	errs := make([]error, len(n.nodes))
	dense.Parallel(len(n.nodes), func(v int) { errs[v] = do(&n.nodes[v]) })
	for v, err := range errs {
		if err != nil {
			return fmt.Errorf("bound: split %d: %w", v, err)
		}
	}
	return nil
}

// An Adjoint is the gradient of the loss with respect to the matrices of a
// Problem; that of Kmm is symmetric.
type Adjoint struct {
	Kmm, Knm blas64.General
	Knn      []float64
}

// Loss returns the loss of the batch in nats, each node's bound an example.
func (n *Nodes) Loss() (float64, error) {
	if err := n.each((*node).evaluate); err != nil {
		return 0, err
	}
	return n.sum()
}

// Gradient returns the loss and its gradient.
func (n *Nodes) Gradient(rows int) (float64, Adjoint, error) {
	err := n.each(func(v *node) error {
		if err := v.evaluate(); err != nil || v.from == v.to {
			return err
		}
		return v.differentiate()
	})
	if err != nil {
		return 0, Adjoint{}, err
	}
	M := n.Inducing()
	adj := Adjoint{Kmm: dense.New(M, M), Knm: dense.New(rows, M), Knn: make([]float64, rows)}
	dense.Parallel(M+rows, func(i int) {
		if i < M {
			n.addInducing(dense.Row(adj.Kmm, i), i)
		} else {
			n.addExample(adj, i-M)
		}
	})
	loss, err := n.sum()
	return loss, adj, err
}

// addInducing adds up the gradients of a row of Kmm.
func (n *Nodes) addInducing(dst []float64, i int) {
	for v := range n.nodes {
		if node := &n.nodes[v]; node.from < node.to && node.lo <= i && i < node.hi {
			blas64.Axpy(1, dense.Vector(dense.Row(node.kmm, i-node.lo)), dense.Vector(dst[node.lo:node.hi]))
		}
	}
}

// addExample adds up the gradients of a row of Knm and of its variance.
func (n *Nodes) addExample(adj Adjoint, i int) {
	for v := range n.nodes {
		if node := &n.nodes[v]; node.from <= i && i < node.to {
			blas64.Axpy(1, dense.Vector(dense.Row(node.abar, i-node.from)), dense.Vector(dense.Row(adj.Knm, i)[node.lo:node.hi]))
			adj.Knn[i] += node.knn[i-node.from]
		}
	}
}

func (n *Nodes) sum() (float64, error) {
	var sum float64
	for v := range n.nodes {
		sum += n.nodes[v].loss
	}
	if sum-sum != 0 {
		return 0, fmt.Errorf("bound: the loss is not finite: training diverged, lower the rate")
	}
	return sum, nil
}
