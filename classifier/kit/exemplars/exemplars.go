// Package exemplars stores the examples of heads that refit from them.
package exemplars

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Table holds the examples of all classes in the order in which they were
// learned. It is never changed: every method returns another table. The zero
// Table is empty.
type Table struct {
	// Classes are the names in column order.
	Classes []string
	// Sessions are the numbers, from 0, of the sessions that the classes were first
	// learned in. A head that does not need them does not save them.
	Sessions []int
	// X holds the examples (n×d), Own the column of each.
	X   blas32.General
	Own []int
}

// Counts returns the number of examples of every class.
func (t Table) Counts() []int {
	counts := make([]int, len(t.Classes))
	for _, c := range t.Own {
		counts[c]++
	}
	return counts
}

// NextSession returns the number of the next session with new classes.
func (t Table) NextSession() int {
	next := 0
	for _, s := range t.Sessions {
		next = max(next, s+1)
	}
	return next
}

// With returns the table with copies of the examples of one more session, class
// after class.
func (t Table) With(x blas32.General, groups []classifier.Group) Table {
	next := Table{Classes: slices.Clone(t.Classes), Sessions: slices.Clone(t.Sessions), Own: slices.Clone(t.Own)}
	column := make(map[string]int)
	for c, name := range t.Classes {
		column[name] = c
	}
	var rows []int
	for _, g := range groups {
		c, known := column[g.Class]
		if !known {
			c = len(next.Classes)
			next.Classes, next.Sessions = append(next.Classes, g.Class), append(next.Sessions, t.NextSession())
		}
		next.Own = append(next.Own, slices.Repeat([]int{c}, len(g.Rows))...)
		rows = append(rows, g.Rows...)
	}
	next.X = dense.New32(t.X.Rows+len(rows), x.Cols)
	dense.Copy32(next.X, t.X)
	for i, r := range rows {
		copy(dense.Row32(next.X, t.X.Rows+i), dense.Row32(x, r))
	}
	return next
}

// Without returns the table without the given rows, and the columns of the
// classes that lose their last one.
func (t Table) Without(rows []int) (left Table, gone []int) {
	counts, drop := t.Counts(), make([]bool, len(t.Own))
	for _, r := range rows {
		drop[r] = true
		counts[t.Own[r]]--
	}
	column := make([]int, len(counts))
	for c, n := range counts {
		if column[c] = len(left.Classes); n == 0 {
			gone = append(gone, c)
		} else {
			left.Classes, left.Sessions = append(left.Classes, t.Classes[c]), append(left.Sessions, t.Sessions[c])
		}
	}
	var stay []int
	for i, c := range t.Own {
		if !drop[i] {
			stay, left.Own = append(stay, i), append(left.Own, column[c])
		}
	}
	if len(stay) > 0 { // the empty table has no dimension
		left.X = dense.Gather32(t.X, stay)
	}
	return left, gone
}

// Of returns the rows of a class, none if it is unknown.
func (t Table) Of(class string) []int {
	column := slices.Index(t.Classes, class)
	var rows []int
	for i, c := range t.Own {
		if c == column {
			rows = append(rows, i)
		}
	}
	return rows
}

// find returns the rows that hold the given examples, a different one for each.
func (t Table) find(x blas32.General, y []string) ([]int, error) {
	if err := classifier.CheckExamples(x, y, t.X.Cols); err != nil {
		return nil, err
	}
	var found []int
	for _, g := range classifier.GroupByClass(y) {
		left := Sorted(t.X, t.Of(g.Class))
		if len(left) == 0 {
			return nil, fmt.Errorf("class %q: %w", g.Class, classifier.ErrUnknownClass)
		}
		for _, r := range g.Rows {
			at, ok := slices.BinarySearchFunc(left, dense.Row32(x, r),
				func(i int, row []float32) int { return Compare(dense.Row32(t.X, i), row) })
			if !ok {
				return nil, fmt.Errorf("class %q: example %d was never learned, was not stored, or has already been "+
					"forgotten", g.Class, r)
			}
			found = append(found, left[at])
			left = slices.Delete(left, at, at+1)
		}
	}
	return found, nil
}

