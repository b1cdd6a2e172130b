package hppca

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/lowrank"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

type settings struct {
	Config Config `json:"config"`
	classifier.Learned
	// Levels is the number of nodes of each level, from the top.
	Levels []int `json:"levels,omitempty"`
}

// Save implements classifier.Saver: tensors "count" and "super" (C), "parent"
// (of all nodes, level after level from the top), and, for the classes and
// with the prefix "node_" for the nodes, "components", "mean" (×d), and
// stacked, "values" and "basis" (×d, float32). The stacked tensors of the
// classes are in the order of the super-classes. The statistics are not part
// of it.
func (h *HPPCA) Save() (classifier.State, error) {
	if h.classes.Len() == 0 {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	set := settings{Config: h.cfg, Learned: classifier.Learned{Dim: h.dim, Classes: h.classes.Names()}}
	counts := make([]int, h.classes.Len())
	for i, c := range h.classes.Values() {
		counts[i] = c.n
	}
	var nodes []lowrank.Gaussian
	parents := []int{}
	for _, l := range h.tree.levels {
		nodes, parents = append(nodes, l.nodes...), append(parents, l.parent...)
		set.Levels = append(set.Levels, len(l.nodes))
	}
	supers := supersOf(h.classes.Values())
	tensors := map[string]classifier.Tensor{
		"count": classifier.CountTensor(counts), "super": classifier.CountTensor(supers), "parent": classifier.CountTensor(parents),
	}
	lowrank.AddTensors(tensors, "", h.gaussians(), bySuper(supers, h.Supers()), h.dim)
	lowrank.AddTensors(tensors, "node_", nodes, classifier.Range(0, len(nodes)), h.dim)
	return classifier.NewState(set, tensors)
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

// Load returns the head that Save described, without statistics.
func Load(s classifier.State) (*HPPCA, error) {
	h, err := load(s)
	if err != nil {
		return nil, fmt.Errorf("hppca: load: %w", err)
	}
	return h, nil
}

func load(s classifier.State) (*HPPCA, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	h, err := New(set.Config)
	if err != nil {
		return nil, err
	}
	if fitted, err := set.Check(s); !fitted {
		return h, err
	}
	if h.tree, err = loadTree(s, set); err != nil {
		return nil, fmt.Errorf("super-classes: %w", err)
	}
	classes, err := loadClasses(s, set, len(h.tree.lowest().nodes))
	if err != nil {
		return nil, err
	}
	h.dim, h.classes = set.Dim, classifier.NewTable(set.Classes, classes)
	h.rescore()
	return h, nil
}

func loadClasses(s classifier.State, set settings, supers int) ([]class, error) {
	n := len(set.Classes)
	counts, err := s.Counts("count", n, 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	of, err := s.Counts("super", n, 0, supers-1)
	if err != nil {
		return nil, err
	}
	if err := allUsed(of, supers); err != nil {
		return nil, err
	}
	gs, err := lowrank.FromTensors(s, "", n, set.Dim, set.Config.Q, set.Config.Lambda, bySuper(of, supers))
	if err != nil {
		return nil, err
	}
	classes := make([]class, n)
	for i := range classes {
		classes[i] = class{Gaussian: gs[i], n: counts[i], super: of[i]}
	}
	return classes, nil
}

func loadTree(s classifier.State, set settings) (tree, error) {
	total := 0
	for _, n := range set.Levels {
		if n < 1 || n > len(set.Classes) {
			return tree{}, fmt.Errorf("a level of %d nodes", n)
		}
		total += n
	}
	if len(set.Levels) == 0 || len(set.Levels) > set.Config.Levels {
		return tree{}, fmt.Errorf("%d levels", len(set.Levels))
	}
	parents, err := s.Counts("parent", total, 0, total)
	if err != nil {
		return tree{}, err
	}
	nodes, err := lowrank.FromTensors(s, "node_", total, set.Dim, set.Config.R, set.Config.Lambda, classifier.Range(0, total))
	if err != nil {
		return tree{}, err
	}
	t := tree{levels: make([]level, len(set.Levels))}
	above := 1
	for l, n := range set.Levels {
		t.levels[l] = level{nodes[:n:n], parents[:n:n]}
		if err := allUsed(parents[:n], above); err != nil {
			return tree{}, err
		}
		nodes, parents, above = nodes[n:], parents[n:], n
	}
	return t, nil
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

// Statistics implements classifier.StatisticsKeeper: the exact statistics of
// every class that has them; tensors carry the class's position in the
// settings in front, as in "3.rows". Of classes with up to d examples they
// are the embeddings themselves.
func (h *HPPCA) Statistics() (classifier.State, error) {
	side := moments.SideOf(h.classes, h.dim, func(c class) *moments.Moments { return c.stats })
	return classifier.NewState(settings{Config: h.cfg, Learned: side.Learned}, side.Tensors)
}

// RestoreStatistics implements classifier.StatisticsKeeper. Statistics that
// belong to another model are refused; on error nothing changes.
func (h *HPPCA) RestoreStatistics(s classifier.State) error {
	classes, err := h.restored(s)
	if err != nil {
		return fmt.Errorf("hppca: restore statistics: %w", err)
	}
	h.classes = classes
	return nil
}

func (h *HPPCA) restored(s classifier.State) (classifier.Table[class], error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return h.classes, err
	}
	return moments.RestoreSide(h.classes, h.dim, moments.Side{Learned: set.Learned, Tensors: s.Tensors}, func(c class, stats *moments.Moments) (class, bool) {
		c.stats = stats
		return c, stats.Made(c.n, c.Mean)
	})
}
