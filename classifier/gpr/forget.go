package gpr

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Forget implements classifier.Forgetter, exactly.
func (h *GPR) Forget(name string) error {
	if _, ok := h.classes.Get(name); !ok {
		return fmt.Errorf("gpr: forget %q: %w", name, classifier.ErrUnknownClass)
	}
	if err := h.drop(h.rowsOf(name)); err != nil {
		return fmt.Errorf("gpr: forget %q: %w", name, err)
	}
	return nil
}

// ForgetSamples implements classifier.SampleForgetter, exactly. Examples that
// over_cap left out cannot be forgotten: they were not stored.
func (h *GPR) ForgetSamples(x blas32.General, y []string) error {
	if err := classifier.CheckExamples(x, y, h.Dim()); err != nil {
		return fmt.Errorf("gpr: forget samples: %w", err)
	}
	var rows []int
	for _, g := range classifier.GroupByClass(y) {
		if _, ok := h.classes.Get(g.Class); !ok {
			return fmt.Errorf("gpr: forget samples of %q: %w", g.Class, classifier.ErrUnknownClass)
		}
		left := h.rowsOf(g.Class)
		for _, r := range g.Rows {
			at := slices.IndexFunc(left, func(i int) bool { return slices.Equal(dense.Row32(h.x, i), dense.Row32(x, r)) })
			if at < 0 {
				return fmt.Errorf("gpr: forget samples of %q: example %d was not learned, or not stored (classifier.gpr.over_cap)", g.Class, r)
			}
			rows = append(rows, left[at])
			left = slices.Delete(left, at, at+1)
		}
	}
	if err := h.drop(rows); err != nil {
		return fmt.Errorf("gpr: forget samples: %w", err)
	}
	return nil
}

// drop removes examples, and the classes that lose their last one.
func (h *GPR) drop(rows []int) error {
	if len(rows) == h.x.Rows {
		h.model = model{}
		return nil
	}
	next := h.clone()
	if err := next.drop(rows); err != nil {
		return err
	}
	if err := next.settle(context.Background()); err != nil {
		return err
	}
	h.model = *next
	return nil
}

func (m *model) drop(rows []int) error {
	if err := m.reg.Remove(rows); err != nil {
		return err
	}
	names, counts := slices.Clone(m.classes.Names()), slices.Clone(m.classes.Values())
	for _, r := range rows {
		counts[m.own[r]]--
	}
	var gone []int
	column := make([]int, len(names))
	for c, name := range names {
		column[c] = c - len(gone)
		if counts[c] == 0 {
			gone = append(gone, c)
			m.classes.Drop(name)
		} else {
			m.classes.Put(name, counts[c])
		}
	}
	var left, own []int
	for i, c := range m.own {
		if !slices.Contains(rows, i) {
			left, own = append(left, i), append(own, column[c])
		}
	}
	m.x, m.own = dense.Gather32(m.x, left), own
	return m.reg.RemoveOutputs(gone)
}
