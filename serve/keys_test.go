package serve_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// typed are names with letters that stand for commands elsewhere, such as u for undo; signs
// are keys that are commands where nothing is typed.
var (
	typed = []string{"raccoon", "unknown", "quail", "zebra", "yak", "Uakari", "Redstart", "über"}
	signs = []string{"0", "1", "5", "+", ".", "-", "&", "<", "?", "Delete", "Backspace", "Shift+Delete", "Control+z",
		"Control+y", "Shift+Control+Z", "Control+a", "Home", "End"}
)

const settled = "document.getElementById('stage').getAttribute('aria-busy') === 'false'"

// quiet waits for whatever keys have begun and reports what the page has asked the server
// to change, which should be nothing, and dialogs that are open, which should be those given.
func quiet(t *testing.T, p *testenv.Page, what string, open ...string) {
	t.Helper()
	if !slices.Contains(open, "ask") && !slices.Contains(open, "several-things") { // open until they are answered
		p.Wait(settled)
	}
	if got := evaluate[[]string](p, "posted.splice(0)"); len(got) > 0 {
		t.Errorf("%s: the server was asked for %q", what, got)
	}
	if got := evaluate[[]string](p,
		"Array.from(document.querySelectorAll('dialog[open]'), (d) => d.id)"); !slices.Equal(got, open) {
		t.Errorf("%s: the dialogs %q are open, want %q", what, got, open)
	}
}

// fresh opens the page in a view whose photos have the keys. Its window.posted has every
// change that it asks the server for.
func fresh(p *testenv.Page, url string, view aspect) {
	p.Go(url)
	p.Wait("document.activeElement.id === 'grid' && document.querySelectorAll('.tile').length > 0 && " + settled)
	p.Eval(view.open, nil)
	p.Wait(view.there + " && " + settled)
	p.Eval(`window.said = ""; window.posted = [];
		new MutationObserver(() => { said += document.getElementById("said").textContent; }).observe(document.getElementById("said"), {childList: true});
		window.fetch = ((ask) => (to, how) => { if (how?.method === "POST") { posted.push(String(to)); } return ask(to, how); })(window.fetch)`, nil)
}

