package chart_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/internal/chart/charttest"
)

// series returns a line with a name.
func series(name string, x, y []float64) chart.Series {
	return chart.Series{Label: name, X: x, Y: y, Colour: chart.Palette(len(name))}
}

// many returns n lines that end at the same point.
func many(n int) (lines []chart.Series) {
	for i := range n {
		lines = append(lines, series(fmt.Sprintf("method %d", i), []float64{0, 1}, []float64{float64(i), 50}))
	}
	return lines
}

// early returns n lines that all end in the middle, below one that goes on.
func early(n int) []chart.Series {
	lines := []chart.Series{series("whole", []float64{0, 10}, []float64{90, 80})}
	for i := range n {
		lines = append(lines, series(fmt.Sprintf("refuses %d", i), []float64{0, 4}, []float64{90, 84 - float64(i)/4}))
	}
	return lines
}

// TestTextsAreLegible: whatever the data, no text of a figure covers another or leaves it.
func TestTextsAreLegible(t *testing.T) {
	long := strings.Repeat("Probabilistic principal component analysis ", 3)
	nan := math.NaN()
	heads := []string{"GP-Tree", "LSM", "OVE", "SBM-GP"}
	axes := chart.Axes{Title: "Accuracy · " + long + "· mini-ImageNet, track foundation · 30 images per class",
		X: "classes", Y: "accuracy (%)"}
	panel := chart.Panel{Title: "class 0 " + long, Side: 2, Value: func(at int) float64 { return float64(at / 3) }}
	for name, f := range map[string]chart.Figure{
		"ends early":       chart.Lines("f", axes, early(1)),
		"many end early":   chart.Lines("f", axes, early(40)),
		"many and upright": chart.Lines("f", chart.Axes{Names: []string{"a", long[:80], "b"}}, many(40)),
		"crossing ends": chart.Lines("f", axes, []chart.Series{series("up", []float64{1, 2, 3}, []float64{1, 2, 3}),
			series("down", []float64{1, 2, 3}, []float64{3, 2, 1}), series("low", []float64{1, 2}, []float64{3, 2.9})}),
		"one point":     chart.Lines("f", axes, []chart.Series{series("alone", []float64{60}, []float64{83.9})}),
		"one equal end": chart.Lines("f", axes, many(2)),
		"40 equal ends": chart.Lines("f", axes, many(40)),
		"no point":      chart.Lines("f", axes, []chart.Series{series("none", nil, []float64{nan})}),
		"large numbers": chart.Lines("f", axes, []chart.Series{series("a", []float64{0, 1e6}, []float64{-1e6, 1e6})}),
		"from 1 to 2":   chart.Lines("f", axes, []chart.Series{series("a", nil, []float64{1, 2})}),
		"long names": chart.Lines("f", chart.Axes{Names: heads[:3]},
			[]chart.Series{series(long[:60], nil, []float64{1, 2, 3})}),
		"many names": chart.Lines("f", chart.Axes{Names: strings.Fields(strings.Repeat("144×144-pooled ", 16))},
			many(1)),
		"both by powers": chart.Lines("f", chart.Axes{LogX: true, LogY: true},
			[]chart.Series{series("a", []float64{500, 4000}, []float64{1e-4, 0.2})}),
		"matrix": chart.Matrix("f", axes, heads,
			[][]float64{{1, 0, 0, 0}, {-9, 0, nan, 0}, {0, 0, 0, 0}, {0, 0, 0, 12.5}}),
		"one cell":     chart.Matrix("f", axes, heads[:1], [][]float64{{0.5}}),
		"long classes": chart.Matrix("f", axes, []string{"brontosaurus", "a"}, [][]float64{{1, 2}, {3, 4}}),
		"panels": chart.Panels("f", axes.Title, -1, 1, []string{"−1", "0", "1"},
			[]chart.Row{{Label: "after task 1", Panels: []chart.Panel{panel, panel}},
				{Label: long, Panels: []chart.Panel{panel}}}),
		"strips": chart.Strips("f", axes, 3, []chart.Strip{{Label: long, Note: long, Values: make([]float64, 24)},
			{Label: "b", Note: "1 event", Values: []float64{1, 0, 3}}, {Note: "none"}}),
		"no strip":  chart.Strips("f", axes, 1, nil),
		"one panel": chart.Panels("f", "toy", -1, 1, []string{"0", "1"}, []chart.Row{{Panels: []chart.Panel{panel}}}),
	} {
		charttest.Legible(t, name, f)
	}
}

// TestNamesAreAtTheirLines: a name is next to the last point of its line, also of one that
// ends early, and no other line runs through it.
func TestNamesAreAtTheirLines(t *testing.T) {
	f := chart.Lines("f", chart.Axes{}, []chart.Series{
		series("above", []float64{0, 10}, []float64{100, 100}),
		series("below", []float64{0, 10}, []float64{0, 0}),
		series("through", []float64{0, 10}, []float64{50, 50}),
		series("OVE", []float64{0, 5}, []float64{90, 50}),
	})
	where := map[string]charttest.Text{}
	for _, s := range charttest.Legible(t, "names", f) {
		where[s.String] = s
	}
	ove, end := where["OVE"], where["through"]
	if ove.Min.X > end.Min.X-vg.Points(150) || ove.Max.X < vg.Points(200) {
		t.Errorf("OVE ends in the middle and is named at %v; names at the end are at %v", ove.Rectangle, end.Rectangle)
	}
	middle := (end.Min.Y + end.Max.Y) / 2 // the height of the line that goes through OVE's end
	if ove.Min.Y < middle && middle < ove.Max.Y {
		t.Errorf("the line %q runs through OVE, %v", end.String, ove.Rectangle)
	}
	for high, low := range map[string]string{"above": "through", "through": "below"} {
		if where[high].Min.Y <= where[low].Max.Y {
			t.Errorf("%s at %v is not above %s at %v", high, where[high].Rectangle, low, where[low].Rectangle)
		}
	}
}

// TestAxisIsNumeric: values are as far apart as their numbers.
func TestAxisIsNumeric(t *testing.T) {
	f := chart.Lines("f", chart.Axes{}, []chart.Series{series("a", []float64{60, 10, 4}, []float64{3, 2, 1})})
	at := map[string]vg.Length{}
	for _, s := range charttest.Legible(t, "axis", f) {
		at[s.String] = (s.Min.X + s.Max.X) / 2
	}
	if near, far := at["20"]-at["10"], at["60"]-at["20"]; near <= 0 || math.Abs(float64(far/near)-4) > 0.01 {
		t.Errorf("from 10 to 20 there are %g points, from 20 to 60 %g", near, far)
	}
}
