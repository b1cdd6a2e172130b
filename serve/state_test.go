package serve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestFirstPhotosEnd: with the second class the page shows what is to be checked, under its
// heading, and the keys are those of the photo that was in sight. Whoever is typing meanwhile goes on.
func TestFirstPhotosEnd(t *testing.T) {
	s, url := newStandIn(t, few, false)
	p := browse(t, url)
	const heading = "document.getElementById('heading').textContent"
	p.Wait("document.activeElement.id === 'grid' && " + settled)
	if got := evaluate[string](p, heading); got != "First photos" {
		t.Fatalf("without a model the page shows %q", got)
	}
	one := s.photos[0].truth
	other := s.photos[slices.IndexFunc(s.photos, func(p *shot) bool { return p.truth != one })].truth
	p.Press(append(strings.Split(one, ""), "Enter")...)
	expectChange(t, p, s, "the first class", "label 1 "+one)
	p.Wait(settled)
	answered := s.answersLate()
	p.Press(append(strings.Split(other, ""), "Enter")...)
	<-answered
	p.Press("x")
	p.Wait("said !== '' && " + settled)
	if got := evaluate[string](p, heading); got != "First photos" {
		t.Errorf("while somebody names one of the first photos the page goes to %q", got)
	}
	id := evaluate[string](p, "document.querySelector('.tile.current').photo.id")
	p.Press("Escape")
	p.Wait(heading + " === 'To check' && document.activeElement.id === 'grid' && " + settled)
	if got := evaluate[int](p, "Array.from(document.querySelectorAll('.tile'))"+
		".filter((t) => t.photo.label || t.photo.prediction.length === 0).length"); got > 0 {
		t.Errorf("of the photos to check %d are decided or have no prediction", got)
	}
	if now := evaluate[string](p, "document.querySelector('.tile.current').photo.id"); now != id {
		t.Error("the photo in sight is no longer the current one")
	}
}

// TestTypedWhileTheViewComes: the first photos stay until those to check are here, so a name that is typed meanwhile
// is that of the photo in sight, whole.
func TestTypedWhileTheViewComes(t *testing.T) {
	s, url := newStandIn(t, few, false)
	p := browse(t, url)
	const heading = "document.getElementById('heading').textContent"
	p.Wait("document.activeElement.id === 'grid' && " + settled)
	var names []string
	for _, photo := range s.photos {
		if !slices.Contains(names, photo.truth) {
			names = append(names, photo.truth)
		}
	}
	enter := func(name string) []string { return append(strings.Split(name, ""), "Enter") }
	p.Press(enter(names[0])...)
	expectChange(t, p, s, "the first class", "label 1 "+names[0])
	p.Wait(settled)
	answered := s.answersLate() // so that the list that is held is that to check
	p.Press(enter(names[1])...)
	held := s.holds()
	<-answered
	<-held
	expectChange(t, p, s, "the second class", "label 1 "+names[1])
	id := evaluate[string](p, "document.querySelector('.tile.current').photo.id")
	keys := enter(names[2])
	p.Press(keys[:2]...)
	<-held
	p.Press(keys[2 : len(keys)-1]...)
	p.Wait(settled)
	p.Press("Enter")
	expectChange(t, p, s, "typed meanwhile", "label 1 "+names[2])
	s.mu.Lock()
	got := s.find(id).label
	s.mu.Unlock()
	if got != names[2] {
		t.Errorf("the photo that was in sight is %q, want %q", got, names[2])
	}
	p.Wait(heading + " === 'To check' && document.activeElement.id === 'grid' && " + settled)
}

// TestListBecomesShort: at the end of a list of which undo leaves a few, these are in sight.
func TestListBecomesShort(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	p.Wait("document.activeElement.id === 'grid' && " + settled)
	p.Press("Enter")
	p.Wait("said !== '' && " + settled)
	p.Press("End")
	p.Wait("document.getElementById('scroller').scrollTop > 0 && " + settled)
	s.mu.Lock()
	for _, photo := range s.photos[4:] {
		s.undo[0].labels[photo.id] = [2]string{s.classes[0], "folder"}
	}
	s.mu.Unlock()
	p.Press("Control+z")
	p.Wait(settled + " && said.includes('Undone')")
	if n := evaluate[int](p, "document.querySelectorAll('.tile').length"); n < 1 || n > 5 {
		t.Errorf("%d photos are shown", n)
	}
	if !evaluate[bool](p, "document.querySelector('.tile.current') !== null") {
		t.Error("no photo is the current one")
	}
}

