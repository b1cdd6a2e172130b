package exemplars

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
)

func matrix(rows ...[]float32) blas32.General {
	d := len(rows[0])
	return blas32.General{Rows: len(rows), Cols: d, Stride: d, Data: slices.Concat(rows...)}
}

// learned returns a table after sessions of one example per letter: the class is
// the letter, and the examples are numbered from 1.
func learned(sessions ...string) (t Table) {
	for _, s := range sessions {
		var rows [][]float32
		for range s {
			rows = append(rows, []float32{float32(len(t.Own) + len(rows) + 1), 0})
		}
		t = t.With(matrix(rows...), classifier.GroupByClass(strings.Split(s, "")))
	}
	return t
}

func (t Table) String() string {
	var b strings.Builder
	for i, c := range t.Own {
		fmt.Fprintf(&b, "%s%d:%g ", t.Classes[c], t.Sessions[c], t.X.Data[i*t.X.Stride])
	}
	return b.String()
}

// TestRowsStayInTheOrderOfLearning checks sessions, columns and what is left
// after forgetting.
func TestRowsStayInTheOrderOfLearning(t *testing.T) {
	all := learned("bab", "ca")
	if got := all.String(); got != "a0:2 b0:1 b0:3 a0:5 c1:4 " {
		t.Fatal(got)
	}
	if got := fmt.Sprint(all.Classes, all.Counts(), all.NextSession(), all.Of("a"),
		all.Of("x")); got != "[a b c] [2 2 1] 2 [0 3] []" {
		t.Error(got)
	}
	left, gone := all.Without([]int{3, 1, 2})
	if got := left.String() + fmt.Sprint(gone, left.Classes); got != "a0:2 c1:4 [1] [a c]" {
		t.Error(got)
	}
	if got := all.String(); got != "a0:2 b0:1 b0:3 a0:5 c1:4 " {
		t.Errorf("the table has changed: %s", got)
	}
	if none, gone := left.Without([]int{0, 1}); !reflect.DeepEqual(none, Table{}) || len(gone) != 2 {
		t.Errorf("%+v, %v", none, gone)
	}
}

// TestForget checks which rows a head is asked to drop.
func TestForget(t *testing.T) {
	all := learned("bab", "ca")
	all = all.With(matrix([]float32{1, 0}), classifier.GroupByClass([]string{"b"})) // again
	var dropped []int
	drop := func(rows []int) error { dropped = rows; return nil }
	if err := Forget("m", all, "b", drop); err != nil || fmt.Sprint(dropped) != "[1 2 5]" {
		t.Error(dropped, err)
	}
	if err := Forget("m", all, "x", drop); !errors.Is(err, classifier.ErrUnknownClass) {
		t.Error(err)
	}
	x := matrix([]float32{1, 0}, []float32{4, 0}, []float32{1, 0})
	if err := ForgetSamples("m", all, x, []string{"b", "c", "b"}, drop); err != nil ||
		fmt.Sprint(dropped) != "[1 5 4]" {
		t.Error(dropped, err)
	}
	for want, y := range map[string][]string{"example 2": {"b", "c", "c"}, "unknown class": {"b", "c", "x"},
		"labels": {"b"}} {
		if err := ForgetSamples("m", all, x, y, drop); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", y, err)
		}
	}
}

// TestRowsAreSortedByTheirBits checks that −0 and 0 are different rows and that
// forgetting removes the right one.
func TestRowsAreSortedByTheirBits(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	all := Table{}.With(matrix([]float32{0, 1}, []float32{negative, 1}, []float32{0, 1}),
		classifier.GroupByClass([]string{"a", "a", "a"}))
	one := matrix([]float32{0, 1})
	rows, err := all.find(one, []string{"a"})
	if err != nil || fmt.Sprint(rows) != "[0]" {
		t.Fatal(rows, err)
	}
	left, _ := all.Without(rows)
	if a := left.ByClass()["a"]; len(a) != 2 || !math.Signbit(float64(a[0][0])) || math.Signbit(float64(a[1][0])) {
		t.Errorf("%v", a)
	}
	if _, err := left.find(matrix([]float32{0, 1}, []float32{0, 1}), []string{"a", "a"}); err == nil {
		t.Error("a row was found twice")
	}
}

// TestRowsAreCopies checks that neither later changes of x nor its order
// matter.
func TestRowsAreCopies(t *testing.T) {
	x := matrix([]float32{2, 0}, []float32{1, 3}, []float32{1, 2})
	group := func(rows ...int) []classifier.Group { return []classifier.Group{{Class: "a", Rows: rows}} }
	once := Table{}.With(x, group(0, 1, 2))
	again := Table{}.With(x, group(2)).With(x, group(0, 1))
	clear(x.Data)
	want := Rows{{1, 2}, {1, 3}, {2, 0}}
	for _, got := range []Table{once, again} {
		if rows := got.ByClass()["a"]; !slices.EqualFunc(rows, want, slices.Equal) {
			t.Errorf("%v, want %v", rows, want)
		}
	}
	if m := want.Matrix(2, false); m.Rows != 3 || m.Data[3] != 3 {
		t.Errorf("matrix %v", m)
	}
}

// TestTensors checks that a table is written sorted and read back.
func TestTensors(t *testing.T) {
	all := learned("bab", "ca")
	s := classifier.State{Tensors: all.Tensors()}
	l := classifier.Learned{Dim: 2, Classes: all.Classes}
	got, err := Load(s, l, all.Sessions, 2)
	if err != nil || got.String() != "a0:2 a0:5 b0:1 b0:3 c1:4 " {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := Load(s, l, all.Sessions, 1); err == nil {
		t.Error("more examples than allowed were read")
	}
	s.Tensors["points"].F32[0] = 9
	if _, err := Load(s, l, all.Sessions, 2); err == nil || !strings.Contains(err.Error(), "not sorted") {
		t.Error(err)
	}
}