// TestEveryKey: every key that the help names does what it says, on the photos and, where
// that is another place, on one that is seen large.
func TestEveryKey(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	at := func(n int) string {
		return fmt.Sprintf("document.querySelector('.tile.current').getAttribute('aria-posinset') === '%d'", n)
	}
	last := "document.querySelector('.tile.current')?.getAttribute('aria-posinset') === " +
		"document.querySelector('.tile.current')?.getAttribute('aria-setsize')"
	picked := func(n int) string {
		return fmt.Sprintf("document.querySelectorAll('.tile[aria-selected=true]').length === %d", n)
	}
	inField := "document.activeElement.matches('#naming input') && document.activeElement.value === '%s'"
	cases := []struct {
		row   string
		keys  []string
		asked string // of the server, in words of which %s is a suggestion
		there string // that is true in the end
	}{
		{"Arrow keys", []string{"ArrowRight", "ArrowRight", "ArrowLeft"}, "", at(2)},
		{"Arrow keys", []string{"ArrowDown", "ArrowRight", "ArrowUp"}, "", at(2)},
		{"Arrow keys", []string{"Shift+ArrowRight", "Shift+ArrowRight"}, "", picked(3)},
		{"Page Up, Page Down, Home, End", []string{"End"}, "", last},
		{"Page Up, Page Down, Home, End", []string{"PageDown", "ArrowRight", "PageUp"}, "", at(2)},
		{"Page Up, Page Down, Home, End", []string{"End", "Home"}, "", at(1)},
		{"Enter", []string{"Enter"}, "label 1 %s", ""},
		{"1 … 5", []string{"1"}, "label 1 %s", ""},
		{"1 … 5", []string{"9"}, "", "window.said.includes('There is no suggestion 9')"},
		{"Letters", []string{"o", "t", "t", "e", "r", "Enter"}, "label 1 otter", ""},
		{"Letters", []string{"o", "t", "Shift+Enter"}, "label 1 ot", ""},
		{"Tab", []string{"Tab", "3", "M"}, "", fmt.Sprintf(inField, "3M")},
		{"Space", []string{" "}, "", picked(1)},
		{"Space", []string{" ", " "}, "", picked(0)},
		{"Ctrl+A", []string{"Control+a"}, "", "parseInt(document.getElementById('chosen').textContent) > 100"},
		{"+", []string{"+"}, "", "document.getElementById('heading').textContent === 'Similar photos'"},
		{".", []string{"."}, "skip 1", ""},
		{"-", []string{"-"}, "ignore 1", ""},
		{"&", []string{"&"}, "", "document.getElementById('several-things').open"},
		{"Alt+Enter", []string{"Alt+Enter"}, "", "document.getElementById('photo').open"},
		{"Shift+Delete", []string{"Shift+Delete"}, "",
			"document.getElementById('ask-title').textContent === 'Forget 1 photo?'"},
		{"Ctrl+Z", []string{"Control+z"}, "undo 0", ""},
		{"Ctrl+Y, Ctrl+Shift+Z", []string{"Control+y"}, "redo 0", ""},
		{"Ctrl+Z", []string{"Control+z"}, "undo 0", ""},
		{"Ctrl+Y, Ctrl+Shift+Z", []string{"Shift+Control+Z"}, "redo 0", ""},
		{"<", []string{"<"}, "", "document.getElementById('history').open"},
		{"Esc", []string{" ", "Escape"}, "", picked(0)},
		{"Esc", []string{"+", "Escape"}, "", "document.getElementById('heading').textContent === 'To check'"},
		{"?", []string{"?"}, "", "document.getElementById('keys').open"},
	}
	tested := map[string]bool{"Delete, Backspace": true, "0": true} // below
	for _, c := range cases {
		fresh(p, url, views[0])
		tested[c.row] = true
		first := evaluate[string](p, "document.querySelector('.tile.current').photo.prediction[0].class")
		p.Press(c.keys[0])
		if len(c.keys) > 1 {
			p.Wait(settled) // what the next key is for
		}
		p.Press(c.keys[1:]...)
		if c.asked != "" {
			expectChange(t, p, s, c.row, strings.ReplaceAll(c.asked, "%s", first))
		} else {
			p.Wait(c.there)
			if got := s.changed(); len(got) > 0 {
				t.Errorf("%q: the server was asked for %q", c.keys, got)
			}
		}
	}
	for _, c := range [][2]string{{"Delete", "unlabel 1"}, {"Backspace", "unlabel 1"}, {"0", "label 1 %s"}} {
		key, asked := c[0], c[1]
		fresh(p, url, views[2])
		label := evaluate[string](p, "document.querySelector('.tile.current').photo.label")
		p.Press(key)
		expectChange(t, p, s, key, strings.ReplaceAll(asked, "%s", label))
	}
	rows := evaluate[[]string](p, "Array.from(document.querySelectorAll('#keys-list dt'), (e) => e.textContent)")
	if slices.Sort(rows); !slices.Equal(rows, slices.Sorted(maps.Keys(tested))) {
		t.Errorf("the help names %q, tested are %q", rows, slices.Sorted(maps.Keys(tested)))
	}
}

// TestTypingDecidesNothing: with something that can be undone, nothing that is typed decides
// on a photo.
func TestTypingDecidesNothing(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	p.Wait("document.activeElement.id === 'grid'")
	p.Press("Enter")
	p.Wait("window.said !== '' && " + settled)
	s.changed()
	lettersAreNames(t, p, url)
	fieldsHaveTheKeys(t, p, url)
	dialogsHaveTheKeys(t, p, url)
	composingIsTyping(t, p, url)
	heldKeysDecideOnce(t, p, url)
	groupsHaveNoKeys(t, p, url)
	if got := s.changed(); len(got) > 0 {
		t.Errorf("the server was asked for %q", got)
	}
}

