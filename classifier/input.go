package classifier

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// NotFiniteError reports an embedding that holds a NaN or an infinity.
type NotFiniteError struct {
	// Row is the row of the matrix, counted from 0.
	Row int
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("embedding in row %d holds a NaN or an infinity: embed that image again or leave it out", e.Row)
}

// CheckRows returns an error unless x is a well-formed matrix of finite
// values with dim columns (any number when dim is 0). A value that is not
// finite is a *NotFiniteError.
func CheckRows(x blas32.General, dim int) error {
	if err := dense.Valid32(x); err != nil {
		return fmt.Errorf("embeddings: %w", err)
	}
	if x.Cols == 0 {
		return fmt.Errorf("embeddings: no columns")
	}
	if dim != 0 && x.Cols != dim {
		return fmt.Errorf("embeddings have %d values each, this model takes %d: they come from another backbone",
			x.Cols, dim)
	}
	if i := firstNotFinite(x); i < x.Rows {
		return &NotFiniteError{Row: i}
	}
	return nil
}

// checkedRows is the number of rows that one goroutine checks at a time.
const checkedRows = 256

// firstNotFinite returns the first row that holds a NaN or an infinity, or the
// number of rows.
func firstNotFinite(x blas32.General) int {
	blocks := make([]int, (x.Rows+checkedRows-1)/checkedRows)
	dense.Parallel(len(blocks), func(b int) {
		blocks[b] = x.Rows
		for i := b * checkedRows; i < min((b+1)*checkedRows, x.Rows); i++ {
			if !dense.Finite32(dense.Row32(x, i)) {
				blocks[b] = i
				return
			}
		}
	})
	return slices.Min(append(blocks, x.Rows))
}

// CheckExamples is CheckRows for labelled rows: there must be at least one, and
// each must have a label that is not empty.
func CheckExamples(x blas32.General, y []string, dim int) error {
	if x.Rows == 0 {
		return fmt.Errorf("no examples")
	}
	if len(y) != x.Rows {
		return fmt.Errorf("%d examples with %d labels", x.Rows, len(y))
	}
	if i := slices.Index(y, ""); i >= 0 {
		return fmt.Errorf("example %d has an empty label", i)
	}
	return CheckRows(x, dim)
}

// CheckScore returns an error unless c can write the log-probabilities of the
// rows of x into dst, and their novelty into novelty if that is not nil. It
// wraps ErrNotFitted before the base session.
func CheckScore(c Head, dst blas64.General, novelty []float64, x blas32.General) error {
	classes := len(c.Classes())
	if classes == 0 {
		return ErrNotFitted
	}
	if err := dense.Valid(dst); err != nil {
		return fmt.Errorf("log-probabilities: %w", err)
	}
	if dst.Rows != x.Rows || dst.Cols != classes {
		return fmt.Errorf("log-probabilities: a %d×%d matrix for %d examples and %d classes", dst.Rows, dst.Cols,
			x.Rows, classes)
	}
	if novelty != nil && len(novelty) != x.Rows {
		return fmt.Errorf("novelty: %d scores for %d examples", len(novelty), x.Rows)
	}
	return CheckRows(x, c.Dim())
}

// A Group holds the examples of one class within a session.
type Group struct {
	Class string
	// Rows are the positions of its examples, ascending.
	Rows []int
}

// GroupByClass groups examples by class, with the classes sorted by name, so
// that the columns of new classes do not depend on the order of the examples.
func GroupByClass(y []string) []Group {
	position := make(map[string]int)
	var groups []Group
	for i, class := range y {
		p, ok := position[class]
		if !ok {
			p = len(groups)
			position[class] = p
			groups = append(groups, Group{Class: class})
		}
		groups[p].Rows = append(groups[p].Rows, i)
	}
	slices.SortFunc(groups, func(a, b Group) int { return strings.Compare(a.Class, b.Class) })
	return groups
}

// Unit writes x scaled to Euclidean length 1 into dst; a zero vector stays
// zero. The length is computed in float64, so that no float32 overflows.
func Unit(dst []float64, x []float32) {
	scale := unitScale(x)
	for j, v := range x {
		dst[j] = float64(v) * scale
	}
}

// unitScale returns the factor that scales x to length 1, 0 for a zero vector.
func unitScale(x []float32) float64 {
	var sq float64
	for _, v := range x {
		sq += float64(v) * float64(v)
	}
	if sq > 0 {
		return 1 / math.Sqrt(sq)
	}
	return 0
}

// UnitRows returns a copy of the given rows of x, scaled to length 1.
func UnitRows(x blas32.General, rows []int) blas32.General {
	out := dense.New32(len(rows), x.Cols)
	dense.Parallel(len(rows), func(i int) {
		from, to := dense.Row32(x, rows[i]), dense.Row32(out, i)
		scale := unitScale(from)
		for j, v := range from {
			to[j] = float32(float64(v) * scale)
		}
	})
	return out
}

// Placed returns the given rows of x in float64, scaled to length 1 if unit.
func Placed(x blas32.General, rows []int, unit bool) blas64.General {
	z := dense.New(len(rows), x.Cols)
	for i, r := range rows {
		Place(z.Data[i*z.Stride:i*z.Stride+z.Cols], dense.Row32(x, r), unit)
	}
	return z
}

// Place writes an embedding in float64, scaled to length 1 if unit.
func Place(dst []float64, x []float32, unit bool) {
	if unit {
		Unit(dst, x)
		return
	}
	dense.Widen(dst, x)
}