// Forget implements classifier.Forgetter for a head that can drop rows of its
// table.
func Forget(method string, t Table, class string, drop func(rows []int) error) error {
	rows, err := t.Of(class), classifier.ErrUnknownClass
	if len(rows) > 0 {
		err = drop(rows)
	}
	if err != nil {
		return fmt.Errorf("%s: forget %q: %w", method, class, err)
	}
	return nil
}

// ForgetSamples implements classifier.SampleForgetter for such a head.
func ForgetSamples(method string, t Table, x blas32.General, y []string, drop func(rows []int) error) error {
	rows, err := t.find(x, y)
	if err == nil {
		err = drop(rows)
	}
	if err != nil {
		return fmt.Errorf("%s: forget samples: %w", method, err)
	}
	return nil
}

// Rows are the examples of a class, d values each, sorted by content, so that
// the order in which they were learned does not matter.
type Rows [][]float32

// ByClass returns the examples of every class, sharing memory with the table.
func (t Table) ByClass() map[string]Rows {
	own := make([][]int, len(t.Classes))
	for i, c := range t.Own {
		own[c] = append(own[c], i)
	}
	all := make(map[string]Rows, len(own))
	for c, rows := range own {
		for _, i := range Sorted(t.X, rows) {
			all[t.Classes[c]] = append(all[t.Classes[c]], dense.Row32(t.X, i))
		}
	}
	return all
}

// Matrix returns the rows in float64 (n×d), scaled to length 1 if unit.
func (r Rows) Matrix(d int, unit bool) blas64.General {
	m := dense.New(len(r), d)
	for i, row := range r {
		classifier.Place(dense.Row(m, i), row, unit)
	}
	return m
}

// Sorted returns the given rows of x in the order of Compare.
func Sorted(x blas32.General, rows []int) []int {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b int) int { return Compare(dense.Row32(x, a), dense.Row32(x, b)) })
	return sorted
}

// Compare orders rows by their values, with −0 before 0, so that only identical
// rows are equal.
func Compare(a, b []float32) int {
	for j := range a {
		if c := cmp.Or(cmp.Compare(a[j], b[j]), cmp.Compare(math.Float32bits(b[j]), math.Float32bits(a[j]))); c != 0 {
			return c
		}
	}
	return 0
}

// Tensors returns the tensors that Load reads: "count" (C) and "points" (n×d),
// class after class, sorted.
func (t Table) Tensors() map[string]classifier.Tensor {
	var points []float32
	all := t.ByClass()
	for _, name := range t.Classes {
		points = append(points, slices.Concat(all[name]...)...)
	}
	return map[string]classifier.Tensor{
		"count":  classifier.CountTensor(t.Counts()),
		"points": {Shape: []int{len(t.Own), t.X.Cols}, F32: points},
	}
}

// Load returns the table of the tensors, with 1 to most examples of each class.
func Load(s classifier.State, l classifier.Learned, sessions []int, most int) (Table, error) {
	t := Table{Classes: l.Classes, Sessions: sessions}
	counts, err := s.Counts("count", len(l.Classes), 1, most)
	if err != nil {
		return t, err
	}
	t.X = blas32.General{Cols: l.Dim, Stride: l.Dim}
	for _, n := range counts {
		t.X.Rows += n
	}
	if t.X.Data, err = s.Float32("points", t.X.Rows, l.Dim); err != nil {
		return t, err
	}
	for c, n := range counts {
		t.Own = append(t.Own, slices.Repeat([]int{c}, n)...)
	}
	for i := 1; i < len(t.Own); i++ {
		if c := t.Own[i]; t.Own[i-1] == c && Compare(dense.Row32(t.X, i-1), dense.Row32(t.X, i)) > 0 {
			return t, fmt.Errorf("tensor points: the rows of class %q are not sorted", l.Classes[c])
		}
	}
	return t, nil
}
