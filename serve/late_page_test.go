package serve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A gesture decides about the photo that is shown.
type gesture struct {
	name  string
	view  aspect
	large bool
	make  func(*testenv.Page)
	want  func(seen) string // what the server is to be asked for
}

// seen is what a person sees of a photo.
type seen struct{ ID, Label, Rather, First, Second string }

const seenNow = `(({id, label, rather, prediction: [first, second]}) =>
	({ID: id, Label: label, Rather: rather, First: first?.class, Second: second?.class}))(` + current + `)`

func keys(all ...string) func(*testenv.Page) { return func(p *testenv.Page) { p.Press(all...) } }

func clicks(selector string) func(*testenv.Page) { return func(p *testenv.Page) { p.Click(selector) } }

var (
	likeliest = func(o seen) string { return "label " + o.First + " " + o.ID }
	kept      = func(o seen) string { return "label " + o.Label + " " + o.ID }
	changed   = func(o seen) string { return "label " + o.Rather + " " + o.ID }
	called    = func(what string) func(seen) string { return func(o seen) string { return what + " " + o.ID } }
)

func gestures() []gesture {
	check, suspicious := views[0], views[2]
	return []gesture{
		{"Enter", check, false, keys("Enter"), likeliest},
		{"2", check, false, keys("2"), func(o seen) string { return "label " + o.Second + " " + o.ID }},
		{"a name", check, false, keys("o", "x", "Shift+Enter"), called("label ox")},
		{"later", check, false, keys("."), called("skip ")},
		{"not usable", check, false, keys("-"), called("ignore ")},
		{"several", check, false, keys("&", "o", "x", "Shift+Enter", "e", "m", "u", "Shift+Enter", "Enter"),
			called("several ox+emu")},
		{"Accept", check, false, clicks("#accept"), likeliest},
		{"Later", check, false, clicks("#later"), called("skip ")},
		{"Not usable", check, false, clicks("#unusable"), called("ignore ")},
		{"0", suspicious, false, keys("0"), kept},
		{"1", suspicious, false, keys("1"), changed},
		{"Keep", suspicious, false, clicks("#keep"), kept},
		{"Change", suspicious, false, clicks("#change"), changed},
		{"Delete", suspicious, false, keys("Delete"), called("unlabel ")},
		{"Enter, large", check, true, keys("Enter"), likeliest},
		{"a name, large", check, true, keys("o", "x", "Shift+Enter"), called("label ox")},
		{"a suggestion, large", check, true, clicks("#photo-top button"), likeliest},
		{"Not usable, large", check, true, clicks("#photo-unusable"), called("ignore ")},
	}
}

// TestLateAnswers: while the server has answered nothing, and the list is being refreshed or not, every key and
// click decides about the photo that was shown when it was made, in that order, once; and every undo undoes one.
func TestLateAnswers(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	before := s.state("")
	for _, g := range gestures() {
		for _, refreshed := range []bool{false, true} {
			fresh(p, url, g.view)
			if g.large {
				dialogs[0].show(p)
			}
			var held <-chan struct{}
			if refreshed {
				held = s.reorders()
				<-held
			}
			const n = 4
			release := s.waits()
			var want []string
			for range n {
				want = append(want, g.want(evaluate[seen](p, seenNow)))
				g.make(p)
			}
			if refreshed {
				<-held
			}
			release()
			p.Wait(settled)
			if got := s.takeDecided(); !slices.Equal(got, want) {
				t.Errorf("%s, refreshed: %t: the server was asked for\n%s, want\n%s", g.name, refreshed,
					strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			p.Eval("document.getElementById('photo').close()", nil)
			if refreshed {
				s.mu.Lock()
				s.restore(before)
				s.mu.Unlock()
				continue
			}
			release = s.waits()
			for range n {
				p.Press("Control+z")
			}
			release()
			p.Wait(settled)
			if got := s.state(""); fmt.Sprint(got.labels) != fmt.Sprint(before.labels) {
				t.Fatalf("%s: %d times undone, photos have other labels than before", g.name, n)
			}
		}
	}
}

// TestLateAnswersToGroups: a group that is decided has gone, so the next click is about another one.
func TestLateAnswersToGroups(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	fresh(p, url, duplicatesView)
	release := s.waits()
	for range 3 {
		p.Click(".captioned li:nth-child(2) > button:last-child")
	}
	p.Click(".captioned input")
	p.Press("o", "x", "Shift+Enter")
	release()
	p.Wait(settled)
	var want []string
	for at := 0; at < 21; at += 7 {
		want = append(want, fmt.Sprintf("ignore  %s %s", s.photos[at].id, s.photos[at+2].id))
	}
	want = append(want, fmt.Sprintf("label ox %s %s %s", s.photos[21].id, s.photos[22].id, s.photos[23].id))
	if got := s.takeDecided(); !slices.Equal(got, want) {
		t.Errorf("the server was asked for\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRefusedBehindOthers: a decision that is refused while others wait is shown as such until it was read, its photo
// comes back without moving the current one, and no undo takes back another one instead.
func TestRefusedBehindOthers(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	fresh(p, url, views[0])
	release := s.waits()
	refused := evaluate[seen](p, seenNow).ID
	s.mu.Lock()
	s.refused = []string{refused}
	s.mu.Unlock()
	p.Press("Enter", "Control+z", "Enter")
	now := evaluate[seen](p, seenNow).ID
	release()
	p.Wait(settled + " && document.getElementById('" + "p-" + refused + "')")
	if got := s.takeDecided(); len(got) != 1 || strings.Contains(got[0], refused) {
		t.Errorf("the server was asked for %q", got)
	}
	if after := evaluate[seen](p, seenNow).ID; after != now {
		t.Error("the current photo is another one")
	}
	bad := evaluate[[]string](p, "Array.from(document.querySelectorAll('#said .bad'), (p) => p.textContent)")
	want := []string{"the photo is gone", "Nothing was taken back: the change before it was refused."}
	if !slices.Equal(bad, want) {
		t.Errorf("the page says %q, want %q", bad, want)
	}
}

// TestHeldButton: what is under a button that is being pressed stays until it is released, whatever has come meanwhile.
func TestHeldButton(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	fresh(p, url, views[0])
	dialogs[0].show(p)
	shown := evaluate[seen](p, seenNow)
	p.Eval("window.button = document.querySelector('#photo-top button'); "+
		"button.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}))", nil)
	held := s.reorders()
	<-held
	release := s.waits()
	<-held
	p.Eval("fetch('v1/status').then((r) => r.json())", nil) // the answer before has arrived
	p.Eval("button.dispatchEvent(new PointerEvent('pointerup', {bubbles: true})); button.click()", nil)
	release()
	p.Wait(settled)
	if got := s.takeDecided(); !slices.Equal(got, []string{likeliest(shown)}) {
		t.Errorf("the server was asked for %q, want %q", got, likeliest(shown))
	}
}
