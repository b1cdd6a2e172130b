package serve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A conversation is a dialog: the view in which it comes up, the keys and clicks that bring it
// up, and the photo or button that has the focus before. Then what Enter does in it.
type conversation struct {
	name, view string
	before     []string // selectors to click
	from       string   // what is clicked to open it, "" for what has the focus
	keys       []string // that open it then
	answer     []string // pressed in it before Enter
	asked      string   // of the server after Enter; %s is the class that is shown
	heading    string   // after Enter, "" for the one before
}

const field = "#naming input"

var oxAndCow = []string{"o", "x", "Shift+Enter", "c", "o", "w", "Shift+Enter"}

var conversations = []conversation{
	{name: "help", view: "check", from: "#help"},
	{name: "help by its key", view: "check", keys: []string{"?"}},
	{name: "history", view: "check", from: "#show-history"},
	{name: "history by its key", view: "check", keys: []string{"<"}},
	// Enter at once begins a check: accepting unchecked is the next button.
	{name: "accept many", view: "check", from: "#bulk", answer: []string{"Tab"}, asked: "accept 0"},
	{name: "accept many of a class", view: "class", from: "#lead-tools button:nth-child(3)", asked: "accept 0 %s"},
	{name: "forget", view: "check", before: []string{".tile .tick"}, from: "#forget"}, // the blue button is Cancel
	{name: "rename", view: "class", from: "#lead-tools button", answer: []string{"w", "a", "l", "l"},
		asked: "rename 0 %s wall", heading: "wall"},
	{name: "merge", view: "class", from: "#lead-tools button:nth-child(2)", answer: []string{"ArrowDown"},
		asked: "merge 0 %s", heading: "another"},
	{name: "a spelling", view: "check", keys: []string{"o", "t", "e", "r", "Enter"}, asked: "label 1 otter"},
	{name: "several things", view: "check", keys: []string{"&"}, answer: oxAndCow, asked: "several 1 ox+cow"},
	{name: "several things by its button", view: "check", from: "#several", answer: oxAndCow,
		asked: "several 1 ox+cow"},
	{name: "a photo", view: "check", keys: []string{"Alt+Enter"}, asked: "label 1 "},
}

// TestEveryDialog: Escape closes it and nothing has happened; Enter does what its blue button
// says, which can be undone. Then the heading, the counts and the focus are those of the new
// state. Letters and signs do nothing to the photos behind.
func TestEveryDialog(t *testing.T) {
	s, url := newStandIn(t, few, true)
	s.classes = append(s.classes, "otter")
	p := browse(t, url)
	for _, c := range conversations {
		c.begin(t, p, url)
		before := c.open(p)
		expectSafe(t, p, c.name)
		p.Press("Escape")
		p.Wait("!document.querySelector('dialog[open]') && " + settled)
		if c.name != "a spelling" { // whoever was typing goes on
			expectFocus(t, p, c.name+": after Escape", before)
		} else {
			p.Wait("document.activeElement.value === 'oter'")
		}
		quiet(t, p, c.name+": after Escape")

		c.begin(t, p, url)
		class := evaluate[string](p, "document.getElementById('heading').textContent")
		c.open(p)
		p.Press(c.answer...)
		p.Press("Enter")
		if c.asked == "" {
			p.Wait("!document.querySelector('dialog[open]')")
			quiet(t, p, c.name+": after Enter")
			continue
		}
		p.Wait("said !== '' && " + settled)
		want := strings.ReplaceAll(c.asked, "%s", class)
		if got := strings.Join(s.changed(), "; "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: the server was asked for %q, want %q", c.name, got, want)
		}
		p.Wait("!document.getElementById('undo').disabled")
		c.expectState(t, p, class)
		p.Eval("document.querySelectorAll('dialog').forEach((d) => d.close())", nil)
		p.Click("#undo")
		p.Wait(settled)
		s.changed()
		expectFocus(t, p, c.name+": after undo", "grid")
	}
}

func (c conversation) begin(t *testing.T, p *testenv.Page, url string) {
	t.Helper()
	fresh(p, url, views[slices.IndexFunc(views, func(v aspect) bool { return v.name == c.view })])
	p.Wait("document.activeElement.id === 'grid'")
	for _, selector := range c.before {
		p.Click(selector)
	}
}

// open opens the dialog, and returns what had the focus.
func (c conversation) open(p *testenv.Page) (before string) {
	before = "grid"
	if c.from != "" {
		p.Click(c.from)
		before = evaluate[string](p, fmt.Sprintf("document.querySelector(%q).id || 'its button'", c.from))
	}
	p.Press(c.keys...)
	p.Wait("document.querySelector('dialog[open]') && !document.querySelector('dialog[open] #ask-yes:disabled')")
	if strings.HasPrefix(c.name, "accept many") {
		p.Wait("document.getElementById('outlook').textContent !== ''")
	}
	return before
}

// expectSafe reports a dialog that has more than one blue button, or a blue one that does what
// cannot be undone.
func expectSafe(t *testing.T, p *testenv.Page, name string) {
	t.Helper()
	blue := evaluate[[]string](p, "Array.from(document.querySelectorAll('dialog[open] .primary'))"+
		".filter((b) => b.checkVisibility()).map((b) => b.textContent)")
	if len(blue) > 1 || slices.ContainsFunc(blue, func(b string) bool {
		return strings.Contains(b, "Forget") || strings.Contains(b, "Remove") || strings.Contains(b, "New class")
	}) {
		t.Errorf("%s: the blue buttons are %q", name, blue)
	}
}

