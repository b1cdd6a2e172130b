package gptree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A nodeKind selects the kernel of a node.
type nodeKind int

// The kinds of nodes. Root nodes are the roots over sessions.
const (
	gibbsNode nodeKind = iota
	rootNode
	variationalNode
	nodeKinds
)

// kernels returns the kernels of all kinds.
func (c Config) kernels() [nodeKinds]kernel.Kernel {
	return [nodeKinds]kernel.Kernel{gibbsNode: c.gibbsKernel(), rootNode: c.rootKernel(),
		variationalNode: c.kernel(c.Outputscale)}
}

// A node is the classifier at one split. Its points are lo … hi−1 among all
// points in leaf order: the points of a split are contiguous.
type node struct {
	// latent is nil where the mean alone decides.
	latent interface {
		Latent(rows blas64.General, prior []float64) (gp.Latent, error)
	}
	lo, hi int
	// mean is m_v at its points, nil if that is zero or latent is nil.
	mean []float64
	// kind selects the kernel.
	kind nodeKind
	// weights reports whether it takes features instead of covariances.
	weights bool
	// bias is added to its log-odds.
	bias float64
}

// A model makes predictions. It is immutable.
type model struct {
	cfg   Config
	mean  *mean // nil for zero
	tree  *Tree
	nodes []node
	// column is the column of every leaf, meanColumn that in the head of the mean.
	column, meanColumn []int
	points             kernel.Points
	// first is the first point of every leaf, followed by the number of points.
	first []int
	// parts are the joined parts, and trees their trees.
	parts []subtree
	trees []*Tree
	mul   linalg.Backend // nil is gonum
}

// An omegaSource returns the Gibbs node of a split over some classes, either
// sampled or restored.
type omegaSource func(prior gp.Prior, left []bool, classes []string) (*gp.Gibbs, error)

// A treeSource returns the tree of a part that was not fitted by VI, either built
// or restored.
type treeSource func(p subtree) (*Tree, error)

// sampled returns a source whose chains depend on the names of the classes: they
// stay when other splits come and go.
func sampled(ctx context.Context, cfg Config, on linalg.Backend) omegaSource {
	return func(prior gp.Prior, left []bool, classes []string) (*gp.Gibbs, error) {
		return gp.FitGibbs(ctx, prior.On(on), left, cfg.schedule(), func(chain int) *rand.Rand {
			return random.StreamOf(cfg.Seed, "gptree/gibbs", classes, chain)
		})
	}
}

// on returns the model on another backend.
func (m *model) on(mul linalg.Backend) (*model, error) {
	out := *m
	out.mul, out.nodes = mul, slices.Clone(m.nodes)
	for i := range out.nodes {
		switch n := out.nodes[i].latent.(type) {
		case *gp.VI:
			out.nodes[i].latent = n.On(mul)
		case *gp.Gibbs:
			next, err := n.On(mul)
			if err != nil {
				return nil, err
			}
			out.nodes[i].latent = next
		}
	}
	return &out, nil
}

// nodeMeans returns m_v at the points lo … hi−1 of a split.
type nodeMeans func(split, lo, hi int) ([]float64, error)

// sources are where a model takes what it does not find in the sessions fitted by
// VI.
type sources struct {
	trees treeSource
	nodes omegaSource
	// means and off are used if there is a mean: off reports whether the mean alone
	// decides in a part that was not fitted by VI.
	means func(m *model, rows exemplars.Rows) (nodeMeans, error)
	off   func(part int) bool
}

// assembleModel joins the trees of all parts, and fits the nodes that are not
// fitted by VI, on a backend (nil for gonum).
func assembleModel(cfg Config, all exemplars.Table, fitted variational, mu *mean, mul linalg.Backend,
	from sources) (*model, error) {
	m := &model{cfg: cfg, mean: mu, mul: mul, parts: cfg.parts(all, fitted)}
	var leaves []string
	own, dim := all.ByClass(), all.X.Cols
	for _, p := range m.parts {
		var t *Tree
		var err error
		if p.fitted != nil {
			t = p.fitted.tree
		} else if t, err = from.trees(p); err != nil {
			return nil, err
		}
		if m.tree == nil {
			m.tree = t
		} else if m.tree, err = Join(m.tree, t); err != nil {
			return nil, err
		}
		m.trees, leaves = append(m.trees, t), append(leaves, p.classes...)
	}
	rows := m.place(leaves, all.Classes, own)
	var err error
	if m.points, err = cfg.kernel(1).Points(rows.Matrix(dim, false)); err != nil {
		return nil, err
	}
	means := nodeMeans(func(int, int, int) ([]float64, error) { return nil, nil })
	if mu != nil {
		m.meanColumn = mu.columns(leaves)
		if means, err = from.means(m, rows); err != nil {
			return nil, err
		}
	}
	return m, m.fill(leaves, from, means)
}

