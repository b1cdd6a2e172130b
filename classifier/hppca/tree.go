package hppca

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A tree holds the super-classes, level by level from the top; classes are
// below the last level. Every node has something below it. It is immutable.
type tree struct{ levels []level }

type level struct {
	nodes []lowrank.Gaussian
	// parent is the node in the level above; 0 in the top level.
	parent []int
}

func (t tree) lowest() level { return t.levels[len(t.levels)-1] }

// regroup builds the tree (Algorithm 2), level by level from the classes. It
// does not depend on the order of the columns. examples is only called with
// Config.Cluster "raw".
func (c Config) regroup(ctx context.Context, m *model, examples func(class string) blas32.General) error {
	names := m.Classes.Names()
	order := dense.Range(0, len(names))
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	all := gaussians(m.Classes.Values())
	gs, weights := make([]lowrank.Gaussian, len(order)), make([]float64, len(order))
	sorted := make([]string, len(order))
	for i, column := range order {
		gs[i], sorted[i], weights[i] = all[column], names[column], 1
	}
	var t tree
	var classSupers, below []int
	for i, size := range c.sizes(len(gs)) {
		var found clusters
		var err error
		if i == 0 && c.Cluster == ClusterRaw {
			found, err = c.rawClusters(ctx, m.Backend, gs, sorted, size, examples)
		} else {
			found, err = c.cluster(ctx, m.Backend, gs, weights, size, i)
		}
		if err != nil {
			return fmt.Errorf("super-classes: %w", err)
		}
		if i == 0 {
			classSupers = found.of
		} else {
			copy(below, found.of)
		}
		below = make([]int, len(found.supers))
		t.levels = slices.Insert(t.levels, 0, level{nodes: found.supers, parent: below})
		gs, weights = found.supers, found.weights
	}
	for i, column := range order {
		m.Classes.Values()[column].super = classSupers[i]
	}
	m.Shared.tree = t
	return nil
}

// place assigns the classes from column known on to the super-class with the
// smallest KL divergence.
func place(m *model, known int) error {
	classes, nodes := m.Classes.Values()[known:], m.Shared.tree.lowest().nodes
	if len(classes) == 0 {
		return nil
	}
	kl := dense.New(len(classes), len(nodes))
	if err := lowrank.NewSet(gaussians(classes), m.Backend).KL(kl, nodes); err != nil {
		return err
	}
	for i := range classes {
		classes[i].super = smallest(dense.Row(kl, i))
	}
	return nil
}

// pruned returns the tree without the nodes that have nothing below them, and
// updates the classes accordingly.
func (t tree) pruned(classes []class) tree {
	supers := supersOf(classes)
	out := tree{levels: make([]level, len(t.levels))}
	below := supers
	for l := len(t.levels) - 1; l >= 0; l-- {
		old := t.levels[l]
		place := make([]int, len(old.nodes))
		for _, p := range below {
			place[p] = 1
		}
		var kept level
		for i, used := range place {
			if used == 1 {
				place[i] = len(kept.nodes)
				kept.nodes, kept.parent = append(kept.nodes, old.nodes[i]), append(kept.parent, old.parent[i])
			}
		}
		for i, p := range below {
			below[i] = place[p]
		}
		out.levels[l], below = kept, kept.parent
	}
	for i := range classes {
		classes[i].super = supers[i]
	}
	return out
}

func smallest(values []float64) int {
	best := 0
	for i, v := range values {
		if v < values[best] {
			best = i
		}
	}
	return best
}

// Hierarchy implements classifier.Hierarchical: super-classes without classes
// are left out.
func (h *HPPCA) Hierarchy() classifier.Branch {
	m := h.Model()
	if !m.Fitted() {
		return classifier.Branch{}
	}
	tree := m.Shared.tree
	below := make([][]classifier.Branch, len(tree.lowest().nodes))
	for i, c := range m.Classes.Values() {
		below[c.super] = append(below[c.super], classifier.Branch{Class: m.Classes.Names()[i]})
	}
	for l := len(tree.levels) - 1; l > 0; l-- {
		above := make([][]classifier.Branch, len(tree.levels[l-1].nodes))
		for node, parent := range tree.levels[l].parent {
			if len(below[node]) > 0 {
				above[parent] = append(above[parent], classifier.Branch{Below: below[node]})
			}
		}
		below = above
	}
	var root classifier.Branch
	for _, branches := range below {
		if len(branches) > 0 {
			root.Below = append(root.Below, classifier.Branch{Below: branches})
		}
	}
	return root
}
