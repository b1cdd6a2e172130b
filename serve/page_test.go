package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testenv"
)

// views are the selectors of the page's views and what is there when they have
// come up.
var views = []struct{ name, there string }{
	{"check", "document.querySelectorAll('.tile').length > 5"},
	{"unknown", "document.querySelectorAll('.group').length > 0"},
	{"suspicious", "document.querySelectorAll('.tile').length > 5 && document.getElementById('heading').textContent === 'Maybe mislabelled'"},
	{"class", "document.querySelectorAll('#class-list button').length > 5 && document.getElementById('heading').textContent === document.querySelector('.tile .what')?.textContent && document.querySelectorAll('.tile').length > 3"},
}

func browse(t *testing.T, url string) *testenv.Page {
	t.Helper()
	p := testenv.Open(t, url)
	p.View(1280, 800, false)
	p.Wait("document.querySelectorAll('.tile').length > 0")
	return p
}

func evaluate[T any](p *testenv.Page, expression string) (out T) {
	p.Eval(expression, &out)
	return out
}

// TestAppearance: in every view, wide and narrow, light and dark, axe-core finds
// nothing serious and nothing is wider than the screen. With PAGE_SHOTS set to a
// folder it writes screenshots.
func TestAppearance(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	_, url := newStandIn(t, 158, true)
	p := browse(t, url)
	axe := testenv.Axe(t)
	shots := os.Getenv("PAGE_SHOTS")
	for _, width := range []int{1280, 390} {
		for _, dark := range []bool{false, true} {
			p.View(width, 844, dark)
			for _, view := range append(views, struct{ name, there string }{"photo", "document.getElementById('photo-picture').naturalWidth > 0"}) {
				if view.name == "photo" {
					p.Eval("document.querySelector('.tile').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))", nil)
				} else {
					p.Eval(fmt.Sprintf("document.querySelector('[data-view=%s]').click()", view.name), nil)
				}
				p.Wait(view.there)
				p.Wait("Array.from(document.images).every((i) => i.complete)")
				name := fmt.Sprintf("%s-%d-%t", view.name, width, dark)
				if shots != "" {
					write(t, filepath.Join(shots, name+".png"), p.Screenshot())
				}
				if dark == (width > 1000) { // axe takes seconds: two of the four appearances
					continue
				}
				p.Eval(axe, nil)
				found := evaluate[[]string](p, `axe.run().then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 150))))`)
				if len(found) > 0 {
					t.Errorf("%s:\n%s", name, strings.Join(found[:min(5, len(found))], "\n"))
				}
				if over := evaluate[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("%s is %d pixels too wide", name, over)
				}
			}
			p.Eval("document.getElementById('photo').close()", nil)
		}
	}
}

// TestKeys: what a person does with the keyboard alone, and what the server is
// asked for.
func TestKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	first := func() string { return evaluate[string](p, "document.querySelector('.tile.current').id") }
	expect := func(what string, want ...string) {
		t.Helper()
		p.Wait("document.getElementById('said').textContent !== ''")
		if got := s.changed(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the server was asked for %q, want %q", what, got, want)
		}
		p.Eval("document.getElementById('said').replaceChildren()", nil)
	}
	before := first()
	suggestion := evaluate[string](p, "document.querySelector('.tile.current').photo.prediction[0].class")
	second := evaluate[string](p, "document.querySelectorAll('.tile')[1].photo.prediction[1].class")
	p.Press("Enter")
	expect("accept", "label 1 "+suggestion)
	p.Wait(fmt.Sprintf("document.querySelector('.tile.current') && document.querySelector('.tile.current').id !== %q", before))
	p.Press("2")
	expect("second suggestion", "label 1 "+second)
	p.Press("u")
	expect("undo", "undo 0")
	p.Press("r")
	expect("redo", "redo 0")
	p.Press("Shift+ArrowRight", "Shift+ArrowRight", "o", "t", "t", "e", "r", "Enter")
	expect("a new class for three", "label 3 otter")
	p.Press("o", "t", "Enter")
	expect("completion", "label 1 otter")
	p.Press("?")
	p.Wait("document.getElementById('keys').open")
	p.Press("Escape", "Enter")
	if got := s.changed(); len(got) != 0 && evaluate[bool](p, "document.getElementById('keys').open") {
		t.Errorf("a key in the help did %q", got)
	}
}

// TestUnknownGroupIsNamedAsOne: without the photo that was clicked away.
func TestUnknownGroupIsNamedAsOne(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	p.Click("[data-view=unknown]")
	p.Wait("document.querySelectorAll('.group').length > 0")
	size := evaluate[int](p, "parseInt(document.querySelector('.group h3').textContent)")
	p.Click(".group .member")
	p.Click(".group input")
	p.Press("k", "i", "w", "i", "Enter")
	p.Wait("document.getElementById('said').textContent !== ''")
	if got, want := fmt.Sprint(s.changed()), fmt.Sprintf("[label %d kiwi]", size-1); got != want {
		t.Errorf("the server was asked for %s, want %s", got, want)
	}
}

// TestManyPhotos: of 20 000 photos only those in sight are in the document, and
// the last one can be reached.
func TestManyPhotos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	_, url := newStandIn(t, 20_000, true)
	p := browse(t, url)
	p.Press("End")
	p.Wait("document.querySelector('.tile.current') && document.querySelector('.tile.current').getAttribute('aria-posinset') === document.querySelector('.tile')?.getAttribute('aria-setsize')")
	if n := evaluate[int](p, "document.querySelectorAll('.tile').length"); n > 100 {
		t.Errorf("%d tiles are in the document", n)
	}
}
