package runner

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/internal/chart/charttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// result returns the mean of runs with about these accuracies after each session.
func result(t *testing.T, method string, runs int, accuracies ...float64) fscil.Result {
	t.Helper()
	var all []fscil.Run
	for i := range runs {
		var run fscil.Run
		for s, a := range accuracies {
			a += 0.02 * float64(i)
			m := fscil.Measures{Session: s + 1, Accuracy: a, Base: a}
			if s > 0 {
				m.Novel, m.Harmonic = &a, &a
			}
			run.Sessions = append(run.Sessions, m)
		}
		all = append(all, run)
	}
	about := fscil.Info{Dataset: "mini_imagenet", Method: method, Track: fscil.BaseOnly}
	return must.Get(fscil.Summarise(about, all))(t)
}

// TestFigures: every figure is a picture of its size and the same each time,
// even with hardly anything to draw.
func TestFigures(t *testing.T) {
	published := must.Get(fscil.Published("mini_imagenet", fscil.BaseOnly))(t)
	for name, results := range map[string][]fscil.Result{
		"two heads":    {result(t, "a", 1, 0.9, 0.8, 0.7), result(t, "b", 3, 0.8, 0.75, 0.72)},
		"one session":  {result(t, "a", 1, 0.5)},
		"all the same": {result(t, "a", 1, 0, 0)},
	} {
		drawn := figures(results, published)
		if len(drawn) != 3 {
			t.Fatalf("%s: %d figures", name, len(drawn))
		}
		for _, f := range drawn {
			check(t, f, name)
		}
		first := must.Get(drawn[0].Encode("png"))(t)
		again := figures(results, published)
		if second, err := again[0].Encode("png"); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: drawn twice, the picture differs (%v)", name, err)
		}
	}
}

func check(t *testing.T, f chart.Figure, name string) {
	t.Helper()
	charttest.Legible(t, f.Name+" of "+name, f)
	picture := must.Get(f.Encode("png"))(t)
	img := must.Get(png.Decode(bytes.NewReader(picture)))(t)
	if want := int(math.Round(float64(f.Width) / 72 * 96)); math.Abs(float64(img.Bounds().Dx()-want)) > 1 {
		t.Errorf("%s of %s is %d pixels wide, want %d", f.Name, name, img.Bounds().Dx(), want)
	}
	svg, err := f.Encode("svg")
	if err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("%s of %s as SVG: %v", f.Name, name, err)
	}
	if strings.Contains(string(svg), "NaN") {
		t.Errorf("%s of %s has a NaN in it", f.Name, name)
	}
}

func TestClassMap(t *testing.T) {
	run := fscil.RunDetails{
		Classes:       [][]string{{"a", "b"}, {"c"}},
		ClassAccuracy: [][]float64{{1, 0.5}, {0.9, 0.4, 0.2}},
	}
	f := classMap(result(t, "a", 1, 0.9, 0.8), run)
	check(t, f, "classes")
	many := fscil.RunDetails{}
	for s := range 100 {
		many.Classes = append(many.Classes, []string{"c"})
		many.ClassAccuracy = append(many.ClassAccuracy, make([]float64, s+1))
	}
	check(t, classMap(result(t, "a", 1, 0.9), many), "classes of 100 sessions")
	if v := classCells(run).Values; v[0][0] != 1 || v[2][1] != 0.2 || !math.IsNaN(v[2][0]) {
		t.Error("the first class is not in the top row")
	}
	if _, err := classMap(result(t, "a", 1, 0.9), fscil.RunDetails{}).Encode("svg"); err == nil {
		t.Error("a map of nothing was drawn")
	}
	if _, err := f.Encode("bmp"); err == nil {
		t.Error("an unknown format was written")
	}
}
