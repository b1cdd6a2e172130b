package dkl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/dkl/internal/bound"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// An objective is phase 2: the sum of the bounds of a tree's nodes as a function
// of one vector, θ followed by X̄ (M×D, leaf after leaf), log ℓ and log s.
type objective struct {
	head     *Projection    // on views of the vector
	inducing blas64.General // a view of the vector
	phi      []float64      // a view of the vector
	vector   []float64
	kernel   kernel.Kernel // its scales come from phi
	tree     *gptree.Tree
	nodes    *bound.Nodes
	leaf     []int // of every class
	class    []int // of every leaf
	counts   []int // inducing inputs of every leaf
	products linalg.Backend
}

// scales is the number of hyper-parameters of the kernel.
const scales = 2

// newObjective returns the objective of a head, whose θ it copies, and a start.
// sizes counts the training examples of every class.
func newObjective(h *Projection, s gptree.Start, k kernel.Kernel, sizes []int, m linalg.Backend) (*objective, error) {
	o := &objective{kernel: k, tree: s.Tree, products: m, leaf: make([]int, len(s.Classes))}
	var splits []bound.Split
	spans, class := s.Tree.Spans()
	for _, span := range spans {
		splits = append(splits, bound.Split(span))
	}
	o.class = class
	var rows [][]float32
	examples := make([]int, len(o.class))
	for leaf, c := range o.class {
		o.leaf[c], examples[leaf] = leaf, sizes[c]
		o.counts, rows = append(o.counts, len(s.Inducing[c])), append(rows, s.Inducing[c]...)
	}
	var err error
	if o.nodes, err = bound.New(splits, o.counts, examples, m); err != nil {
		return nil, err
	}
	o.lay(h, len(rows))
	copy(o.vector, h.theta)
	for i, r := range rows {
		dense.Widen(dense.Row(o.inducing, i), r)
	}
	o.phi[0], o.phi[1] = math.Log(s.Lengthscale), math.Log(s.Outputscale)
	return o, nil
}

// lay allocates the vector and its views.
func (o *objective) lay(h *Projection, inducing int) {
	p := len(h.theta)
	o.vector = make([]float64, p+inducing*h.Dim()+scales)
	o.head = newHead(h.cfg, h.shape, o.vector[:p:p])
	o.head.products = o.products
	var rest []float64
	o.inducing, rest = cutMatrix(o.vector[p:], inducing, h.Dim())
	o.phi = rest
}

// scaled returns the kernel with the current scales.
func (o *objective) scaled() (kernel.Kernel, error) {
	k := o.kernel
	k.Lengthscale, k.Outputscale = math.Exp(o.phi[0]), math.Exp(o.phi[1])
	if err := k.Validate(); err != nil {
		return k, fmt.Errorf("%w: training diverged, lower the rate", err)
	}
	return k, nil
}

// A placement is a batch with its kernel matrices.
type placement struct {
	k           kernel.Kernel
	x           blas64.General // embeddings
	z           kernel.Points  // projections
	self, cross kernel.Pair
	problem     bound.Problem
}

// matrices computes the kernel matrices of embeddings.
func (o *objective) matrices(x blas64.General) (placement, error) {
	p := placement{x: x}
	var err error
	if p.k, err = o.scaled(); err != nil {
		return p, err
	}
	z := dense.New(x.Rows, o.head.Dim())
	if err := o.head.Forward(z, x); err != nil {
		return p, err
	}
	inducing, err := p.k.Points(o.inducing)
	if err != nil {
		return p, err
	}
	if p.z, err = p.k.Points(z); err != nil {
		return p, err
	}
	if p.self, err = kernel.NewSelfPair(o.products, inducing); err != nil {
		return p, err
	}
	if p.cross, err = kernel.NewPair(o.products, p.z, inducing); err != nil {
		return p, err
	}
	p.problem = bound.Problem{Kmm: p.k.Values(p.self), Knm: p.k.Values(p.cross), Knn: make([]float64, x.Rows)}
	p.k.Diagonal(p.problem.Knn, p.z)
	return p, nil
}

// place sets the batch of the nodes; its leaves ascend.
func (o *objective) place(x blas64.General, leaf []int) (placement, error) {
	p, err := o.matrices(x)
	if err != nil {
		return p, err
	}
	p.problem.Leaf = leaf
	return p, o.nodes.Place(p.problem)
}

// gradient returns the loss of the placed batch and writes its gradient.
func (o *objective) gradient(grad []float64, p placement) (float64, error) {
	loss, adj, err := o.nodes.Gradient(p.x.Rows)
	if err != nil {
		return 0, err
	}
	mm, err := p.k.Gradient(p.self, p.problem.Kmm, adj.Kmm)
	if err != nil {
		return 0, err
	}
	nm, err := p.k.Gradient(p.cross, p.problem.Knm, adj.Knm)
	if err != nil {
		return 0, err
	}
	nn, err := p.k.DiagonalGradient(adj.Knn, p.z)
	if err != nil {
		return 0, err
	}
	dense.Add(nm.X, 1, nn.X)
	n := len(o.head.theta)
	if err := o.head.Backward(grad[:n], blas64.General{}, p.x, nm.X); err != nil {
		return 0, err
	}
	inducing, phi := cutMatrix(grad[n:], o.inducing.Rows, o.inducing.Cols)
	copy(inducing.Data, mm.X.Data)
	dense.Add(inducing, 1, nm.Z)
	phi[0] = (mm.Lengthscale + nm.Lengthscale + nn.Lengthscale) * p.k.Lengthscale
	phi[1] = (mm.Outputscale + nm.Outputscale + nn.Outputscale) * p.k.Outputscale
	return loss, nil
}

// logProb returns the log-probabilities of embeddings, one column per class.
func (o *objective) logProb(x blas64.General) (blas64.General, error) {
	out := dense.New(x.Rows, len(o.leaf))
	p, err := o.matrices(x)
	if err != nil {
		return out, err
	}
	odds := dense.New(x.Rows, o.nodes.Splits())
	if err := o.nodes.LogOdds(odds, p.problem.Kmm, p.problem.Knm, p.problem.Knn); err != nil {
		return out, err
	}
	return out, o.tree.LogProb(out, odds)
}

// start returns the tree with the trained inducing inputs and kernel.
func (o *objective) start(classes []string) gptree.Start {
	s := gptree.Start{
		Classes: classes, Tree: o.tree, Inducing: make([][][]float32, len(classes)),
		Lengthscale: math.Exp(o.phi[0]), Outputscale: math.Exp(o.phi[1]),
	}
	at := 0
	for leaf, c := range o.class {
		for range o.counts[leaf] {
			s.Inducing[c] = append(s.Inducing[c], dense.Narrowed(dense.Row(o.inducing, at)))
			at++
		}
	}
	return s
}
