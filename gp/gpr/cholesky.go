package gpr

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// cholesky is the factor L of K+σ²I = L·Lᵀ with append and delete. Its rows are
// in the order in which examples were added or last changed.
type cholesky struct {
	l     *triangle
	order []int // the example of each row
}

func (s *cholesky) size() int { return s.l.n }

func (s *cholesky) add(ctx context.Context, b blas64.General) (update, error) {
	return s.attach(ctx, dense.Range(s.l.n, s.l.n+b.Rows), b)
}

// attach appends rows of L for the given examples; b has a column for each
// example, old and new.
func (s *cholesky) attach(ctx context.Context, examples []int, b blas64.General) (update, error) {
	z, own := picked(b, s.order), picked(b, examples)
	diagonal := dense.Diagonal(own)
	s.l.forwardFew(ctx, z)
	subtract(own, z, z)
	small, err := smallFactor(ctx, own, diagonal)
	if err != nil {
		return update{}, err
	}
	v := dense.Clone(z)
	s.l.backwardFew(ctx, v)
	plus := s.scatter(v, b.Cols)
	if err := border(ctx, plus, small, examples); err != nil {
		return update{}, err
	}
	n := s.l.n
	s.l.grow(b.Rows)
	for i := range b.Rows {
		row := s.l.row(n + i)
		copy(row, dense.Row(z, i))
		copy(row[n:], small.row(i))
	}
	s.order = append(s.order, examples...)
	return update{plus: plus, logDet: small.logDet()}, nil
}

// border turns the columns V = K⁻¹B of existing examples into those of the
// update: (V above −I)·L⁻ᵀ for the factor L of their Schur complement.
func border(ctx context.Context, v blas64.General, l *triangle, examples []int) error {
	for i, e := range examples {
		clear(dense.Row(v, e))
		v.Data[e*v.Stride+i] = -1
	}
	l.forward(ctx, v)
	return ctx.Err()
}

// scatter turns columns ordered by row of L (k×n) into rows ordered by example
// (size×k).
func (s *cholesky) scatter(m blas64.General, size int) blas64.General {
	out := dense.New(size, m.Rows)
	for i := range m.Rows {
		for j, v := range dense.Row(m, i) {
			out.Data[s.order[j]*out.Stride+i] = v
		}
	}
	return out
}

func (s *cholesky) remove(ctx context.Context, rows []int) (update, error) {
	u, err := s.detach(ctx, rows)
	if err != nil {
		return u, err
	}
	for i, e := range s.order {
		before, _ := slices.BinarySearch(rows, e)
		s.order[i] = e - before
	}
	return u, nil
}

// detach deletes the rows of examples without renumbering the others.
func (s *cholesky) detach(ctx context.Context, rows []int) (update, error) {
	places := make([]int, 0, len(rows))
	units := dense.New(len(rows), s.l.n)
	for at, e := range s.order {
		if i, found := slices.BinarySearch(rows, e); found {
			places = append(places, at)
			units.Data[i*units.Stride+at] = 1
		}
	}
	s.l.forwardFew(ctx, units)
	s.l.backwardFew(ctx, units)
	minus := s.scatter(units, len(s.order))
	small, err := smallFactor(ctx, dense.Transposed(dense.Gather(minus, rows)), nil)
	if err != nil {
		return update{}, err
	}
	small.forward(ctx, minus)
	if err := ctx.Err(); err != nil {
		return update{}, err
	}
	for i := len(places) - 1; i >= 0; i-- {
		s.l.rotateOut(places[i], places[i+1:])
	}
	s.l.drop(places)
	s.order = without(s.order[:0], s.order, places)
	return update{minus: minus, logDet: small.logDet()}, nil
}

func (s *cholesky) replace(ctx context.Context, rows []int, b blas64.General) (update, error) {
	before := s.clone().(*cholesky)
	u, err := s.detach(ctx, rows)
	if err == nil {
		var step update
		step, err = s.attach(ctx, rows, b)
		u.merge(step)
	}
	if err != nil {
		*s = *before
	}
	return u, err
}

// A rotation is a plane rotation of a column of L with the removed column.
type rotation struct{ cos, sin float64 }