// lettersAreNames: on the photos every letter begins a name, and a whole word is one.
func lettersAreNames(t *testing.T, p *testenv.Page, url string) {
	t.Helper()
	fresh(p, url, views[0])
	words := slices.Concat(strings.Split("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZéßя", ""), typed)
	for _, place := range []struct{ field, dialog string }{{"#naming input", ""}, {"#photo-naming input", "photo"}} {
		if place.dialog != "" {
			dialogs[0].show(p)
		}
		for _, word := range words {
			p.Press(strings.Split(word, "")...)
			if got := evaluate[string](p, fmt.Sprintf("document.querySelector(%q).value", place.field)); got != word {
				t.Errorf("typing %s in view %q gives the name %q", word, place.dialog, got)
			}
			quiet(t, p, word, strings.Fields(place.dialog)...)
			p.Press("Escape") // back to the photos
		}
	}
}

// fieldsHaveTheKeys: in a field every key is the field's.
func fieldsHaveTheKeys(t *testing.T, p *testenv.Page, url string) {
	t.Helper()
	for _, field := range []struct {
		name, selector, dialog string
		view                   aspect
		reach                  string // clicked first
	}{
		{"class", "#naming input", "", views[0], ""},
		{"class of a labelled photo", "#naming input", "", views[2], ""},
		{"class of a large photo", "#photo-naming input", "photo", dialogs[0], ""},
		{"class of a group", ".group .naming input", "", views[1], ""},
		{"part of a name", "#search [name=q]", "", views[0], ""},
		{"folder", "#search [name=folder]", "", views[0], "#search summary"},
		{"date", "#search [name=taken_since]", "", views[0], "#search summary"},
		{"new name of a class", "#new-name", "ask", views[3], "#lead-tools button"},
	} {
		fresh(p, url, views[0])
		field.view.show(p)
		if field.reach != "" {
			p.Click(field.reach)
		}
		open := strings.Fields(field.dialog)
		for _, word := range typed {
			p.Click(field.selector)
			p.Eval(fmt.Sprintf("document.querySelector(%q).value = ''", field.selector), nil)
			p.Press(strings.Split(word, "")...)
			if got := evaluate[string](p,
				fmt.Sprintf("document.querySelector(%q).value", field.selector)); got != word && field.name != "date" {
				t.Errorf("%s: typing %s gives %q", field.name, word, got)
			}
			quiet(t, p, field.name+": "+word, open...)
		}
		p.Press(signs...)
		if strings.HasPrefix(field.name, "class") {
			p.Press("Alt+Enter") // in a question it is as Enter
		}
		quiet(t, p, field.name+": signs", open...)
	}
}

// dialogsHaveTheKeys: while a question, the history or the help is open, no key decides
// on the photos behind it.
func dialogsHaveTheKeys(t *testing.T, p *testenv.Page, url string) {
	t.Helper()
	for _, a := range slices.Concat(dialogs[1:], questions) {
		view := views[0]
		if slices.Contains(questions, a) {
			view = views[3]
		}
		fresh(p, url, view)
		if a.name == "lines" {
			dialogs[1].show(p)
		}
		a.show(p)
		open := evaluate[[]string](p, "Array.from(document.querySelectorAll('dialog[open]'), (d) => d.id)")
		p.Press(strings.Split(strings.Join(typed, ""), "")...)
		p.Press(signs...)
		quiet(t, p, a.name, open...)
	}
}

