package pipeline

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/label"
)

// TestGivenLabels: where labels are judged, what a person decided once is, what was decided
// against or with another label is not.
func TestGivenLabels(t *testing.T) {
	for _, c := range []struct {
		d      label.Decision
		before string
		given  bool
	}{
		{label.Decision{By: label.Person, Class: "ant"}, "", true},
		{label.Decision{By: label.Person, Class: "ant"}, "cam1", true},
		{label.Decision{By: label.Person, Class: "ant"}, "bee", false},
		{label.Decision{By: label.Person, Class: "ant", Again: true}, "", false},
		{label.Decision{By: label.Person}, "", false},
		{label.Decision{By: label.Bulk, Class: "ant"}, "bee", true},
	} {
		if got := (&unjudged{known: []string{"ant", "bee"}}).given(c.d, c.before); got != c.given {
			t.Errorf("%+v in folder %q: %v", c.d, c.before, got)
		}
		if (&unjudged{}).given(c.d, c.before) {
			t.Errorf("%+v is given to rows that are not judged", c.d)
		}
	}
}
