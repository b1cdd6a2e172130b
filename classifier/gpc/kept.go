package gpc

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// members are the examples of every class, in column order. Those of a class
// are sorted, so that nothing depends on the order in which they came, and never
// changed, only replaced.
type members = classifier.Table[[][]float32]

// plus returns rows with those of a group, which are copied.
func plus(rows [][]float32, x blas32.General, g classifier.Group) [][]float32 {
	rows = slices.Clone(rows)
	for _, r := range g.Rows {
		rows = append(rows, slices.Clone(classifier.Row(x, r)))
	}
	slices.SortFunc(rows, compareRows)
	return rows
}

// minus returns rows without those of a group, each of which must be there as
// often as it is taken away.
func minus(rows [][]float32, x blas32.General, g classifier.Group) ([][]float32, error) {
	rows = slices.Clone(rows)
	for _, r := range g.Rows {
		at, ok := slices.BinarySearchFunc(rows, classifier.Row(x, r), compareRows)
		if !ok {
			return nil, fmt.Errorf("example %d was never learned, or is forgotten already", r)
		}
		rows = slices.Delete(rows, at, at+1)
	}
	return rows, nil
}

// compareRows orders rows by their values; −0 before 0, so that only identical
// rows are equal.
func compareRows(a, b []float32) int {
	for j := range a {
		if c := cmp.Or(cmp.Compare(a[j], b[j]), cmp.Compare(math.Float32bits(b[j]), math.Float32bits(a[j]))); c != 0 {
			return c
		}
	}
	return 0
}

// float64s returns rows as a matrix.
func float64s(rows [][]float32, d int) blas64.General {
	m := linalg.New64(len(rows), d)
	for i, r := range rows {
		to := row(m, i)
		for j, v := range r {
			to[j] = float64(v)
		}
	}
	return m
}

// TooManyError says that a session has more examples than the head may take.
type TooManyError struct {
	// Method is the head.
	Method string
	// Class has too many examples; "" means all classes together, in a system of
	// order Order.
	Class          string
	Examples, Most int
	Classes, Order int
}

func (e *TooManyError) Error() string {
	if e.Class != "" {
		return fmt.Sprintf("%d examples of class %q, at most %d are kept: give it fewer, or raise classifier.%s.max_per_class", e.Examples, e.Class, e.Most, e.Method)
	}
	what := "n"
	if e.Method == OVE {
		what = "n(C−1)"
	}
	megabytes := 8 * float64(e.Order) * float64(e.Order) / 1e6
	return fmt.Sprintf("%d examples of %d classes make dense systems of order %s = %d (%.0f MB for each), at most %d: give fewer examples or classes, or raise classifier.%s.max_system (memory grows with its square, time with its cube)", e.Examples, e.Classes, what, e.Order, megabytes, e.Most, e.Method)
}

// fits returns an error where there is more than the settings allow.
func (c Config) fits(method string, all *members) error {
	var total int
	for i, rows := range all.Values() {
		if len(rows) > c.MaxPerClass {
			return &TooManyError{Method: method, Class: all.Names()[i], Examples: len(rows), Most: c.MaxPerClass}
		}
		total += len(rows)
	}
	if order := likelihoodOf(method).order(total, all.Len()); order > c.MaxSystem {
		return &TooManyError{Method: method, Examples: total, Classes: all.Len(), Order: order, Most: c.MaxSystem}
	}
	return nil
}
