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

// A Side is what a side file holds: the statistics of some classes of a head,
// examples of Dim values, by SideTensors in the order of Classes.
type Side struct {
	classifier.Learned
	Tensors map[string]classifier.Tensor
}

// SideOf returns the side file of a head: of the classes of a table that have
// statistics.
func SideOf[T any](table classifier.Table[T], d int, of func(T) *Moments) Side {
	side := Side{Learned: classifier.Learned{Dim: d}}
	var stats []*Moments
	for i, name := range table.Names() {
		if m := of(table.Values()[i]); m != nil {
			side.Classes, stats = append(side.Classes, name), append(stats, m)
		}
	}
	side.Tensors = SideTensors(stats)
	return side
}

// RestoreSide returns a copy of a table, of a head of d values an example, with
// the statistics of its side file. give puts them into a class and returns
// false where they are not what the class was fitted to.
func RestoreSide[T any](table classifier.Table[T], d int, side Side, give func(T, *Moments) (T, bool)) (classifier.Table[T], error) {
	classes := table.Clone()
	if len(side.Classes) > 0 && side.Dim != d {
		return classes, fmt.Errorf("statistics of %d values an example; the model has %d", side.Dim, d)
	}
	stats, err := FromSideTensors(d, len(side.Classes), side.Tensors)
	if err != nil {
		return classes, err
	}
	for i, name := range side.Classes {
		c, ok := classes.Get(name)
		if !ok {
			return classes, fmt.Errorf("%q: %w: the statistics belong to another model", name, classifier.ErrUnknownClass)
		}
		if c, ok = give(c, stats[i]); !ok {
			return classes, fmt.Errorf("class %q: the statistics belong to another model or to an older session", name)
		}
		classes.Put(name, c)
	}
	return classes, nil
}
