package vargp

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// TestCount checks that count returns the mean of the examples that the classes
// of a session have by then.
func TestCount(t *testing.T) {
	rows := func(class string, n int) classifier.Group {
		return classifier.Group{Class: class, Rows: make([]int, n)}
	}
	f := fitted{classes: []string{"ant", "bee", "cat"}, counts: make([]int, 3)}
	for i, session := range []struct {
		groups []classifier.Group
		want   float64
	}{
		{[]classifier.Group{rows("ant", 300), rows("bee", 100)}, 200},
		{[]classifier.Group{rows("cat", 4)}, 4},
		{[]classifier.Group{rows("cat", 16)}, 20},
		{[]classifier.Group{rows("ant", 1)}, 301},
		{[]classifier.Group{rows("ant", 1), rows("cat", 1)}, 161.5},
	} {
		if got := f.count(session.groups); got != session.want {
			t.Errorf("session %d: %g, want %g", i+1, got, session.want)
		}
	}
	if f.richest != 301 {
		t.Errorf("the richest session has %g, want 301", f.richest)
	}
}