// TestTypingGoesOn: the answer to a decision, or to a view that was asked for, does not take
// the focus from somebody who has begun to type.
func TestTypingGoesOn(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	p.Wait("document.activeElement.id === 'grid'")
	answered := s.answersLate()
	p.Press("Enter", "r", "a", "c")
	<-answered
	p.Wait("window.said !== '' && " + settled)
	p.Press("c", "o", "o", "n")
	if got := evaluate[string](p, "document.querySelector('#naming input').value"); got != "raccoon" {
		t.Errorf("a name that was begun before the answer is %q", got)
	}
	p.Press("Escape")
	p.Wait("document.activeElement.id === 'grid'")

	held := s.holds()
	p.Click("[data-view=suspicious]")
	<-held
	p.Click("#search [name=q]")
	p.Press("r", "a", "c")
	<-held
	p.Wait("document.getElementById('heading').textContent === 'Maybe mislabelled' && " + settled)
	p.Press("c", "o", "o", "n")
	if got := evaluate[string](p, "document.querySelector('#search [name=q]').value"); got != "raccoon" {
		t.Errorf("what was begun to be searched for before the view came is %q", got)
	}
}

// composingIsTyping: Enter that ends what an input method composes chooses no name, and
// accepts nothing.
func composingIsTyping(t *testing.T, p *testenv.Page, url string) {
	t.Helper()
	fresh(p, url, views[0])
	const enter = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', isComposing: " +
		"true, bubbles: true, cancelable: true}))"
	p.Eval(enter, nil)
	quiet(t, p, "composing on the photos")
	p.Press("r", "a", "c")
	p.Eval(enter, nil)
	quiet(t, p, "composing a name")
	if got := evaluate[string](p, "document.querySelector('#naming input').value"); got != "rac" {
		t.Errorf("what was composed is %q", got)
	}
}

// heldKeysDecideOnce: a key that is held moves on, but decides only once.
func heldKeysDecideOnce(t *testing.T, p *testenv.Page, url string) {
	t.Helper()
	fresh(p, url, views[0])
	held := func(key string) {
		p.Eval(fmt.Sprintf("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: %q, repeat: true, "+
			"bubbles: true, cancelable: true}))", key), nil)
	}
	for _, key := range []string{"Enter", "1", ".", "-", "&", "Delete", "Shift+Delete", "+", "?", "<"} {
		held(key)
		quiet(t, p, "held "+key)
	}
	held("ArrowRight")
	p.Wait("document.querySelector('.tile.current').getAttribute('aria-posinset') === '2'")
}

// groupsHaveNoKeys: while the groups are shown, no key decides on a photo of the view before.
func groupsHaveNoKeys(t *testing.T, p *testenv.Page, url string) {
	t.Helper()
	fresh(p, url, views[0])
	p.Click("[data-view=unknown]")
	p.Wait(views[1].there + " && " + settled)
	p.Click("#heading")
	p.Press("Enter", "1", ".", "-", "&", "Delete", " ", "+", "Alt+Enter", "Shift+Delete", "r")
	quiet(t, p, "keys on the groups")
	if got := evaluate[string](p, "document.querySelector('#naming input').value"); got != "" {
		t.Errorf("a field that nobody sees has %q", got)
	}
}

// TestKeysOfLargePhoto: with the mouse a photo is opened; Enter accepts it, a name is given
// to the next, and after that the keys are those of the photo again.
func TestKeysOfLargePhoto(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	const suggestion = "document.querySelector('.tile.current').photo.prediction[%d].class"
	first := evaluate[string](p, fmt.Sprintf(suggestion, 0))
	dialogs[0].show(p)
	p.Press("Enter")
	expectChange(t, p, s, "accept", "label 1 "+first)
	p.Wait(settled)
	p.Press("r", "a", "y", "Enter")
	expectChange(t, p, s, "name", "label 1 ray")
	p.Wait(settled)
	second := evaluate[string](p, fmt.Sprintf(suggestion, 1))
	p.Press("2")
	expectChange(t, p, s, "second suggestion", "label 1 "+second)
	p.Wait(settled)
	p.Press("Control+z")
	expectChange(t, p, s, "undo", "undo 0")
}
