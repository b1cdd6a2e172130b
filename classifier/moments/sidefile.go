package moments

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// SideTensors returns the statistics of several classes as named arrays, the
// position of the class in front of each name, as in "3.rows".
func SideTensors(stats []*Moments) map[string]classifier.Tensor {
	tensors := make(map[string]classifier.Tensor)
	for i, m := range stats {
		for key, t := range m.Tensors() {
			tensors[strconv.Itoa(i)+"."+key] = t
		}
	}
	return tensors
}

// FromSideTensors takes back what SideTensors returned, of n classes and
// examples of d values.
func FromSideTensors(d, n int, tensors map[string]classifier.Tensor) ([]*Moments, error) {
	byClass := make([]map[string]classifier.Tensor, n)
	for name, t := range tensors {
		position, key, _ := strings.Cut(name, ".")
		i, err := strconv.Atoi(position)
		if err != nil || i < 0 || i >= n {
			return nil, fmt.Errorf("statistics: tensor %q belongs to none of %d classes", name, n)
		}
		if byClass[i] == nil {
			byClass[i] = make(map[string]classifier.Tensor)
		}
		byClass[i][key] = t
	}
	stats := make([]*Moments, n)
	for i := range stats {
		var err error
		if stats[i], err = FromTensors(d, byClass[i]); err != nil {
			return nil, fmt.Errorf("class %d: %w", i, err)
		}
	}
	return stats, nil
}

// Made says whether n examples with this mean are what the statistics are of.
// They are saved exactly, so that count and mean are equal.
func (m *Moments) Made(n int, mean []float64) bool {
	if m.n != n {
		return false
	}
	for j, v := range m.Mean() {
		if v != mean[j] {
			return false
		}
	}
	return true
}
