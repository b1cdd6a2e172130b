package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestDistributions: every prediction is in the plots, and the coverage at an
// accuracy is that of the surest predictions.
func TestDistributions(t *testing.T) {
	p := Page{Classes: []Class{{Name: "cat"}, {Name: "dog"}}}
	for i := range 100 { // right down to 0.21, wrong below
		truth := "cat"
		if i < 20 {
			truth = "dog"
		}
		q := sample(fmt.Sprint(i), "cat", truth, (float64(i)+0.5)/100, false)
		q.Novelty = float64(i)
		p.Predictions = append(p.Predictions, q)
	}
	limit := 150.0
	v := must.Get(newView(Page{Classes: p.Classes, Predictions: p.Predictions, Threshold: &limit}))(t)
	if got := fmt.Sprint(v.Confidence.Choices); got != "[{90.0% 88.0% 12.5%} {95.0% 84.0% 16.5%} {98.0% 81.0% 19.5%} "+
		"{99.9% 80.0% 20.5%}]" {
		t.Error(got)
	}
	if n := len(v.Confidence.Histogram.Bars); n != confidenceBins {
		t.Errorf("%d bars of confidence", n)
	}
	if got := fmt.Sprint(v.Confidence.Histogram.Legend); got != "[{right 80 right} {wrong 20 wrong}]" {
		t.Error(got)
	}
	if v.Novelty.Mark != "386.0" || v.Novelty.XTicks[4].Label != "150" {
		t.Errorf("the threshold is drawn at %s, the scale ends with %v", v.Novelty.Mark, v.Novelty.XTicks[4])
	}
}

func TestDistributionsOfLittle(t *testing.T) {
	for name, predictions := range map[string][]Prediction{
		"none": nil, "one": {sample("a", "cat", "", 0.5, false)},
		"not numbers": {{Probability: math.NaN(), Novelty: math.Inf(1)}},
	} {
		page := render(t, Page{Predictions: predictions})
		if strings.Contains(page, "Photos by novelty") {
			t.Errorf("%s: a scale of novelty without a range", name)
		}
		if got := strings.Contains(page, "Photos by confidence"); got != (name == "one") {
			t.Errorf("%s: confidence shown is %t", name, got)
		}
	}
}

// TestPathsOfTheMachineStayOut: messages and addresses do not show where the
// photos of the owner are.
func TestPathsOfTheMachineStayOut(t *testing.T) {
	root := t.TempDir()
	s := &Sink{File: root + "/out/report.html", Root: root + "/my photos"}
	if got := withoutRoot("open "+root+
		"/my photos/a/b.jpg: permission denied", s.Root); got != "open a/b.jpg: permission denied" {
		t.Error(got)
	}
	if got := s.address("a#1/b c.jpg"); got != "./../my%20photos/a%231/b%20c.jpg" {
		t.Error(got)
	}
}