// expectFocus compares what has the focus: the id of an element, or any button without one.
func expectFocus(t *testing.T, p *testenv.Page, what, want string) {
	t.Helper()
	got := evaluate[string](p, "document.activeElement.id || (document.activeElement.matches('button') ? "+
		"'its button' : document.activeElement.tagName)")
	if got != want {
		t.Errorf("%s: %s has the focus, not %s", what, got, want)
	}
}

// expectState compares heading, counts and focus with what holds now.
func (c conversation) expectState(t *testing.T, p *testenv.Page, class string) {
	t.Helper()
	heading := evaluate[string](p, "document.getElementById('heading').textContent")
	switch {
	case c.heading == "" && heading != class, c.heading == "wall" && heading != "wall",
		c.heading == "another" && heading == class:
		t.Errorf("%s: the heading is %q, and was %q", c.name, heading, class)
	}
	if c.view == "class" {
		if marked := evaluate[string](p,
			"document.querySelector('#class-list [aria-current=true]').dataset.name"); marked != heading {
			t.Errorf("%s: the list of classes marks %s under %s", c.name, marked, heading)
		}
		if got := evaluate[[]string](p, "[document.querySelector('#class-list [aria-current=true] small')"+
			".textContent, document.querySelector('.tile').getAttribute('aria-setsize')]"); got[0] != got[1] {
			t.Errorf("%s: the class has %s photos, of which %s are shown", c.name, got[0], got[1])
		}
	}
	if old := evaluate[int](p, "document.getElementById('heading').textContent !== 'To check' ? 0 : "+
		"Array.from(document.querySelectorAll('.tile')).filter((t) => t.photo.label).length"); old > 0 {
		t.Errorf("%s: %d photos to check are decided", c.name, old)
	}
	where := "grid"
	if c.name == "a photo" {
		where = "photo"
	}
	expectFocus(t, p, c.name+": after Enter", where)
}

// TestMergeNeedsAClass: Enter in a question that nobody has answered merges nothing.
func TestMergeNeedsAClass(t *testing.T) {
	_, url := newStandIn(t, few, true)
	p := browse(t, url)
	fresh(p, url, views[3])
	p.Click("#lead-tools button:nth-child(2)")
	p.Wait("document.getElementById('into')?.checkVisibility()")
	p.Press("Enter")
	quiet(t, p, "merge", "ask")
}

// TestRenameToAnotherClass: asks whether the two are to be one.
func TestRenameToAnotherClass(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	fresh(p, url, views[3])
	one, other := s.classes[0], s.classes[1]
	p.Click("#lead-tools button")
	p.Press(strings.Split(other+"s", "")...)
	p.Press("Enter")
	p.Wait("document.getElementById('ask-title').textContent === 'Which class is meant?'")
	p.Press("Enter")
	p.Wait("document.getElementById('ask-title').textContent === 'Merge'")
	quiet(t, p, "before that is confirmed", "ask")
	p.Press("Enter")
	expectChange(t, p, s, "merge", "merge 0 "+one+" "+other)
}

// TestSpellings: names that are probably the same, and names that are not.
func TestSpellings(t *testing.T) {
	_, url := newStandIn(t, 10, true)
	p := browse(t, url)
	const known = `["banana", "Red fox", "otter", "cat", "size 38", "Äpfel", "cherry", "box", "Glas"]`
	for name, want := range map[string]string{
		"Bananas": "banana", "BANANA": "banana", "bannana": "banana", "banaan": "banana", "bnaana": "banana",
		"red-fox": "Red fox", "redfox": "Red fox", "Red foxes": "Red fox", "Rad fox": "", "oter": "otter",
		"ottre": "otter", "cats": "cat", "bat": "", "Apfel": "Äpfel", "cherries": "cherry", "boxes": "box",
		"size 39": "", "Galss": "Glas", "fox": "", "ot": "", "banana": "", "…": "", "": "",
	} {
		if got := evaluate[string](p, fmt.Sprintf(
			"import('./near.js').then(({nearest}) => nearest(%q, %s) ?? '')", name, known)); got != want {
			t.Errorf("%q may be %q, want %q", name, got, want)
		}
	}
}

// TestSpellingIsAsked: in the field of the bar, of a large photo and of a group: the class that
// there is, a new one, or neither.
func TestSpellingIsAsked(t *testing.T) {
	s, url := newStandIn(t, few, true)
	s.classes = append(s.classes, "otter")
	p := browse(t, url)
	for _, place := range []struct {
		view     aspect
		selector string
	}{{views[0], field}, {dialogs[0], "#photo-naming input"}, {views[1], ".group .naming input"}} {
		for _, c := range []struct {
			keys []string
			want string
		}{{[]string{"Enter"}, "otter"}, {[]string{"Tab", "Enter"}, "Otters"}} {
			fresh(p, url, views[0])
			place.view.show(p)
			p.Click(place.selector)
			p.Press("O", "t", "t", "e", "r", "s", "Shift+Enter")
			p.Wait("document.getElementById('ask').open")
			p.Press(c.keys...)
			p.Wait("said !== '' && " + settled)
			if got := s.changed(); len(got) != 1 || !strings.HasSuffix(got[0], " "+c.want) {
				t.Errorf("%s, %q: the server was asked for %q", place.selector, c.keys, got)
			}
			p.Press("Escape")
			p.Wait("!document.getElementById('undo').disabled")
			p.Click("#undo")
			p.Wait(settled)
			s.changed()
		}
	}
}