// TestFocusIsNeverLost: no button that hides or disables itself leaves the keys to nobody.
func TestFocusIsNeverLost(t *testing.T) {
	_, url := newStandIn(t, few, true)
	p := browse(t, url)
	fresh(p, url, views[0])
	for _, id := range []string{"everything", "nothing", "later", "undo", "redo", "unusable", "accept", "save"} {
		p.Click("#" + id)
		p.Wait(settled)
		expectFocus(t, p, id, "grid")
	}
	p.Click("#like")
	p.Wait("document.getElementById('heading').textContent === 'Similar photos' && " + settled)
	p.Click("#lead-tools button")
	p.Wait("document.getElementById('heading').textContent === 'To check' && " + settled)
	expectFocus(t, p, "Back", "grid")
}

// TestRemovedLabelIsSeen: a photo without its label is in doubt no more, and a class no longer
// shows it as decided.
func TestRemovedLabelIsSeen(t *testing.T) {
	_, url := newStandIn(t, 158, true)
	p := browse(t, url)
	fresh(p, url, views[2])
	id := evaluate[string](p, "document.querySelector('.tile.current').id")
	p.Press("Delete")
	p.Wait(fmt.Sprintf("!document.getElementById(%q) && %s", id, settled))
	fresh(p, url, views[3])
	p.Eval("Array.from(document.querySelectorAll('.tile')).find((t) => t.photo.label).click()", nil)
	p.Wait("document.querySelector('.tile.current').photo.label && " + settled)
	id = evaluate[string](p, "document.querySelector('.tile.current').id")
	p.Press("Delete")
	p.Wait(fmt.Sprintf("!document.getElementById(%q)?.photo.label && %s", id, settled))
}

// TestClassThatIsGone: a class that another browser renames is not shown under its old name.
func TestClassThatIsGone(t *testing.T) {
	_, url := newStandIn(t, few, true)
	one, other := browse(t, url), browse(t, url)
	fresh(one, url, views[3])
	fresh(other, url, views[3])
	one.Click("#lead-tools button")
	one.Press("w", "a", "l", "l", "Enter")
	other.Wait("document.querySelector('#class-list [data-name=wall]') && " + settled)
	if got := evaluate[[]string](other, "[document.getElementById('heading').textContent, "+
		"document.querySelector('#class-list [aria-current=true]').dataset.name]"); got[0] != got[1] {
		t.Errorf("the heading is %s, the class that is marked %s", got[0], got[1])
	}
}

// adviceShown returns the advice of the page, and which of its buttons are there.
func adviceShown(p *testenv.Page) []string {
	return evaluate[[]string](p, "[document.getElementById('advice').textContent, "+
		"...['follow', 'dismiss'].filter((id) => !document.getElementById(id).hidden)]")
}

// TestAdviceEnds: where it leads to, and for good when it is dismissed; other advice is shown.
func TestAdviceEnds(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	fresh(p, url, views[0])
	s.advises("unknown", "")
	p.Wait("!document.getElementById('follow').hidden")
	const text = "30 photos look like none of the classes: name their groups."
	want := []string{text, "follow", "dismiss"}
	gone := []string{""}
	expect := func(when string, want []string) {
		t.Helper()
		if got := adviceShown(p); !slices.Equal(got, want) {
			t.Errorf("%s the advice is %q, want %q", when, got, want)
		}
	}
	expect("at first", want)
	p.Click("#follow")
	p.Wait(views[1].there + " && " + settled)
	expect("where it leads to", gone)
	views[0].show(p)
	p.Wait(settled)
	expect("in another view", want)
	p.Click("#dismiss")
	expect("dismissed", gone)
	fresh(p, url, views[0])
	expect("when the page is loaded again", gone)

	s.advises("more", s.classes[0])
	p.Wait("!document.getElementById('follow').hidden")
	p.Click("#follow")
	p.Wait("document.getElementById('heading').textContent === 'Similar photos' && " + settled)
	expect("among more photos of a class", gone)
	p.Press("Escape")
	p.Wait("document.getElementById('heading').textContent === 'To check' && " + settled)
	expect("after that", []string{"Name more.", "follow", "dismiss"})
	p.Click("#dismiss")
	s.advises("more", s.classes[1])
	p.Wait("!document.getElementById('follow').hidden")
	expect("about another class", []string{"Name more.", "follow", "dismiss"})
}
