package serve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// blue returns the texts of the primary buttons that can be seen and pressed.
func blue(p *testenv.Page) []string {
	return evaluate[[]string](p,
		"Array.from(document.querySelectorAll('.primary')).filter((b) => b.checkVisibility() && !b.disabled && "+
			"(!document.querySelector('dialog[open]') || b.closest('dialog[open]'))).map((b) => b.textContent)")
}

const current = "document.querySelector('.tile.current').photo"

// TestDoubtedLabels: a label in doubt has no primary button and no Enter, on the photos and
// on one that is seen large. Each of the two answers has a button and a key.
func TestDoubtedLabels(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	keep := func() string { return "label 1 " + evaluate[string](p, current+".label") }
	change := func() string { return "label 1 " + evaluate[string](p, current+".rather") }
	for _, place := range []struct{ name, keep, change string }{
		{"the photos", "#keep", "#change"},
		{"a large photo", "#photo-keep", "#photo-top button"},
	} {
		for _, answer := range []struct {
			name  string
			give  func()
			asked func() string
		}{
			{"0", func() { p.Press("0") }, keep},
			{"1", func() { p.Press("1") }, change},
			{place.keep, func() { p.Click(place.keep) }, keep},
			{place.change, func() { p.Click(place.change) }, change},
		} {
			fresh(p, url, views[2])
			if place.name == "a large photo" {
				dialogs[0].show(p)
			}
			if got := blue(p); len(got) > 0 {
				t.Errorf("%s: the primary buttons are %q", place.name, got)
			}
			p.Press("Enter")
			p.Wait("said.includes('is in doubt: 0 keeps it, 1 takes the first suggestion.')")
			want := answer.asked()
			if got := s.changed(); len(got) > 0 {
				t.Errorf("%s: Enter asked the server for %q", place.name, got)
			}
			p.Eval("said = ''", nil)
			answer.give()
			expectChange(t, p, s, place.name+": "+answer.name, want)
		}
	}
}

// TestManyDoubtedLabels: of several labels in doubt each is kept, or becomes what it should
// rather be.
func TestManyDoubtedLabels(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	for _, c := range [][2]string{{"#keep", "label"}, {"#change", "rather"}} {
		button, class := c[0], c[1]
		fresh(p, url, views[2])
		p.Press("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight")
		p.Wait("document.querySelectorAll('.tile[aria-selected=true]').length === 4")
		p.Press("Enter")
		p.Wait("said.includes('4 labels are in doubt: 0 keeps them')")
		wants := evaluate[[]string](p,
			fmt.Sprintf("Array.from(document.querySelectorAll('.tile[aria-selected=true]'), (t) => t.photo.%s)", class))
		p.Click(button)
		p.Wait(settled)
		asked := s.changed()
		for _, name := range slices.Compact(slices.Sorted(slices.Values(wants))) {
			n := len(slices.DeleteFunc(slices.Clone(wants), func(other string) bool { return other != name }))
			if want := fmt.Sprintf("label %d %s", n, name); !slices.Contains(asked, want) {
				t.Errorf("%s asked the server for %q, not for %q", button, asked, want)
			}
		}
	}
}

// TestUnknownIsNotAccepted: what looks like none of the classes has no primary button that
// gives it one, and no Enter.
func TestUnknownIsNotAccepted(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	group := aspect{"group", "document.querySelector('.group .row > button').click()",
		"document.getElementById('heading').textContent === 'A group of unknown photos' && " +
			"document.querySelectorAll('.tile').length > 1"}
	for _, keys := range [][]string{{}, {"Control+a"}, {"Alt+Enter"}} {
		fresh(p, url, views[1])
		group.show(p)
		p.Click(".tile")
		p.Press(keys...)
		if got := blue(p); len(got) > 0 {
			t.Errorf("after %q the primary buttons are %q", keys, got)
		}
		p.Press("Enter")
		p.Wait("said.includes('looks like none of the classes')")
		if got := s.changed(); len(got) > 0 {
			t.Errorf("after %q Enter asked the server for %q", keys, got)
		}
	}
	suggestion := evaluate[string](p, current+".prediction[0].class")
	p.Eval("said = ''", nil)
	p.Press("1")
	expectChange(t, p, s, "a suggestion", "label 1 "+suggestion)
}

// TestForgettingIsNotPrimary: of the question whether to forget, which cannot be undone,
// the primary button is the one that does nothing; of that whether to accept many, which nobody
// has checked, it is the one that checks, and where too few are left to check the one that acts.
func TestForgettingIsNotPrimary(t *testing.T) {
	_, url := newStandIn(t, 158, true)
	p := browse(t, url)
	few := aspect{"bulk of a class",
		"document.querySelector('#lead-tools button:nth-child(3)').click()", dialogs[4].there}
	for _, c := range []struct {
		dialog aspect
		want   string
	}{
		{dialogs[3], "Cancel"}, {dialogs[4], "Check 20 of them first"}, {few, "Accept"},
	} {
		if c.dialog.name == few.name {
			views[3].show(p)
		}
		c.dialog.show(p)
		p.Wait("!document.getElementById('ask-yes').disabled")
		if got := strings.Join(blue(p), ", "); got != c.want {
			t.Errorf("%s: the primary buttons are %s, want %s", c.dialog.name, got, c.want)
		}
	}
}
