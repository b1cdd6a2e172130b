package gpr

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// pendingRank is the rank up to which corrections are stored next to the
	// inverse before they are folded into it: each saves a pass that reads and
	// writes the triangle.
	pendingRank = 32
	// foldColumns is the number of columns of a panel multiplied by a library at
	// a time.
	foldColumns = 512
)

// woodbury holds the inverse of K+σ²I itself: the triangle a and corrections not
// yet folded into it.
type woodbury struct {
	a         *triangle
	raw       linalg.Kernel // of folds
	pending   []correction
	iterative bool  // one example at a time
	off       []int // examples whose rows and columns count as zero, ascending
}

// A correction adds sign·y·yᵀ; y is m×k, m ≤ n, zero below.
type correction struct {
	y    blas64.General
	sign float64
}

func (s *woodbury) size() int { return s.a.n }

func (s *woodbury) add(ctx context.Context, b blas64.General) (update, error) {
	before := s.checkpoint(b.Rows)
	n := s.a.n
	s.a.grow(b.Rows)
	s.off = dense.Range(n, n+b.Rows)
	u, err := s.each(s.off,
		func(rows []int, i int) (update, error) { return s.attach(ctx, rows, rowsOf(b, i, len(rows))) })
	if err != nil {
		s.restore(before)
		return u, err
	}
	s.settle()
	return u, nil
}

func (s *woodbury) replace(ctx context.Context, rows []int, b blas64.General) (update, error) {
	before := s.checkpoint(2 * len(rows))
	u, err := s.each(rows, func(rows []int, _ int) (update, error) { return s.detach(ctx, rows) })
	if err == nil {
		var step update
		step, err = s.each(rows,
			func(rows []int, i int) (update, error) { return s.attach(ctx, rows, rowsOf(b, i, len(rows))) })
		u.merge(step)
	}
	if err != nil {
		s.restore(before)
		return u, err
	}
	s.settle()
	return u, nil
}

func (s *woodbury) remove(ctx context.Context, rows []int) (update, error) {
	before := s.checkpoint(len(rows))
	u, err := s.each(rows, func(rows []int, _ int) (update, error) { return s.detach(ctx, rows) })
	if err != nil {
		s.restore(before)
		return u, err
	}
	s.a.drop(rows)
	for i, c := range s.pending {
		s.pending[i].y = withoutRows(dense.Clone(c.y), rows)
	}
	s.off = nil
	s.settle()
	return u, nil
}

// each does one step for all rows, or one step per row if s is iterative.
func (s *woodbury) each(rows []int, step func(rows []int, first int) (update, error)) (update, error) {
	if !s.iterative {
		return step(slices.Clone(rows), 0)
	}
	var all update
	for i, r := range slices.Clone(rows) {
		u, err := step([]int{r}, i)
		if err != nil {
			return update{}, err
		}
		all.merge(u)
		s.settle()
	}
	return all, nil
}

// attach sets the kernel values (k×n) of rows that are off: eq. 6 with K⁻¹ of
// the others, in the form derived in the package comment.
func (s *woodbury) attach(ctx context.Context, rows []int, b blas64.General) (update, error) {
	own := picked(b, rows)
	diagonal := dense.Diagonal(own)
	v := dense.Clone(b)
	s.mask(v)
	b = dense.Clone(v)
	if err := s.multiply(ctx, v); err != nil {
		return update{}, err
	}
	s.mask(v)
	subtract(own, v, b)
	small, err := smallFactor(ctx, own, diagonal)
	if err != nil {
		return update{}, err
	}
	y := transposed(v)
	if err := border(ctx, y, small, rows); err != nil {
		return update{}, err
	}
	s.pending = append(s.pending, correction{y, 1})
	s.off = slices.DeleteFunc(s.off, func(e int) bool { return slices.Contains(rows, e) })
	return update{plus: y, logDet: small.logDet()}, nil
}

// detach sets rows and columns of the inverse to zero, which gives the inverse
// without those examples.
func (s *woodbury) detach(ctx context.Context, rows []int) (update, error) {
	g := s.columns(rows)
	own := picked(g, rows)
	small, err := smallFactor(ctx, own, nil)
	if err != nil {
		return update{}, err
	}
	y := transposed(g)
	small.forward(ctx, y)
	if err := ctx.Err(); err != nil {
		return update{}, err
	}
	s.pending = append(s.pending, correction{y, -1})
	s.off = append(s.off, rows...)
	slices.Sort(s.off)
	return update{minus: y, logDet: small.logDet()}, nil
}

