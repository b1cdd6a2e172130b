package hppca

import (
	"fmt"
	"maps"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/lowrank"
)

// Load returns the head that Save described, without statistics.
func Load(s classifier.State) (*HPPCA, error) { return classtable.Load("hppca", s, New) }

// encode returns tensors "super" (C), "parent" (of all nodes, level after level
// from the top), and, for the classes and with the prefix "node_" for the nodes,
// those of lowrank.Tensors. The stacked tensors of the classes are in the order of
// the super-classes.
func encode(m *model) map[string]classifier.Tensor {
	var nodes []lowrank.Gaussian
	parents := []int{}
	for _, l := range m.Shared.tree.levels {
		nodes, parents = append(nodes, l.nodes...), append(parents, l.parent...)
	}
	classes := m.Classes.Values()
	supers := supersOf(classes)
	tensors := lowrank.Tensors(gaussians(classes), "", bySuper(supers, len(m.Shared.tree.lowest().nodes)), m.Dim)
	maps.Copy(tensors, lowrank.Tensors(nodes, "node_", classifier.Range(0, len(nodes)), m.Dim))
	tensors["super"], tensors["parent"] = classifier.CountTensor(supers), classifier.CountTensor(parents)
	return tensors
}

// bySuper returns the columns in the order of their super-classes.
func bySuper(supers []int, n int) []int {
	columns := make([][]int, n)
	for i, s := range supers {
		columns[s] = append(columns[s], i)
	}
	order := make([]int, 0, len(supers))
	for _, c := range columns {
		order = append(order, c...)
	}
	return order
}

func (c Config) decode(m *model, s classifier.State, n int) ([]class, error) {
	if err := c.decodeTree(m, s, n); err != nil {
		return nil, fmt.Errorf("super-classes: %w", err)
	}
	supers := len(m.Shared.tree.lowest().nodes)
	of, err := s.Counts("super", n, 0, supers-1)
	if err != nil {
		return nil, err
	}
	if err := allUsed(of, supers); err != nil {
		return nil, err
	}
	gs, err := lowrank.FromTensors(s, "", n, m.Dim, c.Q, c.Lambda, bySuper(of, supers))
	if err != nil {
		return nil, err
	}
	classes := make([]class, n)
	for i := range classes {
		classes[i] = class{gs[i], of[i]}
	}
	return classes, nil
}

func (c Config) decodeTree(m *model, s classifier.State, classes int) error {
	levels, total := m.Shared.Levels, 0
	for _, n := range levels {
		if n < 1 || n > classes {
			return fmt.Errorf("a level of %d nodes", n)
		}
		total += n
	}
	if len(levels) == 0 || len(levels) > c.Levels {
		return fmt.Errorf("%d levels", len(levels))
	}
	parents, err := s.Counts("parent", total, 0, total)
	if err != nil {
		return err
	}
	nodes, err := lowrank.FromTensors(s, "node_", total, m.Dim, c.R, c.Lambda, classifier.Range(0, total))
	if err != nil {
		return err
	}
	t, above := tree{levels: make([]level, len(levels))}, 1
	for l, n := range levels {
		t.levels[l] = level{nodes[:n:n], parents[:n:n]}
		if err := allUsed(parents[:n], above); err != nil {
			return err
		}
		nodes, parents, above = nodes[n:], parents[n:], n
	}
	m.Shared.tree = t
	return nil
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
