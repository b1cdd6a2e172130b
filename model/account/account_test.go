package account_test

import (
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/labelnoise"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// labelled returns what is expected of labels with a probability, of photos of some novelty.
func labelled(p float64, novelties ...float64) *account.Expected {
	t := account.NewTally(held(0.9), []string{"cat", "dog"})
	for _, v := range novelties {
		t.Label(0, p, v, false)
	}
	return t.Account(account.Situation{Read: len(novelties)}).Expected
}

// TestNobodyPromisesAll: labels that look certain are expected right at 99 % at the most, and what was measured of few
// photos says how few.
func TestNobodyPromisesAll(t *testing.T) {
	e := labelled(1, make([]float64, 500)...)
	if *e.Accuracy > 0.99 || *e.High < 0.999 {
		t.Errorf("%g to %g, %g at the middle", *e.Low, *e.High, *e.Accuracy)
	}
	if m := account.Measure(20, 20, 0); math.Abs(m.Low-0.83) > 0.01 || m.High != 1 || account.Measure(0, 0, 0) != nil {
		t.Errorf("twenty of twenty: %+v", m)
	}
}

// TestNewClassesCount: the more photos look new, the less is expected of the labels of all, and it does not
// depend on a condition that they show known classes.
func TestNewClassesCount(t *testing.T) {
	last := 1.0
	for _, fresh := range []int{0, 25, 50} {
		novelties := make([]float64, 100)
		for i := range novelties {
			novelties[i] = -1
			if i < fresh {
				novelties[i] = 1
			}
		}
		e := labelled(0.95, novelties...)
		truth := 0.95 * float64(100-fresh) / 100
		if *e.Low > truth || *e.High < truth || *e.Accuracy >= last || math.Abs(*e.Accuracy-truth) > 0.1 {
			t.Errorf("%d of 100 look new: %.3f, %.3f to %.3f, want %.3f", fresh, *e.Accuracy, *e.Low, *e.High, truth)
		}
		last = *e.Accuracy
	}
}

// TestTooFewToExpect: with few left-out photos nothing is expected, and the reason is said.
func TestTooFewToExpect(t *testing.T) {
	c := held(1)
	c.Samples = 19
	tally := account.NewTally(c, []string{"cat"})
	tally.Label(0, 0.9, 0, false)
	if e := tally.Account(account.Situation{Read: 1}).Expected; e.Accuracy != nil || e.Reason == "" {
		t.Errorf("%+v", e)
	}
}

// TestDoubts: what is expected wrong follows the labels that are left, within an interval that gets narrower.
func TestDoubts(t *testing.T) {
	noise := labelnoise.Noise{Share: 0.05, Low: 0.03, High: 0.08}
	all, rest := account.NewDoubts(noise), account.NewDoubts(noise)
	for i := range 1000 {
		p := 0.001
		if i < 65 {
			p = 0.95
		}
		all.Add(p)
		if i >= 51 { // the first ones are corrected
			rest.Add(p)
		}
	}
	for _, c := range []struct {
		found *account.Wrong
		want  float64
	}{{all.Wrong(), 65}, {rest.Wrong(), 14}} {
		if w := c.found; math.Abs(w.Expected-c.want) > 4 || w.Low > c.want || w.High < c.want || w.High > 2*c.want {
			t.Errorf("%+v, want about %g", w, c.want)
		}
	}
	if none := account.NewDoubts(noise); none.Wrong() != nil {
		t.Errorf("no labels: %+v", none.Wrong())
	}
}

// TestConfusions: a class is taken for the one as which it was named most often, also where it has few photos, and
// it is said how sure that is.
func TestConfusions(t *testing.T) {
	c := held(0.9)
	c.Confusions = []calibration.Confusion{{Class: "viola", As: "cello", Count: 2, Of: 7},
		{Class: "viola", As: "violin", Count: 3, Of: 7}, {Class: "drum", As: "gong", Count: 1, Of: 6}}
	a := account.NewTally(c, []string{"drum", "gong", "viola"}).Account(account.Situation{})
	want := "taken for another: viola for violin (3 of 7 left out; 9 to 82 %), " +
		"drum for gong (1 of 6 left out; 0 to 65 %)"
	if got := a.Confusion(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
