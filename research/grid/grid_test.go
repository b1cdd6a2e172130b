package grid_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// cells returns two methods at two sizes, two runs each; one is missing.
func cells() grid.Grid {
	var g grid.Grid
	for run := range 2 {
		for i, at := range []grid.Place{
			grid.At("method", "a", "n", 10, "set", "x"), grid.At("method", "a", "n", 5, "set", "x"),
			grid.At("method", "b", "n", 10, "set", "x"),
		} {
			g.Add(at, grid.Values{"accuracy": 0.2*float64(i) + 0.1*float64(run)})
		}
	}
	g.Add(grid.At("method", "b", "n", 5, "set", "x"), nil)
	g.Set(grid.At("step", 1), "time", []float64{3})
	return g
}

func TestTable(t *testing.T) {
	g := cells()
	columns := append(g.Across("n", "n = %s", "accuracy", grid.PercentSEM),
		grid.Column{Title: "first", At: grid.At("n", 5), Of: "accuracy", Show: grid.MeanSEM("%.1f", 10)})
	got := g.Table(table.Table{Name: "t"}, []string{"method"}, columns...)
	want := [][]string{{"a", "5.00 ± 5.00", "25.00 ± 5.00", "2.5 ± 0.5"}, {"b", "45.00 ± 5.00", table.None, table.None}}
	if !slices.Equal(got.Header, []string{"method", "n = 10", "n = 5", "first"}) || !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("%q under %q", got.Rows, got.Header)
	}
	one := g.Table(table.Table{Header: []string{"at"}}, []string{"step"},
		grid.Column{Title: "s", Of: "time", Show: grid.Mean("%.0f", 1)},
		grid.Column{Title: "sd", Of: "time", Show: grid.PercentSD})
	if !reflect.DeepEqual(one.Rows, [][]string{{"1", "3", "300.00"}}) || one.Header[0] != "at" {
		t.Errorf("%q under %q", one.Rows, one.Header)
	}
}

func TestLines(t *testing.T) {
	g := cells()
	lines := g.Lines(grid.Lines{X: "n", Y: "accuracy", Scale: 100, By: []string{"method", "set"}, Spread: table.MeanSD})
	if len(lines) != 2 || lines[0].Label != "a" || !slices.Equal(lines[0].X, []float64{10, 5}) ||
		math.Abs(lines[0].Y[1]-25) > 1e-12 || math.Abs(lines[0].Band[0]-100*0.1/math.Sqrt2) > 1e-9 ||
		len(lines[1].Y) != 1 {
		t.Errorf("%+v", lines)
	}
	byName := g.Lines(grid.Lines{X: "method", Y: "accuracy", Scale: 1, By: []string{"n"}})
	if len(byName) != 2 || byName[0].Label != "n 10" || !slices.Equal(byName[0].X, []float64{1, 2}) ||
		len(byName[0].Y) != 2 {
		t.Errorf("%+v", byName)
	}
	if other := g.Lines(grid.Lines{X: "time", Y: "time", Scale: 1}); len(other) != 1 ||
		!slices.Equal(other[0].X, []float64{3}) {
		t.Errorf("by a measure: %+v", other)
	}
}

// TestJoin: runs of the same place follow each other, and nothing of the other grid is changed.
func TestJoin(t *testing.T) {
	a, b := cells(), cells()
	a.Join(b)
	at := grid.At("method", "a", "n", 10)
	if len(a) != len(b) || len(a.Values(at, "accuracy")) != 4 || !reflect.DeepEqual(b, cells()) {
		t.Errorf("%v", a)
	}
	if a.Values(grid.At("method", "c"), "accuracy") != nil || !slices.Equal(a.Axis("n"), []string{"10", "5"}) {
		t.Errorf("axis %v", a.Axis("n"))
	}
}