// place returns the points of the classes in the order of their leaves.
func (m *model) place(leaves, classes []string, own map[string]exemplars.Rows) exemplars.Rows {
	columns := make(map[string]int)
	for i, name := range classes {
		columns[name] = i
	}
	m.column = make([]int, len(leaves))
	for leaf, name := range leaves {
		m.column[leaf] = columns[name]
	}
	var rows exemplars.Rows
	_, class := m.tree.Spans()
	for _, c := range class {
		m.first = append(m.first, len(rows))
		rows = append(rows, own[leaves[c]]...)
	}
	m.first = append(m.first, len(rows))
	return rows
}

// built returns a source that builds trees.
func built(ctx context.Context, cfg Config, all exemplars.Table) treeSource {
	own := all.ByClass()
	return func(p subtree) (*Tree, error) { return cfg.build(ctx, p.classes, all.X.Cols, own) }
}

// build returns the tree over the means of classes.
func (c Config) build(ctx context.Context, classes branch, dim int, own map[string]exemplars.Rows) (*Tree, error) {
	means := dense.New(len(classes), dim)
	for k, name := range classes {
		copy(dense.Row(means, k), meanOf(own[name], dim, c.Normalize))
	}
	seed := random.StreamOf(c.Seed, "gptree/tree", classes).Uint64()
	switch c.Tree {
	case BuildStickBreaking:
		return StickBreaking(means.Rows)
	case BuildRandom:
		return RandomBalanced(means.Rows, seed)
	}
	k := DefaultKMeansConfig()
	k.Seed = seed
	return KMeans(ctx, means, k)
}

// fill makes the nodes of all splits.
func (m *model) fill(leaves []string, from sources, means nodeMeans) error {
	var grams [nodeKinds]func() (blas64.General, error)
	for kind, k := range m.cfg.kernels() {
		grams[kind] = sync.OnceValues(func() (blas64.General, error) {
			pair, err := kernel.NewSelfPair(m.mul, m.points)
			if err != nil {
				return blas64.General{}, err
			}
			return k.Values(pair), nil
		})
	}
	if m.cfg.rootKernel() == m.cfg.gibbsKernel() {
		grams[rootNode] = grams[gibbsNode]
	}
	ids := m.splitIDs()
	m.nodes = make([]node, m.tree.Splits())
	spans, class := m.tree.Spans()
	names := make([]string, len(class))
	for k, c := range class {
		names[k] = leaves[c]
	}
	for s, span := range spans {
		n := &m.nodes[s]
		n.lo, n.hi = m.first[span.Lo], m.first[span.Hi]
		if ids[s].root {
			n.kind, n.bias = rootNode, -m.cfg.RootBias
			if m.mean != nil { // package comment
				continue
			}
		}
		b := m.parts[ids[s].part].fitted
		if b != nil && !ids[s].root {
			if n.kind = variationalNode; b.nodes != nil {
				n.latent = b.nodes[ids[s].split].On(m.mul)
			}
			continue
		}
		if m.mean != nil && from.off(ids[s].part) {
			continue
		}
		var err error
		if n.mean, err = means(s, n.lo, n.hi); err == nil {
			err = m.fillGibbs(n, m.first[span.Mid], names[span.Lo:span.Hi], grams[n.kind], from.nodes)
		}
		if err != nil {
			return fmt.Errorf("split %d: %w", s, err)
		}
	}
	return nil
}

// fillGibbs fits a Gibbs node over some classes whose left points end at middle.
func (m *model) fillGibbs(n *node, middle int, classes []string, gram func() (blas64.General, error),
	from omegaSource) error {
	var prior gp.Prior
	var err error
	if n.weights = m.cfg.Kernel == kernel.Linear && m.points.X.Cols < n.hi-n.lo; n.weights { // cheaper
		prior, err = gp.WeightSpace(m.cfg.gibbsKernel().Features(dense.Rows(m.points.X, n.lo, n.hi)))
	} else {
		var k blas64.General
		if k, err = gram(); err == nil {
			prior, err = gp.FunctionSpace(dense.View(k, n.lo, n.lo, n.hi-n.lo, n.hi-n.lo))
		}
	}
	if err == nil && n.mean != nil {
		prior, err = prior.Around(n.mean)
	}
	if err != nil {
		return err
	}
	left := make([]bool, n.hi-n.lo)
	for i := range middle - n.lo {
		left[i] = true
	}
	n.latent, err = from(prior, left, classes)
	return err
}

// A splitID identifies a split independently of its number in the whole tree.
type splitID struct {
	// root reports whether the split joins part to those before it.
	root        bool
	part, split int
}

// splitIDs returns the IDs of all splits: Join numbers the new root first, then
// the existing tree, then the new part.
func (m *model) splitIDs() []splitID {
	var ids []splitID
	for p, t := range m.trees {
		own := make([]splitID, t.Splits())
		for s := range own {
			own[s] = splitID{part: p, split: s}
		}
		if p == 0 {
			ids = own
			continue
		}
		ids = append(append([]splitID{{root: true, part: p}}, ids...), own...)
	}
	return ids
}
