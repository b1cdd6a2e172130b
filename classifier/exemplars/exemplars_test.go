package exemplars

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
)

func matrix(rows ...[]float32) blas32.General {
	d := len(rows[0])
	return blas32.General{Rows: len(rows), Cols: d, Stride: d, Data: slices.Concat(rows...)}
}

func all(x blas32.General) []int { return classifier.Range(0, x.Rows) }

// TestRowsAreSortedByTheirBits checks that −0 and 0 are different rows and that
// forgetting removes the right one.
func TestRowsAreSortedByTheirBits(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	x := matrix([]float32{0, 1}, []float32{negative, 1}, []float32{0, 1})
	k := Rows(nil).Plus(x, all(x))
	one := matrix([]float32{0, 1})
	less, err := k.Minus(one, all(one))
	if err != nil || len(less) != 2 || len(k) != 3 {
		t.Fatalf("%v, %v", less, err)
	}
	if signs := fmt.Sprint(math.Signbit(float64(less[0][0])), math.Signbit(float64(less[1][0]))); signs != "true false" {
		t.Errorf("sign bits %s", signs)
	}
	two := matrix([]float32{0, 1}, []float32{0, 1})
	if _, err := less.Minus(two, all(two)); err == nil {
		t.Error("a row was taken away twice")
	}
}

// TestRowsAreCopies checks that neither later changes of x nor its order
// matter.
func TestRowsAreCopies(t *testing.T) {
	x := matrix([]float32{2, 0}, []float32{1, 3}, []float32{1, 2})
	k := Rows(nil).Plus(x, all(x))
	again := Rows(nil).Plus(x, []int{2}).Plus(x, []int{0, 1})
	clear(x.Data)
	want := Rows{{1, 2}, {1, 3}, {2, 0}}
	for _, got := range []Rows{k, again} {
		if !slices.EqualFunc(got, want, slices.Equal) || !slices.IsSortedFunc(got, Compare) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if m := k.Matrix(2); m.Rows != 3 || m.Data[3] != 3 || slices.IsSortedFunc(Rows{{2}, {1}}, Compare) {
		t.Errorf("matrix %v", m)
	}
}
