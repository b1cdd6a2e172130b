package hppca

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
)

// Load returns the head that Save described, without statistics.
func Load(s classifier.State) (*HPPCA, error) {
	return classtable.Load("hppca", s, func(cfg Config) (*HPPCA, error) {
		cfg.Preset = cmp.Or(cfg.Preset, PresetDefault) // heads saved before there were presets
		return New(cfg)
	})
}

// fields describes the tensors of a class: those of its Gaussian, and "super".
func (cfg Config) fields(c *classifier.Codec, m *model, class *class) {
	class.Gaussian.Fields(c, m.Dim, cfg.Q)
	class.Lambda = cfg.Lambda
	c.Int("super", &class.super, 0, len(m.Shared.tree.lowest().nodes)-1)
}

// node is a Gaussian of the tree in its saved form.
type node struct {
	lowrank.Gaussian
	parent int
}

// nodeFields describes the tensors of the nodes, level by level from the top.
// Their names begin with "node_": those of their Gaussians, and "parent".
func (cfg Config) nodeFields(d, nodes int) func(c *classifier.Codec, n *node) {
	return func(c *classifier.Codec, n *node) {
		n.Gaussian.Fields(c, d, cfg.R)
		n.Lambda = cfg.Lambda
		c.Int("parent", &n.parent, 0, nodes)
	}
}

func (cfg Config) encode(m *model) map[string]classifier.Tensor {
	var nodes []node
	for _, l := range m.Shared.tree.levels {
		for i, g := range l.nodes {
			nodes = append(nodes, node{g, l.parent[i]})
		}
	}
	return classifier.EncodeClasses(nodes, "node_", cfg.nodeFields(m.Dim, len(nodes)))
}

func (cfg Config) decode(m *model, s classifier.State, classes int) error {
	levels, total := m.Shared.Levels, 0
	for _, n := range levels {
		if n < 1 || n > classes {
			return fmt.Errorf("super-classes: a level of %d nodes", n)
		}
		total += n
	}
	if len(levels) == 0 || len(levels) > cfg.Levels {
		return fmt.Errorf("super-classes: %d levels", len(levels))
	}
	nodes, err := classifier.DecodeClasses(s, total, "node_", cfg.nodeFields(m.Dim, total))
	if err != nil {
		return fmt.Errorf("super-classes: %w", err)
	}
	m.Shared.tree.levels = make([]level, len(levels))
	for l, n := range levels {
		for _, node := range nodes[:n] {
			at := &m.Shared.tree.levels[l]
			at.nodes, at.parent = append(at.nodes, node.Gaussian), append(at.parent, node.parent)
		}
		nodes = nodes[n:]
	}
	return nil
}

// check returns an error unless every node has something below it and every
// parent exists.
func (t tree) check(supers []int) error {
	below := supers
	for _, l := range slices.Backward(t.levels) {
		if err := allUsed(below, len(l.nodes)); err != nil {
			return fmt.Errorf("super-classes: %w", err)
		}
		below = l.parent
	}
	return allUsed(below, 1)
}

// allUsed returns an error unless the values are exactly 0 … n−1.
func allUsed(values []int, n int) error {
	used, distinct := make([]bool, n), 0
	for _, v := range values {
		if v < 0 || v >= n {
			return fmt.Errorf("node %d of %d", v, n)
		}
		if !used[v] {
			used[v] = true
			distinct++
		}
	}
	if distinct < n {
		return fmt.Errorf("%d of %d nodes have nothing below them", n-distinct, n)
	}
	return nil
}