// mask sets the columns of examples that are off to zero.
func (s *woodbury) mask(b blas64.General) {
	for i := range b.Rows {
		row := dense.Row(b, i)
		for _, e := range s.off {
			row[e] = 0
		}
	}
}

// columns returns columns of the inverse, as rows (k×n).
func (s *woodbury) columns(rows []int) blas64.General {
	g := dense.New(len(rows), s.a.n)
	for i, r := range rows {
		s.a.column(dense.Row(g, i), r)
		for _, c := range s.pending {
			if r < c.y.Rows {
				addTo(dense.Row(g, i), c, dense.Row(c.y, r))
			}
		}
	}
	s.mask(g)
	return g
}

// addTo computes dst += sign·y·weights.
func addTo(dst []float64, c correction, weights []float64) {
	if c.y.Cols == 1 && c.y.Stride == 1 {
		axpy(c.sign*weights[0], c.y.Data[:c.y.Rows], dst[:c.y.Rows])
		return
	}
	for i := range c.y.Rows {
		dst[i] += c.sign * dense.Dot(dense.Row(c.y, i), weights)
	}
}

// multiply replaces every row of b (k×n) by its product with the inverse.
func (s *woodbury) multiply(ctx context.Context, b blas64.General) error {
	product := dense.New(b.Rows, b.Cols)
	if s.a.multiply(ctx, product, b); ctx.Err() != nil {
		return ctx.Err()
	}
	for _, c := range s.pending {
		weights := c.weights(b)
		dense.Parallel(b.Rows, func(i int) { addTo(dense.Row(product, i), c, dense.Row(weights, i)) })
	}
	dense.Copy(b, product)
	return nil
}

// weights returns b·y (rows of b × k). Each value is independent of the other
// rows.
func (c correction) weights(b blas64.General) blas64.General {
	out := dense.New(b.Rows, c.y.Cols)
	if c.y.Cols == 1 && c.y.Stride == 1 {
		for i := range b.Rows {
			out.Data[i] = dense.Dot(dense.Row(b, i)[:c.y.Rows], c.y.Data[:c.y.Rows])
		}
		return out
	}
	across := (c.y.Cols + strip - 1) / strip
	dense.Parallel((b.Rows+chunk-1)/chunk*across, func(t int) {
		i, j := t/across*chunk, t%across*strip
		rows, cols := min(chunk, b.Rows-i), min(strip, c.y.Cols-j)
		addInner(dense.View(out, i, j, rows, cols), 1, dense.View(b, i, 0, rows, c.y.Rows),
			dense.View(c.y, 0, j, c.y.Rows, cols))
	})
	return out
}

func (s *woodbury) solve(ctx context.Context, b blas64.General) error { return s.multiply(ctx, b) }

// quad needs one triangle only: bᵀAb = Σ b_i(2 Σ_{j<i} A_ij b_j + A_ii b_i).
func (s *woodbury) quad(dst []float64, b blas64.General) {
	clear(dst)
	dense.Parallel((b.Rows+chunk-1)/chunk, func(task int) {
		i := task * chunk
		part := rowsOf(b, i, min(chunk, b.Rows-i))
		for p := range s.a.panels {
			first, rows := p*side, s.a.rowsIn(p)
			product := dense.New(part.Rows, rows)
			subtractProduct(product, dense.View(part, 0, 0, part.Rows, first), s.a.view(p, 0, first))
			own := dense.New(part.Rows, rows)
			addInner(own, 1, dense.View(part, 0, first, part.Rows, rows), s.a.diagonalTile(p))
			for r := range part.Rows {
				x := dense.Row(part, r)[first : first+rows]
				dst[i+r] += dense.Dot(x, dense.Row(own, r)) - 2*dense.Dot(x, dense.Row(product, r))
			}
		}
	})
	for _, c := range s.pending {
		for i, sq := range squares(c.weights(b)) {
			dst[i] += c.sign * sq
		}
	}
}

