package shrunk

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

// meanTol is the difference of a mean of float32 rows of length 1 from that in
// float64.
const meanTol = 1e-6

// Statistics implements classifier.StatisticsKeeper: the exact statistics of
// every class that has them; tensors carry the class's position in the
// settings in front, as in "3.rows". Of classes with up to d examples they
// are the embeddings themselves, scaled to length 1.
func (h *Head) Statistics() (classifier.State, error) {
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
	return classifier.NewState(settings{Method: h.method, Config: h.cfg, Dim: h.Dim(), Classes: names}, tensors)
}

// RestoreStatistics implements classifier.StatisticsKeeper. Statistics that
// belong to another model are refused; on error nothing changes.
func (h *Head) RestoreStatistics(s classifier.State) error {
	classes, err := h.restored(s)
	if err != nil {
		return fmt.Errorf("%s: restore statistics: %w", h.method, err)
	}
	h.classes = classes
	return nil
}

func (h *Head) restored(s classifier.State) (classifier.Table[class], error) {
	classes := h.classes.Clone()
	var set settings
	if err := s.Decode(&set); err != nil {
		return classes, err
	}
	if len(set.Classes) > 0 && set.Dim != h.Dim() {
		return classes, fmt.Errorf("statistics of %d values an example; the model has %d", set.Dim, h.Dim())
	}
	byClass := make([]map[string]classifier.Tensor, len(set.Classes))
	for name, t := range s.Tensors {
		position, key, _ := strings.Cut(name, ".")
		if i, err := strconv.Atoi(position); err == nil && i >= 0 && i < len(byClass) {
			if byClass[i] == nil {
				byClass[i] = make(map[string]classifier.Tensor)
			}
			byClass[i][key] = t
		}
	}
	for i, name := range set.Classes {
		c, ok := classes.Get(name)
		if !ok {
			return classes, fmt.Errorf("%q: %w: the statistics belong to another model", name, classifier.ErrUnknownClass)
		}
		stats, err := moments.FromTensors(h.Dim(), byClass[i])
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

// matches says whether the class was fitted to these statistics.
func matches(stats *moments.Moments, c class) bool {
	if stats.N() != c.N {
		return false
	}
	mean := c.Mean()
	for j, v := range stats.Mean() {
		if !(math.Abs(v-mean[j]) <= meanTol) {
			return false
		}
	}
	return true
}
