package calibration

import (
	"fmt"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
)

// TestVeryManyAreAskedEvenly: all examples are left out, and with thousands of classes some of
// them, of as many classes as possible, are asked about.
func TestVeryManyAreAskedEvenly(t *testing.T) {
	for _, c := range []struct{ classes, asked int }{{500, 1500}, {1000, 3000}, {2000, 3000}, {4000, 2000}} {
		var session episodes.Episode
		var classes []episodes.Class
		for i := range c.classes {
			class := episodes.Class{Name: fmt.Sprint(i)}
			for range 3 {
				class.Examples = append(class.Examples, episodes.Place{Row: len(session.Y)})
				session.Y = append(session.Y, class.Name)
			}
			classes = append(classes, class)
		}
		task, alone := Task{Sessions: []episodes.Episode{session}}, make([][]int, c.classes)
		for i := range alone {
			alone[i] = holdout.Alone(3)
		}
		d := task.deal(classes, alone, holdout.Folds(alone, Folds, false), Folds)
		asked := 0
		for i, ok := range d.asked[0] {
			if d.held[0][i] < 0 {
				t.Errorf("%d classes: example %d is not left out", c.classes, i)
			}
			if ok {
				asked++
			}
		}
		if asked != c.asked || d.able != c.classes || len(d.of) != min(c.classes, asked) {
			t.Errorf("%d classes: %d examples of %d classes are asked about, %d are able", c.classes, asked, len(d.of),
				d.able)
		}
	}
}