func (s *woodbury) diagonal(context.Context) ([]float64, error) {
	out := make([]float64, s.a.n)
	for i := range out {
		out[i] = s.a.row(i)[i]
	}
	for _, c := range s.pending {
		for i, sq := range squares(c.y) {
			out[i] += c.sign * sq
		}
	}
	return out, nil
}

func (s *woodbury) rank() int {
	var r int
	for _, c := range s.pending {
		r += c.y.Cols
	}
	return r
}

// settle folds the corrections once their rank exceeds pendingRank.
func (s *woodbury) settle() {
	if s.rank() > pendingRank {
		s.fold()
	}
}

// fold adds all corrections to the triangle: O(kn²).
func (s *woodbury) fold() {
	left, right := s.gatherPending()
	if left.Cols == 0 {
		return
	}
	var products sync.Pool // of *[]float64
	// In ascending order: largest first takes a third longer (measured).
	dense.Parallel(len(s.a.panels), func(p int) {
		s.foldPanel(p, rowsOf(left, p*side, s.a.rowsIn(p)), rowsOf(right, 0, min(s.a.n, (p+1)*side)), &products)
		for i := range s.a.rowsIn(p) {
			clear(s.a.wide(p*side + i)[p*side+i+1:])
		}
	})
	s.pending = nil
}

// foldPanel subtracts left·rightᵀ from panel p, in pieces that stay in the cache.
func (s *woodbury) foldPanel(p int, left, right blas64.General, products *sync.Pool) {
	size, fast := side, byLibrary(s.raw, s.a.n)
	if fast {
		size = foldColumns
	}
	for from := 0; from < right.Rows; from += size {
		part := rowsOf(right, from, min(size, right.Rows-from))
		to := s.a.view(p, from, part.Rows)
		if !fast || !subtractByLibrary(s.raw, to, left, part, products) {
			subtractProduct(to, left, part)
		}
	}
}

// subtractByLibrary computes c −= a·bᵀ; a and b have no gaps between rows. If raw
// fails, it changes nothing and returns false.
func subtractByLibrary(raw linalg.Kernel, c, a, b blas64.General, products *sync.Pool) bool {
	r := dense.Borrowed[float64](products, c.Rows*c.Cols)
	defer products.Put(r)
	rest := *r
	product := cut(&rest, c.Rows, c.Cols)
	if raw.Mul64(product, a, b) != nil {
		return false
	}
	subtractFrom(c, product)
	return true
}

// gatherPending returns the corrections side by side (n×rank), in right with the
// opposite sign.
func (s *woodbury) gatherPending() (left, right blas64.General) {
	left = dense.New(s.a.n, s.rank())
	right = dense.New(s.a.n, left.Cols)
	at := 0
	for _, c := range s.pending {
		for i := range c.y.Rows {
			for j, v := range dense.Row(c.y, i) {
				left.Data[i*left.Stride+at+j], right.Data[i*right.Stride+at+j] = v, -c.sign*v
			}
		}
		at += c.y.Cols
	}
	return left, right
}

// checkpoint returns what restore needs in case one of k steps fails.
func (s *woodbury) checkpoint(k int) woodbury {
	before := *s
	before.pending, before.off = slices.Clone(s.pending), nil
	before.a = &triangle{n: s.a.n}
	if s.iterative && s.rank()+k > pendingRank { // it will fold
		before.a = s.a.clone()
	}
	return before
}

func (s *woodbury) restore(before woodbury) {
	if len(before.a.panels) == 0 {
		s.a.shrink(before.a.n)
		before.a = s.a
	}
	*s = before
}

// refit compares two rank-k products with n³.
func (s *woodbury) refit(k int) bool {
	n, left := float64(s.a.n), float64(s.a.n-k)
	return 2*n*n*float64(k) > left*left*left
}

// outgrown is always false: the inverse of a batch fit costs as much as updates.
func (s *woodbury) outgrown(int, linalg.Kernel) bool { return false }

func (s *woodbury) state() ([]float64, []int) { return s.a.packed(), dense.Range(0, s.a.n) }

func (s *woodbury) clone() solver {
	return &woodbury{a: s.a.clone(), raw: s.raw, pending: slices.Clone(s.pending), iterative: s.iterative}
}

func (s *woodbury) bytes() int {
	total := s.a.bytes()
	for _, c := range s.pending {
		total += 8 * cap(c.y.Data)
	}
	return total
}
