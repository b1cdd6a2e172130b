package ppca

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

type settings struct {
	Config  Config   `json:"config"`
	Dim     int      `json:"dim"`
	Classes []string `json:"classes"`
	Choice  *Choice  `json:"lambda_choice,omitempty"`
}

// Save implements classifier.Saver: tensors "count" and "components" (C),
// "mean" (C×d), and, stacked over the classes, "values" (Σq) and "basis"
// (Σq×d, float32). The statistics are not part of it.
func (h *PPCA) Save() (classifier.State, error) {
	n := h.classes.Len()
	counts, components := make([]int, n), make([]int, n)
	var mean, values []float64
	basis := []float32{}
	for i, c := range h.classes.Values() {
		counts[i], components[i] = c.n, len(c.values)
		mean, values = append(mean, c.mean...), append(values, c.values...)
		basis = append(basis, c.basis...)
	}
	return classifier.NewState(settings{h.cfg, h.dim, h.classes.Names(), h.choice}, map[string]classifier.Tensor{
		"count":      classifier.CountTensor(counts),
		"components": classifier.CountTensor(components),
		"mean":       {Shape: []int{n, h.dim}, F64: append([]float64{}, mean...)},
		"values":     {Shape: []int{len(values)}, F64: append([]float64{}, values...)},
		"basis":      {Shape: []int{len(values), h.dim}, F32: basis},
	})
}

// Load returns the head that Save described, without statistics.
func Load(s classifier.State) (*PPCA, error) {
	h, err := load(s)
	if err != nil {
		return nil, fmt.Errorf("ppca: load: %w", err)
	}
	return h, nil
}

func load(s classifier.State) (*PPCA, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	h, err := New(set.Config)
	if err != nil || len(set.Classes) == 0 {
		return h, err
	}
	if set.Dim < 1 {
		return nil, fmt.Errorf("dimension %d", set.Dim)
	}
	if err := classifier.CheckClasses(set.Classes); err != nil {
		return nil, err
	}
	if err := checkChoice(set.Config, set.Choice); err != nil {
		return nil, err
	}
	h.choice = set.Choice
	classes, err := loadClasses(s, len(set.Classes), set.Dim, h.cfg.Q)
	if err != nil {
		return nil, err
	}
	h.dim, h.classes = set.Dim, classifier.NewTable(set.Classes, classes)
	h.scorer = newScorer(h.mul, h.chosen(), h.dim, classes)
	h.scorer.share(h.classes.Values())
	return h, nil
}

func loadClasses(s classifier.State, n, d, q int) ([]class, error) {
	counts, err := s.Counts("count", n, 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	components, err := s.Counts("components", n, 0, min(q, d))
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, k := range components {
		rows += k
	}
	mean, err := s.Float64("mean", n, d)
	if err != nil {
		return nil, err
	}
	values, err := s.Float64("values", rows)
	if err != nil {
		return nil, err
	}
	basis, err := s.Float32("basis", rows, d)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if v <= 0 {
			return nil, fmt.Errorf("tensor values: %g is not a variance", v)
		}
	}
	classes, row := make([]class, n), 0
	for i, k := range components {
		classes[i] = class{n: counts[i], mean: mean[i*d : (i+1)*d], values: values[row : row+k], basis: basis[row*d : (row+k)*d]}
		row += k
	}
	return classes, nil
}

// Statistics implements classifier.StatisticsKeeper: the exact statistics of
// every class that has them; tensors carry the class's position in the
// settings in front, as in "3.rows". Of classes with up to d examples they
// are the embeddings themselves.
func (h *PPCA) Statistics() (classifier.State, error) {
	side := moments.SideOf(h.classes, h.dim, func(c class) *moments.Moments { return c.stats })
	return classifier.NewState(settings{Config: h.cfg, Dim: side.Dim, Classes: side.Classes}, side.Tensors)
}

// RestoreStatistics implements classifier.StatisticsKeeper. Statistics that
// belong to another model are refused; on error nothing changes.
func (h *PPCA) RestoreStatistics(s classifier.State) error {
	classes, err := h.restored(s)
	if err != nil {
		return fmt.Errorf("ppca: restore statistics: %w", err)
	}
	h.classes = classes
	return nil
}

func (h *PPCA) restored(s classifier.State) (classifier.Table[class], error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return h.classes, err
	}
	return moments.RestoreSide(h.classes, h.dim, moments.Side{Dim: set.Dim, Classes: set.Classes, Tensors: s.Tensors}, func(c class, stats *moments.Moments) (class, bool) {
		c.stats = stats
		return c, stats.Made(c.n, c.mean)
	})
}
