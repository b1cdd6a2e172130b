package gptree

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A query holds rows to predict at, with the quantities that the nodes share.
type query struct {
	rows             int
	cross            [nodeKinds]blas64.General // covariances with all points
	prior            [nodeKinds][]float64      // variances
	phi              blas64.General            // features, if a node needs them
	logOdds, unknown blas64.General            // by split
	mean             blas64.General            // m_v by split, if there is a mean
	novelty          []float64                 // of the head of the mean
}

// predict returns the log-probabilities (n×C) of a few rows and, in column C,
// their novelty.
func (m *model) predict(x blas32.General) (blas64.General, error) {
	q, err := m.query(x)
	if err != nil {
		return blas64.General{}, err
	}
	if err := dense.ParallelErr(len(m.nodes), func(s int) error { return m.ask(q, s) }); err != nil {
		return blas64.General{}, err
	}
	leaves := dense.New(x.Rows, m.tree.Classes())
	if err := m.tree.LogProb(leaves, q.logOdds); err != nil {
		return blas64.General{}, err
	}
	out := dense.New(x.Rows, m.tree.Classes()+1)
	for i := range x.Rows {
		to, from := dense.Row(out, i), dense.Row(leaves, i)
		for leaf, l := range from {
			to[m.column[leaf]] = l
		}
		if m.mean != nil {
			to[len(to)-1] = q.novelty[i]
			continue
		}
		to[len(to)-1] = m.novelty(dense.Row(q.unknown, i), floats.MaxIdx(from))
	}
	return out, nil
}

// novelty averages unknown over the splits above a leaf.
func (m *model) novelty(unknown []float64, leaf int) float64 {
	at := m.tree.leaves[leaf]
	depth := m.tree.nodes[at].Depth
	if depth == 0 {
		return 0
	}
	var sum float64
	for m.tree.nodes[at].Parent >= 0 {
		at = m.tree.nodes[at].Parent
		sum += unknown[m.tree.nodes[at].Split]
	}
	return sum / float64(depth)
}

// query computes the quantities that the nodes share.
func (m *model) query(x blas32.General) (*query, error) {
	splits := m.tree.Splits()
	q := &query{rows: x.Rows, logOdds: dense.New(x.Rows, splits), unknown: dense.New(x.Rows, splits)}
	if m.mean != nil {
		logProb, novelty, err := m.mean.ask(x)
		if err != nil {
			return nil, err
		}
		q.novelty = novelty
		if q.mean, err = m.mean.logOdds(m.tree, m.meanColumn, logProb); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(m.nodes, func(n node) bool { return n.latent != nil }) {
			return q, nil
		}
	}
	k := m.cfg.kernel(1)
	z, err := k.Points(classifier.Placed(x, dense.Range(0, x.Rows), false))
	if err != nil {
		return nil, err
	}
	pair, err := kernel.NewPair(m.mul, z, m.points)
	if err != nil {
		return nil, err
	}
	q.cross[gibbsNode] = m.cfg.gibbsKernel().Values(pair)
	q.cross[variationalNode] = dense.New(x.Rows, m.points.Len())
	blas64.Axpy(m.cfg.Outputscale/m.cfg.GibbsOutputscale, dense.Vector(q.cross[gibbsNode].Data),
		dense.Vector(q.cross[variationalNode].Data))
	q.cross[rootNode] = q.cross[gibbsNode]
	if k := m.cfg.rootKernel(); k != m.cfg.gibbsKernel() {
		q.cross[rootNode] = k.Values(pair)
	}
	for kind, k := range m.cfg.kernels() {
		q.prior[kind] = make([]float64, x.Rows)
		k.Diagonal(q.prior[kind], z)
	}
	if m.cfg.Kernel == kernel.Linear {
		q.phi = m.cfg.gibbsKernel().Features(z.X)
	}
	return q, nil
}

// ask fills the columns of split s.
func (m *model) ask(q *query, s int) error {
	n := m.nodes[s]
	if n.latent == nil {
		for i := range q.rows {
			dense.Row(q.logOdds, i)[s] = dense.Row(q.mean, i)[s] + n.bias
		}
		return nil
	}
	rows, prior := dense.View(q.cross[n.kind], 0, n.lo, q.rows, n.hi-n.lo), q.prior[n.kind]
	if n.weights {
		rows, prior = q.phi, nil
	}
	latent, err := n.latent.Latent(rows, prior)
	if err != nil {
		return err
	}
	if m.mean != nil {
		around := make([]float64, q.rows)
		for i := range around {
			around[i] = dense.Row(q.mean, i)[s]
		}
		latent.Shift(around)
	}
	left, right, variance := make([]float64, q.rows), make([]float64, q.rows), make([]float64, q.rows)
	latent.LogProbs(left, right, m.cfg.Prediction)
	latent.Variances(variance)
	for i := range left {
		dense.Row(q.logOdds, i)[s] = left[i] - right[i] + n.bias
		dense.Row(q.unknown, i)[s] = 1 // the prior has no variance: fully unknown
		if p := q.prior[n.kind][i]; p > 0 {
			dense.Row(q.unknown, i)[s] = variance[i] / p
		}
	}
	return nil
}
