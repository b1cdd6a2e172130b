package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label/metrics"
)

// manyPage returns a page with n predictions per class, of which the first few
// are rejected.
func manyPage(classes, n, rejected int) Page {
	var p Page
	for c := range classes {
		name := fmt.Sprintf("class %d", c)
		p.Classes = append(p.Classes, Class{Name: name})
		for i := range n {
			p.Predictions = append(p.Predictions, sample(fmt.Sprintf("%d/%04d", c, i), name, "", 0.9, i < rejected))
		}
	}
	return p
}

func TestCardsAreLimitedAndLeftOnesCounted(t *testing.T) {
	p := manyPage(10, 500, 20)
	page := render(t, p)
	if got := len(cards(parse(t, page))); got != defaultMaxThumbnails {
		t.Errorf("%d cards, want %d", got, defaultMaxThumbnails)
	}
	if !strings.Contains(page, "3,000 of 5,000 pictures are not shown") {
		t.Error("the page does not say how many were left out")
	}
	p.MaxThumbnails = 7
	g := newPictures(p)
	if g.Shown != 7 || g.Left != 4993 || len(g.Groups) != 11 {
		t.Errorf("shown %d, left %d, groups %d", g.Shown, g.Left, len(g.Groups))
	}
	if g.Groups[0].ID != "rejected" || len(g.Groups[0].Cards) != 3 || g.Groups[0].Left != 197 {
		t.Errorf("rejected group shows %d, leaves %d", len(g.Groups[0].Cards), g.Groups[0].Left)
	}
}

func TestFairShares(t *testing.T) {
	for _, c := range []struct {
		sizes, want []int
		capacity    int
	}{
		{[]int{5, 5}, []int{5, 5}, 100}, {[]int{1, 9, 9}, []int{1, 4, 4}, 9}, {[]int{3, 3, 3}, []int{1, 1, 0}, 2},
		{[]int{0, 4}, []int{0, 3}, 3}, {nil, []int{}, 4}, {[]int{4}, []int{0}, 0},
	} {
		if got := fairShares(c.sizes, c.capacity); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("fairShares(%v, %d) = %v, want %v", c.sizes, c.capacity, got, c.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	known := map[string]bool{"cat": true, "dog": true}
	for _, c := range []struct {
		predicted, truth string
		rejected         bool
		want             string
	}{
		{"cat", "", false, ""}, {"cat", "", true, ""}, {"cat", "cat", false, "right"}, {"cat", "dog", false, "wrong"},
		{"cat", "cat", true, "wrong"}, {"cat", "emu", false, "wrong"}, {"cat", "emu", true, "right"},
	} {
		if got := correctness(Prediction{Predicted: c.predicted, Truth: c.truth, Rejected: c.rejected},
			known); got != c.want {
			t.Errorf("predicted %q, truth %q, rejected %v: %q, want %q", c.predicted, c.truth, c.rejected, got, c.want)
		}
	}
}

func TestConfusion(t *testing.T) {
	p := samplePage()
	c := newConfusion(p.Evaluation, p.Classes)
	if got := c.Rows[0].Cells; got[0] != (confusionCell{"2", "d4", "cat", "cat"}) ||
		got[1] != (confusionCell{"1", "e2", "cat", "dog"}) || got[2] != (confusionCell{}) {
		t.Errorf("first row %v", got)
	}
	if got := c.Rows[1].Cells[1].Heat; got != "d5" {
		t.Errorf("full diagonal cell has heat %q", got)
	}
	if !c.Columns[2].New || c.Columns[0].New {
		t.Error("new classes are not marked")
	}
	first := c.Pairs[0]
	if len(c.Pairs) != 3 || first.Truth != "emu" || first.Predicted != "cat" || first.Share != "50.0%" {
		t.Errorf("mistakes %v", c.Pairs)
	}
}

// identityReport returns a report on n classes with one image each, all
// labelled correctly.
func identityReport(n int) *metrics.Report {
	e := &metrics.Report{N: n, Accuracy: 1}
	for i := range n {
		row := make([]int, n)
		row[i] = 1
		e.Classes, e.Confusion = append(e.Classes, fmt.Sprint("class ", i)), append(e.Confusion, row)
	}
	return e
}

func TestConfusionOfManyClasses(t *testing.T) {
	full := render(t, Page{Evaluation: identityReport(maxMatrixClasses)})
	if n := strings.Count(full, `class="d5"`); n != maxMatrixClasses {
		t.Errorf("%d diagonal cells, want %d", n, maxMatrixClasses)
	}
	if page := render(t, Page{Evaluation: identityReport(maxMatrixClasses + 1)}); !strings.Contains(page,
		"too many classes for a table") {
		t.Error("a matrix beyond the limit is not replaced")
	}
}

func TestCalibrationIsDrawnToScale(t *testing.T) {
	c := newCalibration(samplePage().Evaluation)
	if len(c.Dots) != 2 || c.Line != "176.0,12.0 306.0,142.0" {
		t.Fatalf("line %q, %d dots", c.Line, len(c.Dots))
	}
	if small, large := c.Dots[0], c.Dots[1]; small.R != "5.5" || large.R != "11.0" || large.Ideal != "12.0" {
		t.Errorf("dots %v, %v", small, large)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000",
		-100: "-100"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
	for v, want := range map[float64]string{0.9376: "93.8%", 1: "100.0%", 0: "0.0%", math.Inf(1): "–"} {
		if got := percent(v); got != want {
			t.Errorf("percent(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{-1: "0%", 0.5: "50.0%", 7: "100.0%", math.NaN(): "0%"} {
		if got := barWidth(v); got != want {
			t.Errorf("barWidth(%v) = %q, want %q", v, got, want)
		}
	}
}

func BenchmarkWrite2000Cards(b *testing.B) {
	p := manyPage(20, 100, 5)
	for i := range p.Predictions {
		p.Predictions[i].Thumbnail = make([]byte, 6000)
	}
	for b.Loop() {
		render(b, p)
	}
}

// TestSelectionIsThePage: a page of a selection equals the page of all
// predictions, even with far more predictions than it retains.
func TestSelectionIsThePage(t *testing.T) {
	for _, c := range []struct{ classes, n, rejected, limit int }{{3, 5, 1, 2000}, {5, 3000, 400, 100},
		{40, 3000, 20, 200}, {1, 500, 0, 20}, {0, 0, 0, 10}} {
		p := manyPage(c.classes, c.n, c.rejected)
		p.MaxThumbnails = c.limit
		want := render(t, p)
		s := newSelection(p)
		for _, q := range p.Predictions {
			s.add(q)
		}
		must.Do(t, s.fill(&p, func([]Prediction) error { return nil }))
		if len(p.Predictions) > c.limit {
			t.Errorf("%+v: %d predictions retained", c, len(p.Predictions))
		}
		if got := render(t, p); got != want {
			t.Errorf("%+v: the pages differ (%d and %d bytes)", c, len(got), len(want))
		}
	}
}
