package serve_test

import (
	"strings"
	"testing"
)

// TestOpensWhereWorkIs: where every photo has a label by its folder the page opens on those that look wrong, or on the
// classes if none does, and says what is known of the labels.
func TestOpensWhereWorkIs(t *testing.T) {
	for _, wrong := range []bool{true, false} {
		s, url := newStandIn(t, 60, true)
		s.found = []string{"expect about 88 % of photos like these to be named correctly (from 40 left-out images)",
			"confused most: fox named dog (3 of 9)"}
		for i, one := range s.photos {
			one.by, one.label = "folder", s.predicted(one)
			if wrong && i%20 == 0 {
				one.label = s.classes[(s.best(one)+1)%len(s.classes)]
			}
		}
		p := browse(t, url)
		p.Wait(settled)
		want := map[bool]string{true: "Maybe mislabelled", false: s.classes[0]}[wrong]
		if got := evaluate[string](p, "document.getElementById('heading').textContent"); got != want {
			t.Errorf("the page opens on %q, want %q", got, want)
		}
		const found = "Array.from(document.querySelectorAll('#found li'), (e) => e.textContent).join(' · ')"
		if got := evaluate[string](p, found); !strings.EqualFold(got, strings.Join(s.found, " · ")) {
			t.Errorf("the page says of the labels: %q", got)
		}
	}
}