// rotateOut turns L into a factor of the matrix without row and column p, which
// stay in place but, like those in gone, hold no meaning afterwards. Plane
// rotations merge column p into the rows below it.
func (t *triangle) rotateOut(p int, gone []int) {
	x := make([]float64, t.n)
	for i := p + 1; i < t.n; i++ {
		x[i] = t.row(i)[p]
	}
	for panel := p / side; panel < len(t.panels); panel++ {
		first := max(p+1, panel*side)
		last := panel*side + t.rowsIn(panel)
		rotations := make([]rotation, 0, side)
		for i := first; i < last; i++ {
			row := t.row(i)
			x[i] = rotate(row[first:i], x[i], rotations)
			rotations = append(rotations, newRotation(&row[i], &x[i], i, gone))
		}
		rest := t.n - last
		dense.Parallel((rest+side-1)/side, func(task int) {
			for i := last + task*side; i < min(last+(task+1)*side, t.n); i++ {
				x[i] = rotate(t.row(i)[first:last], x[i], rotations)
			}
		})
	}
}

// newRotation rotates x into the diagonal value of row i. Rows in gone are not
// rotated.
func newRotation(diagonal, x *float64, i int, gone []int) rotation {
	if _, found := slices.BinarySearch(gone, i); found {
		return rotation{cos: 1}
	}
	r := math.Hypot(*diagonal, *x)
	turn := rotation{*diagonal / r, *x / r}
	*diagonal, *x = r, 0
	return turn
}

// rotate applies rotations to a row and its value x in the removed column,
// and returns the new x.
func rotate(row []float64, x float64, rotations []rotation) float64 {
	rotations = rotations[:len(row)]
	for j, l := range row {
		r := rotations[j]
		row[j] = r.cos*l + r.sin*x
		x = r.cos*x - r.sin*l
	}
	return x
}

func (s *cholesky) solve(ctx context.Context, b blas64.General) error {
	z := picked(b, s.order)
	s.l.forward(ctx, z)
	s.l.backward(ctx, z)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range b.Rows {
		row := dense.Row(b, i)
		for j, v := range dense.Row(z, i) {
			row[s.order[j]] = v
		}
	}
	return nil
}

func (s *cholesky) quad(dst []float64, b blas64.General) {
	z := picked(b, s.order)
	s.l.forward(context.Background(), z) // for one batch of predictions
	copy(dst, squares(z))
}

func (s *cholesky) diagonal(ctx context.Context) ([]float64, error) {
	inverse := s.l.clone()
	for p := range inverse.panels {
		inverse.invertPanel(ctx, p)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sums := make([]float64, s.l.n)
	for i := range s.l.n {
		for j, v := range inverse.row(i) {
			sums[j] += v * v
		}
	}
	out := make([]float64, s.l.n)
	for i, e := range s.order {
		out[e] = sums[i]
	}
	return out, nil
}

// refit compares k passes of rotations with n³/3.
func (s *cholesky) refit(k int) bool {
	n, left := float64(s.l.n), float64(s.l.n-k)
	return 18*n*n*float64(k) > left*left*left
}

// outgrown compares 2kn² operations in tiles with n³/3 in a library, which is
// about four times as fast from some hundred rows on.
func (s *cholesky) outgrown(k int, raw linalg.Kernel) bool {
	return k > max(2*side, s.l.n/26) && byLibrary(raw, s.l.n+k)
}

func (s *cholesky) state() ([]float64, []int) { return s.l.packed(), slices.Clone(s.order) }

func (s *cholesky) clone() solver {
	return &cholesky{l: s.l.clone(), order: slices.Clone(s.order)}
}

func (s *cholesky) bytes() int { return s.l.bytes() + 8*cap(s.order) }

// subtract computes c −= a·bᵀ of any size, in tiles.
func subtract(c, a, b blas64.General) {
	down, across := (c.Rows+side-1)/side, (c.Cols+side-1)/side
	dense.Parallel(down*across, func(t int) {
		i, j := t%down*side, t/down*side
		rows, cols := min(side, c.Rows-i), min(side, c.Cols-j)
		subtractProduct(dense.View(c, i, j, rows, cols), rowsOf(a, i, rows), rowsOf(b, j, cols))
	})
}
