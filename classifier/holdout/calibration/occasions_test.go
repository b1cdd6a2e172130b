package calibration

import (
	"context"
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// daily returns a session with the times of its photos: each burst of so many is of a day of
// its own, or all are of one day.
func daily(s episodes.Episode, photos int, one bool) episodes.Episode {
	for i := range s.Y {
		day := int64(i / photos)
		if one {
			day = 0
		}
		s.Taken = append(s.Taken, holdout.Taken{Camera: 7, Unix: 1e9 + 86400*day + int64(i%photos)})
	}
	return s
}

// The photos of a burst differ so much that only their times tell. Times are believed in
// large classes, where similarity tells nothing, and in small ones.
func TestOccasionsAreHeldOutTogether(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name           string
		bursts, photos int
		within         float64
	}{{"large classes", 6, 6, 0.4}, {"small classes", 4, 4, 4}} {
		w := newWorld(21, 40, 6)
		learned, other := w.bursts(30, c.bursts, c.photos, c.within), w.bursts(30, 40, 1, 0)
		elsewhere := accuracyOf(t, taught(t, learned), other)
		_, without := must.Get2(Fit(ctx, Task{Sessions: []episodes.Episode{learned}, Fresh: fresh}))(t)
		_, with, err := Fit(ctx, Task{Sessions: []episodes.Episode{daily(learned, c.photos, false)}, Fresh: fresh})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s, like these %.3f; another occasion without times %.3f, with %.3f, in truth %.3f", c.name,
			with.Source, with.Accuracy, without.Elsewhere, with.Elsewhere, elsewhere)
		if with.Accuracy != without.Accuracy || with.Once {
			t.Errorf("%s: like these %.3f, with times %.3f", c.name, without.Accuracy, with.Accuracy)
		}
		if off := with.Accuracy - elsewhere; with.Elsewhere == 0 || math.Abs(with.Elsewhere-elsewhere) > 0.3*off {
			t.Errorf("%s: of another occasion %.3f, in truth %.3f", c.name, with.Elsewhere, elsewhere)
		}
		_, once, err := Fit(ctx, Task{Sessions: []episodes.Episode{daily(learned, c.photos, true)}, Fresh: fresh})
		if err != nil {
			t.Fatal(err)
		}
		if !once.Once || once.Elsewhere != without.Elsewhere || once.Accuracy != without.Accuracy {
			t.Errorf("%s, all of one day: %+v", c.name, once)
		}
	}
}
