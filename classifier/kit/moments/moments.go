package moments

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// ErrRemove reports that rows cannot have been part of the statistics.
var ErrRemove = errors.New("these examples were not learned as part of this class")

// chunkValues bounds the values that are centred in float64 at a time.
const chunkValues = 1 << 21

// Moments holds the statistics of one class. Concurrent reads are safe,
// concurrent changes are not.
type Moments struct {
	d, n int
	// rows is the thin form, n×d; nil in the full form.
	rows []float32
	// mean and m2 are the full form; m2 is the upper triangle, row by row.
	mean, m2 []float64
	// solver computes products and eigenpairs; its zero value is gonum's.
	solver linalg.Solver
}

// Use sets the backend of large products; the default is gonum.
func (m *Moments) Use(mul linalg.Backend) { m.solver.Backend = mul }

// New returns statistics of no examples, with d values per example.
func New(d int) *Moments { return &Moments{d: d} }

// N returns the number of examples.
func (m *Moments) N() int { return m.n }

// Dim returns the number of values per example.
func (m *Moments) Dim() int { return m.d }

// Thin reports whether the examples themselves are stored.
func (m *Moments) Thin() bool { return m.m2 == nil }

// Clone returns an independent copy.
func (m *Moments) Clone() *Moments {
	return &Moments{
		d: m.d, n: m.n, solver: m.solver,
		rows: append([]float32(nil), m.rows...),
		mean: append([]float64(nil), m.mean...),
		m2:   append([]float64(nil), m.m2...),
	}
}

// Mean returns a copy of the mean (d), zeros if there are no examples.
func (m *Moments) Mean() []float64 {
	if !m.Thin() {
		return append([]float64(nil), m.mean...)
	}
	return meanOf(m.matrix())
}

// Add adds the rows of x (b×d). On error nothing changes.
func (m *Moments) Add(x blas32.General) error {
	if err := classifier.CheckRows(x, m.d); err != nil {
		return fmt.Errorf("add examples: %w", err)
	}
	if m.Thin() && m.n+x.Rows <= m.d {
		m.rows = slices.Grow(m.rows, x.Rows*x.Cols)
		for i := range x.Rows {
			m.rows = append(m.rows, dense.Row32(x, i)...)
		}
		m.n += x.Rows
		return nil
	}
	if err := m.fill(); err != nil {
		return err
	}
	return m.addFull(x)
}

// Give is Add for rows that the caller gives up: the first ones are stored
// without a copy.
func (m *Moments) Give(x blas32.General) error {
	if m.n > 0 || !m.Thin() || x.Rows > m.d || x.Stride != x.Cols {
		return m.Add(x)
	}
	if err := classifier.CheckRows(x, m.d); err != nil {
		return fmt.Errorf("add examples: %w", err)
	}
	m.n, m.rows = x.Rows, x.Data[:x.Rows*x.Cols]
	return nil
}

// Merge adds the examples of o, which stays unchanged. On error nothing
// changes.
func (m *Moments) Merge(o *Moments) error {
	if m.d != o.d {
		return fmt.Errorf("merge statistics: %d and %d values per example", m.d, o.d)
	}
	if o.n == 0 {
		return nil
	}
	if o.Thin() {
		return m.Add(o.matrix())
	}
	if err := m.fill(); err != nil {
		return err
	}
	m.combine(o.n, o.mean, o.m2)
	return nil
}

// matrix returns the thin form as n×d.
func (m *Moments) matrix() blas32.General {
	return blas32.General{Rows: m.n, Cols: m.d, Stride: m.d, Data: m.rows}
}

// fill turns the thin form into the full one.
func (m *Moments) fill() error {
	if !m.Thin() {
		return nil
	}
	full := &Moments{d: m.d, solver: m.solver, mean: make([]float64, m.d), m2: make([]float64, m.d*(m.d+1)/2)}
	if err := full.addFull(m.matrix()); err != nil {
		return err
	}
	*m = *full
	return nil
}

func (m *Moments) chunkRows() int { return max(1, chunkValues/m.d) }

func (m *Moments) addFull(x blas32.General) error {
	rows := m.chunkRows()
	for first := 0; first < x.Rows; first += rows {
		mean, m2, err := m.chunkMoments(dense.Rows32(x, first, min(first+rows, x.Rows)))
		if err != nil {
			return err
		}
		m.combine(min(rows, x.Rows-first), mean, m2)
	}
	return nil
}

// combine adds the moments of b further examples with Chan's pairwise update.
func (m *Moments) combine(b int, mean, m2 []float64) {
	n := m.n + b
	delta := make([]float64, m.d)
	for j := range delta {
		delta[j] = mean[j] - m.mean[j]
		m.mean[j] += delta[j] * float64(b) / float64(n)
	}
	m.addOuter(m2, 1, delta, float64(m.n)*float64(b)/float64(n))
	m.n = n
}

// addOuter adds sign·m2 (skipped if nil) and weight·δδᵀ.
func (m *Moments) addOuter(m2 []float64, sign float64, delta []float64, weight float64) {
	p := 0
	for i, di := range delta {
		row := m.m2[p : p+m.d-i]
		if m2 != nil {
			for j, v := range m2[p : p+m.d-i] {
				row[j] += sign * v
			}
		}
		w := weight * di
		for j, dj := range delta[i:] {
			row[j] += w * dj
		}
		p += m.d - i
	}
}

// chunkMoments returns the mean and packed M2 of the rows of x; M2 is nil for a
// single row.
func (m *Moments) chunkMoments(x blas32.General) (mean, m2 []float64, err error) {
	mean = meanOf(x)
	if x.Rows == 1 {
		return mean, nil, nil
	}
	s, err := m.solver.Scatter(centred(x, mean))
	if err != nil {
		return nil, nil, err
	}
	return mean, pack(s), nil
}

// meanColumns is the number of columns that one goroutine sums at a time.
const meanColumns = 320

func meanOf(x blas32.General) []float64 {
	mean := make([]float64, x.Cols)
	dense.Parallel((x.Cols+meanColumns-1)/meanColumns, func(t int) {
		first := t * meanColumns
		part := mean[first:min(first+meanColumns, x.Cols)]
		addColumns(part, x, first)
		for j := range part {
			part[j] /= float64(max(x.Rows, 1))
		}
	})
	return mean
}

// addColumns adds the sums of the columns from first on, four rows at a time.
func addColumns(part []float64, x blas32.General, first int) {
	row := func(i int) []float32 { return dense.Row32(x, i)[first : first+len(part)] }
	i := 0
	for ; i+4 <= x.Rows; i += 4 {
		a, b, c, d := row(i), row(i+1), row(i+2), row(i+3)
		for j, v := range a {
			part[j] += (float64(v) + float64(b[j])) + (float64(c[j]) + float64(d[j]))
		}
	}
	for ; i < x.Rows; i++ {
		for j, v := range row(i) {
			part[j] += float64(v)
		}
	}
}

func centred(x blas32.General, mean []float64) blas64.General {
	c := dense.New(x.Rows, x.Cols)
	dense.Parallel(x.Rows, func(i int) {
		row := c.Data[i*c.Stride : i*c.Stride+c.Cols]
		for j, v := range dense.Row32(x, i) {
			row[j] = float64(v) - mean[j]
		}
	})
	return c
}

func pack(s blas64.General) []float64 {
	out := make([]float64, 0, s.Rows*(s.Rows+1)/2)
	for i := range s.Rows {
		out = append(out, s.Data[i*s.Stride+i:i*s.Stride+s.Cols]...)
	}
	return out
}
