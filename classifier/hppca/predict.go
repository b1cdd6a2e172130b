package hppca

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Score implements classifier.Head. Besides the C values of a row it costs
// O((S + A)qd) per row, A being the number of classes visited. The novelty is
// −max log-density over the visited classes, up to a constant that all classes
// share, or min r without log-determinant.
func (h *HPPCA) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	err := classifier.CheckScore(h, dst, novelty, x)
	if err == nil {
		s := h.Model().Shared.scorer
		err = s.each(x, func(i int, f *found) {
			if novelty != nil {
				novelty[i] = s.novelty(f)
			}
			s.logProb(dense.Row(dst, i), f)
		})
	}
	return named(err)
}

// A Visit is how one example was classified.
type Visit struct {
	// Column is the class, as in Classes.
	Column int
	// Neurons is how many nodes and classes were scored: S + A of eq. 5.1.
	Neurons int
	// Supers are the super-classes whose classes were scored, ascending.
	Supers []int
}

// Visits classifies the rows of x (n×d) by Algorithm 1 alone, without the
// distribution over all classes.
func (h *HPPCA) Visits(x blas32.General) ([]Visit, error) {
	out := make([]Visit, max(x.Rows, 0))
	err := classifier.CheckRows(x, h.Dim())
	if len(h.Classes()) == 0 {
		err = classifier.ErrNotFitted
	}
	if err == nil {
		err = h.Model().Shared.scorer.each(x, func(i int, f *found) {
			out[i] = Visit{Column: f.best().item, Neurons: f.neurons, Supers: slices.Sorted(slices.Values(f.supers))}
		})
	}
	return out, named(err)
}

func named(err error) error {
	if err != nil {
		return fmt.Errorf("hppca: %w", err)
	}
	return nil
}
