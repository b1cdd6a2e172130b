package ppca

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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
	tensors := make(map[string]classifier.Tensor)
	var names []string
	for i, name := range h.classes.Names() {
		if stats := h.classes.Values()[i].stats; stats != nil {
			for key, t := range stats.Tensors() {
				tensors[strconv.Itoa(len(names))+"."+key] = t
			}
			names = append(names, name)
		}
	}
	return classifier.NewState(settings{Config: h.cfg, Dim: h.dim, Classes: names}, tensors)
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
	classes := h.classes.Clone()
	var set settings
	if err := s.Decode(&set); err != nil {
		return classes, err
	}
	if len(set.Classes) > 0 && set.Dim != h.dim {
		return classes, fmt.Errorf("statistics of %d values an example; the model has %d", set.Dim, h.dim)
	}
	byClass := splitTensors(s.Tensors)
	for i, name := range set.Classes {
		c, ok := classes.Get(name)
		if !ok {
			return classes, fmt.Errorf("%q: %w: the statistics belong to another model", name, classifier.ErrUnknownClass)
		}
		stats, err := moments.FromTensors(h.dim, byClass[strconv.Itoa(i)])
		if err != nil {
			return classes, fmt.Errorf("class %q: %w", name, err)
		}
		if !matches(stats, c) {
			return classes, fmt.Errorf("class %q: the statistics belong to another model or to an older session", name)
		}
		c.stats = stats
		classes.Put(name, c)
	}
	return classes, nil
}

// splitTensors sorts "3.rows" under "3".
func splitTensors(tensors map[string]classifier.Tensor) map[string]map[string]classifier.Tensor {
	out := make(map[string]map[string]classifier.Tensor)
	for name, t := range tensors {
		class, key, _ := strings.Cut(name, ".")
		if out[class] == nil {
			out[class] = make(map[string]classifier.Tensor)
		}
		out[class][key] = t
	}
	return out
}

// matches says whether the class was fitted to these statistics: they are
// saved exactly, so that count and mean are equal.
func matches(stats *moments.Moments, c class) bool {
	if stats.N() != c.n {
		return false
	}
	for j, v := range stats.Mean() {
		if v != c.mean[j] {
			return false
		}
	}
	return true
}
