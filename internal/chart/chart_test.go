package chart

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestFigures: every figure is a picture of its size and the same each time,
// even with hardly anything to draw.
func TestFigures(t *testing.T) {
	nan := math.NaN()
	for name, draw := range map[string]func() Figure{
		"lines": func() Figure {
			return Lines("f", Axes{Title: "t", X: "x", Y: "y", Events: []float64{1, 2.5}}, []Series{
				{Label: "a", X: []float64{0, 1000, 3200}, Y: []float64{-30, nan, -12}, Band: []float64{1, 1, 2},
					Bare: true},
				{Label: "b", X: []float64{0, 1000, 3200}, Y: []float64{-31, -12, -11}, Thin: true},
			})
		},
		"by name": func() Figure {
			return Lines("f", Axes{Names: []string{"0", "many"}}, []Series{{Label: "a", Y: []float64{1, 1}}})
		},
		"nothing":      func() Figure { return Lines("f", Axes{}, nil) },
		"not a number": func() Figure { return Lines("f", Axes{}, []Series{{Label: "a", Y: []float64{nan}}}) },
		"one point":    func() Figure { return Lines("f", Axes{}, []Series{{Label: "a", Y: []float64{5}}}) },
		"equal up to rounding": func() Figure {
			return Lines("f", Axes{}, []Series{{Label: "a", X: []float64{1, math.Nextafter(1, 2)},
				Y: []float64{77.5, math.Nextafter(77.5, 78)}}})
		},
		"matrix": func() Figure {
			return Matrix("f", Axes{Title: "t"}, []string{"A", "B"}, [][]float64{{0, -2}, {nan, 1}})
		},
		"panels": func() Figure {
			p := Panel{Title: "p", Side: 2, Value: func(at int) float64 { return []float64{0, 1, nan, 0.5}[at] },
				Points: []Points{{XY: [][2]float64{{-1, 1}, {9, 9}}, Ring: true}, {XY: [][2]float64{{7, 7}}}}}
			return Panels("f", "t", -1, 1, nil, []Row{{"r", []Panel{p, p}}, {Panels: []Panel{p}}})
		},
		"zeros": func() Figure { return Matrix("f", Axes{}, []string{"A"}, [][]float64{{0}}) },
	} {
		first, again := encoded(t, name, draw), encoded(t, name, draw)
		if !bytes.Equal(first, again) {
			t.Errorf("%s: drawn twice, the picture differs", name)
		}
	}
}

func TestValuesMustBeFinite(t *testing.T) {
	for _, a := range []Axes{{}, {LogY: true}} {
		for _, y := range []float64{math.Inf(1), 0} {
			_, err := Lines("f", a, []Series{{Label: "a", Y: []float64{1, y}}}).Encode("svg")
			if (err == nil) != (y == 0 && !a.LogY) {
				t.Errorf("%g, %+v: %v", y, a, err)
			}
		}
	}
}

func TestPanelsMustHaveValues(t *testing.T) {
	narrow := Panel{Side: 1, Value: func(int) float64 { return 0 }}
	for _, rows := range [][]Row{nil, {{}}, {{Panels: make([]Panel, 1)}}, {{Panels: []Panel{narrow}}}} {
		if _, err := Panels("f", "", -1, 1, nil, rows).Encode("svg"); err == nil {
			t.Errorf("%v was drawn", rows)
		}
	}
}

func encoded(t *testing.T, name string, draw func() Figure) []byte {
	t.Helper()
	f := draw()
	svg, err := f.Encode("svg")
	if err != nil || !strings.Contains(string(svg), "<svg") || strings.Contains(string(svg), "NaN") {
		t.Errorf("%s as SVG: %v", name, err)
	}
	picture, err := f.Encode("png")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if _, err := f.Encode("bmp"); err == nil {
		t.Errorf("%s: an unknown format was written", name)
	}
	return picture
}

func TestMatrixMustBeSquare(t *testing.T) {
	for _, cells := range [][][]float64{nil, {{1}}, {{1, 2}, {3}}} {
		if _, err := Matrix("f", Axes{}, []string{"A", "B"}, cells).Encode("svg"); err == nil {
			t.Errorf("%v was drawn", cells)
		}
	}
}

func TestNamesAreSpread(t *testing.T) {
	var tags []tag
	for _, g := range []tag{{text: "c", end: vg.Point{Y: 50}}, {text: "a", end: vg.Point{Y: 49.9}},
		{text: "d", end: vg.Point{Y: 99.9}}, {text: "e", end: vg.Point{Y: 99.8}}, {text: "b", end: vg.Point{Y: 50}}} {
		g.box.Min.Y, g.box.Max.Y = g.end.Y-nameHeight/2, g.end.Y+nameHeight/2
		tags = append(tags, g)
	}
	spread(tags, 0, 100)
	names := ""
	for i, g := range tags {
		names += g.text
		if g.middle() < 0 || g.middle() > 100 || i > 0 && g.box.Min.Y < tags[i-1].box.Max.Y-1e-9 {
			t.Errorf("name %s at %v", g.text, g.box)
		}
	}
	if names != "acbed" {
		t.Errorf("names from below: %s", names)
	}
}

func TestRoundTicks(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{{0, 1}, {0, 100}, {45, 90}, {-3, 4}, {83, 83.4}, {0, 3200},
		{-1e-4, 3e-4}, {0, 2e6}} {
		ticks := ticks(c.low, c.high, 0, false)
		if len(ticks) < 2 || len(ticks) > 9 {
			t.Errorf("%v … %v: %d ticks", c.low, c.high, len(ticks))
		}
		for _, k := range ticks {
			if k.Label == "-0" || k.Value < c.low-1e-6 || k.Value > c.high+1e-6 {
				t.Errorf("%v … %v: tick %q at %v", c.low, c.high, k.Label, k.Value)
			}
		}
	}
}
