package moments

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// removeTol is the share of the total second moment by which a downdate may
// miss zero because of rounding.
const removeTol = 1e-10

// Remove removes the rows of x (b×d), exactly: the result equals statistics
// that never saw them (to 1e−8 in the full form, which does not store the
// rows). It wraps ErrRemove and changes nothing if they cannot have been added:
// in the thin form if there is no such row; in the full form if there are too
// few examples or the result would not be a covariance.
func (m *Moments) Remove(x blas32.General) error {
	if err := classifier.CheckRows(x, m.d); err != nil {
		return fmt.Errorf("remove examples: %w", err)
	}
	if x.Rows > m.n {
		return fmt.Errorf("remove %d examples of %d: %w", x.Rows, m.n, ErrRemove)
	}
	if x.Rows == 0 {
		return nil
	}
	if m.Thin() {
		return m.removeThin(x)
	}
	return m.removeFull(x)
}

func (m *Moments) removeThin(x blas32.General) error {
	gone := make([]bool, m.n)
	for i := range x.Rows {
		at := m.n - 1 // the last equal row that is not gone yet
		for at >= 0 && (gone[at] || !slices.Equal(m.rows[at*m.d:(at+1)*m.d], dense.Row32(x, i))) {
			at--
		}
		if at < 0 {
			return fmt.Errorf("remove example in row %d: %w", i, ErrRemove)
		}
		gone[at] = true
	}
	rows := make([]float32, 0, (m.n-x.Rows)*m.d)
	for i, g := range gone {
		if !g {
			rows = append(rows, m.rows[i*m.d:(i+1)*m.d]...)
		}
	}
	m.rows, m.n = rows, m.n-x.Rows
	return nil
}

func (m *Moments) removeFull(x blas32.General) error {
	if x.Rows == m.n {
		return m.removeAll(x)
	}
	rest, rows := m.Clone(), m.chunkRows()
	for first := 0; first < x.Rows; first += rows {
		mean, m2, err := m.chunkMoments(dense.Rows32(x, first, min(first+rows, x.Rows)))
		if err != nil {
			return err
		}
		rest.separate(min(rows, x.Rows-first), mean, m2)
	}
	if err := rest.checkPSD(m.spread()); err != nil {
		return fmt.Errorf("remove %d examples: %w", x.Rows, err)
	}
	*m = *rest
	return nil
}

// removeAll leaves no examples, provided that x has the moments of m.
func (m *Moments) removeAll(x blas32.General) error {
	other := New(m.d)
	if err := other.Add(x); err != nil {
		return err
	}
	if err := other.fill(); err != nil {
		return err
	}
	tol := removeTol * m.spread()
	for j, v := range m.mean {
		if diff := v - other.mean[j]; diff*diff*float64(m.n) > tol {
			return fmt.Errorf("remove all %d examples: %w", m.n, ErrRemove)
		}
	}
	for p, v := range m.m2 {
		if diff := v - other.m2[p]; diff > tol || diff < -tol {
			return fmt.Errorf("remove all %d examples: %w", m.n, ErrRemove)
		}
	}
	*m = Moments{d: m.d, solver: m.solver}
	return nil
}

// separate is the inverse of combine.
func (m *Moments) separate(b int, mean, m2 []float64) {
	n := m.n - b
	delta := make([]float64, m.d)
	for j := range delta {
		m.mean[j] += (m.mean[j] - mean[j]) * float64(b) / float64(n)
		delta[j] = mean[j] - m.mean[j]
	}
	m.addOuter(m2, -1, delta, -float64(n)*float64(b)/float64(m.n))
	m.n = n
}

// spread returns the scale for judging rounding errors: the trace of the second
// moments about zero.
func (m *Moments) spread() float64 {
	sum := m.trace()
	for _, v := range m.mean {
		sum += float64(m.n) * v * v
	}
	return sum
}

func (m *Moments) trace() float64 {
	var sum float64
	p := 0
	for i := range m.d {
		sum += m.m2[p]
		p += m.d - i
	}
	return sum
}

// checkPSD wraps ErrRemove unless M2 is a scatter matrix of n examples, up to
// rounding at the given scale; for a single example it must be zero, and is set
// to exactly zero.
func (m *Moments) checkPSD(scale float64) error {
	tol := removeTol*scale + 1e-300
	if m.n == 1 {
		t := m.trace()
		if t > tol || t < -tol {
			return fmt.Errorf("one example would be left with a variance: %w", ErrRemove)
		}
		clear(m.m2)
		return nil
	}
	if err := linalg.CheckPSD(m.unpack(1), tol); err != nil {
		return fmt.Errorf("%w (%w)", ErrRemove, err)
	}
	return nil
}
