package gpr

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// TooManyError reports that a session has more examples than the head may
// store: time grows with the cube and memory with the square of their number.
type TooManyError struct {
	// Class has too many examples; "" means all classes together.
	Class string
	// Examples is the number that there would be, Most the maximum.
	Examples, Most int
}

func (e *TooManyError) Error() string {
	if e.Class == "" {
		return fmt.Sprintf("%d examples in all, at most %d are stored: give fewer per class (max_per_class with "+
			"over_cap), forget classes, or raise classifier.gpr.max_total (memory grows with its square, time with "+
			"its cube)", e.Examples, e.Most)
	}
	return fmt.Sprintf("%d examples of class %q, at most %d are stored: set classifier.gpr.over_cap to %s or %s to "+
		"store some of them, or raise classifier.gpr.max_per_class", e.Examples, e.Class, e.Most, Herd, First)
}

// limit returns the rows of a session that the caps allow, by class, given the
// number of examples that the classes already have.
func (m *model) limit(cfg Config, x blas32.General, groups []classifier.Group) ([]classifier.Group, error) {
	total := len(m.All.Own)
	out := slices.Clone(groups)
	for i, g := range groups {
		before := m.All.Of(g.Class)
		free := max(cfg.MaxPerClass-len(before), 0)
		if len(g.Rows) > free {
			switch cfg.OverCap {
			case First:
				out[i].Rows = g.Rows[:free]
			case Herd:
				out[i].Rows = herd(cfg, classifier.Placed(m.All.X, before, cfg.Normalize), x, g.Rows, free)
			default:
				return nil, &TooManyError{Class: g.Class, Examples: len(before) + len(g.Rows), Most: cfg.MaxPerClass}
			}
		}
		total += len(out[i].Rows)
	}
	if total > cfg.MaxTotal {
		return nil, &TooManyError{Examples: total, Most: cfg.MaxTotal}
	}
	return out, nil
}

// herd selects count of the given rows of x, one after the other, each so that
// the mean of the selected rows comes nearest to that of all. The order of the
// rows makes no difference. O(count·n·d).
func herd(cfg Config, old blas64.General, x blas32.General, rows []int, count int) []int {
	rows = exemplars.Sorted(x, rows)
	z := classifier.Placed(x, rows, cfg.Normalize)
	mean, sum := make([]float64, x.Cols), make([]float64, x.Cols)
	all := float64(old.Rows + z.Rows)
	for i := range old.Rows {
		for j, v := range dense.Row(old, i) {
			mean[j] += v / all
			sum[j] += v
		}
	}
	for i := range z.Rows {
		for j, v := range dense.Row(z, i) {
			mean[j] += v / all
		}
	}
	var chosen []int
	taken := make([]bool, len(rows))
	for len(chosen) < count {
		n := float64(old.Rows + len(chosen) + 1)
		best, least := -1, math.Inf(1)
		for i := range rows {
			if taken[i] {
				continue
			}
			off := offset(mean, sum, dense.Row(z, i), n, least)
			if best < 0 || off < least {
				best, least = i, off
			}
		}
		taken[best] = true
		chosen = append(chosen, rows[best])
		for j, v := range dense.Row(z, best) {
			sum[j] += v
		}
	}
	slices.Sort(chosen)
	return chosen
}

// offset returns ‖n·mean − sum − z‖², or any value larger than enough.
func offset(mean, sum, z []float64, n, enough float64) float64 {
	var sq float64
	for j, v := range z {
		r := n*mean[j] - sum[j] - v
		if sq += r * r; sq > enough {
			break
		}
	}
	return sq
}
