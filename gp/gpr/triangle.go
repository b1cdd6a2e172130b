package gpr

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// side is the side of a tile: small enough to stay in the cache and for gonum to
// multiply without starting goroutines.
const side = 64

// A triangle is the lower triangle of an n×n matrix, in panels of 64 rows.
// Panel p is a dense 64×64(p+1) matrix with zeros above the diagonal, so that
// every part of it is a plain view and rows are appended without moving others.
// Memory: 4n²+256n bytes.
type triangle struct {
	n      int
	panels [][]float64
}

func newTriangle(n int) *triangle {
	t := &triangle{}
	t.grow(n)
	return t
}

// grow appends k zero rows.
func (t *triangle) grow(k int) {
	t.n += k
	for p := len(t.panels); p*side < t.n; p++ {
		t.panels = append(t.panels, make([]float64, side*side*(p+1)))
	}
}

// shrink cuts the matrix to its first n rows.
func (t *triangle) shrink(n int) {
	for i := n; i < t.n; i++ {
		clear(t.row(i))
	}
	t.n = n
	t.panels = t.panels[:(n+side-1)/side]
}

// row returns the i+1 values of row i.
func (t *triangle) row(i int) []float64 { return t.wide(i)[:i+1] }

// wide returns row i followed by the zeros of its panel.
func (t *triangle) wide(i int) []float64 {
	p := i / side
	stride := (p + 1) * side
	at := (i % side) * stride
	return t.panels[p][at : at+stride]
}

// rowsIn returns the number of rows in use of panel p.
func (t *triangle) rowsIn(p int) int { return min(side, t.n-p*side) }

// view returns columns from … from+cols−1 of panel p.
func (t *triangle) view(p, from, cols int) blas64.General {
	return dense.View(blas64.General{Rows: side, Cols: (p + 1) * side, Stride: (p + 1) * side, Data: t.panels[p]}, 0,
		from, t.rowsIn(p), cols)
}

// diagonalTile returns the last tile of panel p with both triangles filled.
func (t *triangle) diagonalTile(p int) blas64.General {
	rows := t.rowsIn(p)
	out := dense.New(rows, rows)
	for i := range rows {
		for j, v := range t.row(p*side + i)[p*side:] {
			out.Data[i*rows+j], out.Data[j*rows+i] = v, v
		}
	}
	return out
}

// column writes column j of the symmetric matrix into dst (n).
func (t *triangle) column(dst []float64, j int) {
	copy(dst, t.row(j))
	for i := j + 1; i < t.n; i++ {
		dst[i] = t.row(i)[j]
	}
}

// drop removes rows and columns, in ascending order.
func (t *triangle) drop(gone []int) {
	if len(gone) == 0 {
		return
	}
	to := gone[0]
	for from := to; from < t.n; from++ {
		if _, found := slices.BinarySearch(gone, from); found {
			continue
		}
		dst := t.wide(to)
		left := without(dst[:0], t.row(from), gone)
		clear(dst[len(left):])
		to++
	}
	t.shrink(to)
}

// without appends to dst the values whose positions are not in gone.
func without[T any](dst, values []T, gone []int) []T {
	at := 0
	for _, g := range gone {
		if g >= len(values) {
			break
		}
		dst = append(dst, values[at:g]...)
		at = g + 1
	}
	return append(dst, values[at:]...)
}

func (t *triangle) clone() *triangle {
	c := &triangle{n: t.n, panels: make([][]float64, len(t.panels))}
	for p, panel := range t.panels {
		c.panels[p] = slices.Clone(panel)
	}
	return c
}

func (t *triangle) bytes() int {
	var values int
	for _, p := range t.panels {
		values += cap(p)
	}
	return 8 * values
}
