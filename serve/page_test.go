package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// An aspect is a view or a dialog of the page: how it opens, and what is there when
// it has come up.
type aspect struct{ name, open, there string }

var views = []aspect{
	{"check", "document.querySelector('[data-view=check]').click()",
		"document.getElementById('heading').textContent === 'To check' && " +
			"document.querySelectorAll('.tile').length > 0"},
	{"unknown", "document.querySelector('[data-view=unknown]').click()",
		"document.querySelectorAll('.group').length > 0 || " +
			"document.getElementById('empty').textContent === 'No photo looks unknown.'"},
	{"suspicious", "document.querySelector('[data-view=suspicious]').click()",
		"document.querySelectorAll('.tile').length > 1 && document.getElementById('heading').textContent === 'Maybe " +
			"mislabelled'"},
	{"class", "document.querySelector('[data-view=class]').click()",
		"document.querySelectorAll('#class-list button').length > 1 && " +
			"Array.from(document.querySelectorAll('.tile .what'), (e) => e.textContent)" +
			".includes(document.getElementById('heading').textContent) && " + settled},
}

var mapView = aspect{"map", "document.querySelector('[data-view=map]').click()",
	"document.querySelectorAll('#map-legend button').length > 1 && " +
		"document.getElementById('heading').textContent === 'Map' && " + settled}

// questions are dialogs about the class that is shown.
var questions = []aspect{
	{"rename", "document.querySelector('#lead-tools button').click()",
		"document.getElementById('new-name')?.checkVisibility()"},
	{"merge", "document.querySelector('#lead-tools button:nth-child(2)').click()",
		"document.getElementById('into')?.checkVisibility()"},
}

var dialogs = []aspect{
	{"photo", "document.querySelector('.tile').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))",
		"document.getElementById('photo-picture').naturalWidth > 0"},
	{"history", "document.getElementById('show-history').click()", "document.getElementById('history').open"},
	{"lines",
		"document.querySelector('#history-list > li:last-child details').open = true; " +
			"document.getElementById('history').showModal()",
		"document.querySelectorAll('#history-list ol li').length > 4"},
	{"forget",
		"document.querySelector('.tile:not([aria-selected=true]) .tick')?.click(); " +
			"document.getElementById('forget').click()", "document.getElementById('ask').open"},
	{"bulk", "document.getElementById('bulk').click()", "document.getElementById('outlook')?.textContent"},
	{"spelling",
		"{ const field = document.querySelector('#naming input'); field.value = 'brick walls'; " +
			"field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', shiftKey: true, bubbles: true})) }",
		"document.getElementById('ask-title').textContent === 'Which class is meant?'"},
	{"several", "document.getElementById('several').click()", "document.getElementById('several-things').open"},
	{"keys", "document.getElementById('help').click()", "document.getElementById('keys').open"},
}

func browse(t *testing.T, url string) *testenv.Page {
	t.Helper()
	p := testenv.Open(t, url)
	p.View(1280, 800, false)
	p.Wait("document.querySelectorAll('.tile').length > 0")
	p.Eval("window.said = ''; new MutationObserver(() => { "+
		"window.said += document.getElementById('said').textContent; "+
		"}).observe(document.getElementById('said'), {childList: true})", nil)
	return p
}

// expectChange waits until the page says something, and compares what the server
// was asked for.
func expectChange(t *testing.T, p *testenv.Page, s *standIn, what, want string) {
	t.Helper()
	p.Wait("window.said !== ''")
	if got := strings.Join(s.changed(), "; "); got != want {
		t.Errorf("%s: the server was asked for %q, want %q", what, got, want)
	}
	p.Eval("window.said = ''", nil)
}

func evaluate[T any](p *testenv.Page, expression string) (out T) {
	p.Eval(expression, &out)
	return out
}

// TestAppearance: in every view and dialog, wide and narrow, light and dark, axe-core
// finds nothing serious and nothing is wider than the screen. With PAGE_SHOTS set to
// a folder it writes screenshots instead, with thirty to 100 000 photos.
func TestAppearance(t *testing.T) {
	axe := testenv.Axe(t)
	sizes := []int{158}
	if os.Getenv("PAGE_SHOTS") != "" {
		sizes = []int{30, 158, 1000, 100_000}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			_, url := newStandIn(t, n, true)
			p := browse(t, url)
			for _, width := range []int{1280, 390} {
				for _, dark := range []bool{false, true} {
					p.View(width, 844, dark)
					for _, a := range slices.Concat([]aspect{mapView, duplicatesView}, views, questions, dialogs) {
						a.show(p)
						look(t, p, fmt.Sprintf("%d-%s-%d-%t", n, a.name, width, dark), axe,
							dark != (width > 1000)) // axe takes seconds: two of the four appearances
					}
				}
			}
		})
	}
}

// look checks that the page as it is fits the screen, and asks axe about it, or writes a
// screenshot if PAGE_SHOTS is set.
func look(t *testing.T, p *testenv.Page, name, axe string, ask bool) {
	t.Helper()
	if over := evaluate[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("%s is %d pixels too wide", name, over)
	}
	if shots := os.Getenv("PAGE_SHOTS"); shots != "" {
		write(t, filepath.Join(shots, name+".png"), p.Screenshot())
	} else if ask {
		accessible(t, p, name, axe)
	}
}

// show opens a view or dialog and waits for its pictures, those of a dialog that was closed before they came excepted:
// a browser loads no lazy picture that nobody can see.
func (a aspect) show(p *testenv.Page) {
	p.Eval("document.querySelectorAll('dialog').forEach((d) => d.close())", nil)
	p.Eval(a.open, nil)
	p.Wait(a.there)
	p.Wait("Array.from(document.images).every((i) => i.complete || !i.checkVisibility() || " +
		"i.getBoundingClientRect().top > innerHeight)")
}

// accessible reports what axe-core finds in the page as it is: in its dialog if one is open, since nobody reaches
// the rest then, which is looked at without.
func accessible(t *testing.T, p *testenv.Page, name, axe string) {
	t.Helper()
	if !evaluate[bool](p, "'axe' in window") {
		p.Eval(axe, nil)
	}
	found := evaluate[[]string](p,
		`axe.run(document.querySelector("dialog[open]") ?? document).then((r) => r.violations`+
			`.filter((v) => v.impact === "serious" || v.impact === "critical")`+
			`.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 150))))`)
	if len(found) > 0 {
		t.Errorf("%s:\n%s", name, strings.Join(found[:min(5, len(found))], "\n"))
	}
}

// TestKeys: what a person does with the keyboard alone, and what the server is
// asked for.
func TestKeys(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	first := func() string { return evaluate[string](p, "document.querySelector('.tile.current').id") }
	expect := func(what, want string) {
		t.Helper()
		expectChange(t, p, s, what, want)
	}
	before := first()
	suggestion := evaluate[string](p, "document.querySelector('.tile.current').photo.prediction[0].class")
	second := evaluate[string](p, "document.querySelectorAll('.tile')[1].photo.prediction[1].class")
	p.Press("Enter")
	expect("accept", "label 1 "+suggestion)
	p.Wait(fmt.Sprintf("document.querySelector('.tile.current') && document.querySelector('.tile.current').id !== %q",
		before))
	p.Press("2")
	expect("second suggestion", "label 1 "+second)
	p.Press("Control+z")
	expect("undo", "undo 0")
	p.Press("Control+y")
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
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	p.Click("[data-view=unknown]")
	p.Wait("document.querySelectorAll('.group').length > 0")
	size := evaluate[int](p, "parseInt(document.querySelector('.group h3').textContent)")
	p.Click(".group .member")
	p.Click(".group input")
	p.Press("k", "i", "w", "i", "Enter")
	expectChange(t, p, s, "a group without one photo", fmt.Sprintf("label %d kiwi", size-1))
}

// TestManyPhotos: of 20 000 photos only those in sight are in the document, and
// the last one can be reached.
func TestManyPhotos(t *testing.T) {
	_, url := newStandIn(t, 20_000, true)
	p := browse(t, url)
	p.Press("End")
	p.Wait("document.querySelector('.tile.current') && " +
		"document.querySelector('.tile.current').getAttribute('aria-posinset') " +
		"=== document.querySelector('.tile')?.getAttribute('aria-setsize')")
	if n := evaluate[int](p, "document.querySelectorAll('.tile').length"); n > 100 {
		t.Errorf("%d tiles are in the document", n)
	}
}

// TestScrolledMeanwhile: somebody goes to the last photo while the page asks for a new
// order: what is seen when the answer comes stays where it is.
func TestScrolledMeanwhile(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	answered := s.reorders()
	<-answered
	p.Press("End")
	p.Wait("document.querySelector('.tile.current')")
	const current = "document.querySelector('.tile.current').photo.name"
	before := evaluate[string](p, current)
	<-answered
	p.Wait("document.getElementById('stage').getAttribute('aria-busy') === 'false'")
	if after := evaluate[string](p, current); after != before {
		t.Errorf("the last photo was %s, and is %s", before, after)
	}
}

// TestClassesAndSearch: a class is renamed and merged, a name is looked for, the
// most similar photos come selected, and a label is confirmed where the model
// doubts it.
func TestClassesAndSearch(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	expect := func(what, want string) {
		t.Helper()
		expectChange(t, p, s, what, want)
	}
	p.Click("[data-view=class]")
	p.Wait(views[3].there)
	class := evaluate[string](p, "document.getElementById('heading').textContent")
	p.Click("#lead-tools button")
	p.Wait("document.getElementById('ask').open")
	p.Eval("document.getElementById('new-name').value = 'wall'", nil)
	p.Click("#ask-yes")
	expect("rename", "rename 0 "+class+" wall")
	p.Wait("document.querySelector('#class-list [aria-current=true]').dataset.name === 'wall'")
	p.Click("#lead-tools button:nth-child(2)")
	p.Wait("document.getElementById('ask').open")
	into := evaluate[string](p, "document.getElementById('into').value = "+
		"document.getElementById('into').options[1].value")
	p.Click("#ask-yes")
	expect("merge", "merge 0 wall "+into)

	p.Click("[data-view=suspicious]")
	p.Wait(views[2].there)
	p.Wait("document.activeElement.id === 'grid'")
	label := evaluate[string](p, "document.querySelector('.tile.current').photo.label")
	p.Press("0")
	expect("confirm", "label 1 "+label)

	p.Click("[data-view=check]")
	p.Wait("document.getElementById('heading').textContent === 'To check' && " +
		"document.querySelectorAll('.tile').length > 5 && document.activeElement.id === 'grid'")
	p.Press("+")
	p.Wait("document.getElementById('heading').textContent === 'Similar photos' && " +
		"document.querySelectorAll('[aria-selected=true]').length > 1")
	n := evaluate[int](p, "document.querySelectorAll('.tile[aria-selected=true]').length")
	p.Press("z", "o", "o", "Enter")
	expect("all like this", fmt.Sprintf("label %d zoo", n))

	p.Press("Escape")
	p.Wait("document.getElementById('heading').textContent === 'To check'")
	p.Click("#search input")
	p.Press("0", "0", "1", "0", "1")
	p.Wait("document.getElementById('empty').hidden === false || document.querySelectorAll('.tile').length === 1")

	p.Eval("document.querySelector('#search input').value = ''; document.querySelector('#search "+
		"input').dispatchEvent(new Event('input', {bubbles: true}))", nil)
	p.Wait("document.querySelectorAll('.tile').length > 5")
	byTime(t, p, s)
	p.Click("#bulk")
	p.Wait("document.getElementById('outlook')?.textContent.includes('Nobody has checked')")
	p.Click("#ask-yes")
	expect("accept many", "accept 0")
}

// byTime looks through the photos in the order of time, in a range, and at what one of them
// says of itself, as text.
func byTime(t *testing.T, p *testenv.Page, s *standIn) {
	t.Helper()
	p.Eval("document.querySelector('#search [name=order]').value = 'time'; "+
		"document.querySelector('#search [name=taken_since]').value = '2025-06-14'; "+
		"document.querySelector('#search').dispatchEvent(new Event('input', {bubbles: true}))", nil)
	p.Wait("document.getElementById('untimed').textContent === '1 photo without a time is left out.'")
	s.mu.Lock()
	if !strings.Contains(s.listed, "order=time") || !strings.Contains(s.listed, "taken_since=2025-06-14") {
		t.Errorf("the page asks for %s", s.listed)
	}
	s.mu.Unlock()
	dialogs[0].show(p)
	p.Wait("document.querySelectorAll('#photo-shot dd').length === 3")
	said := evaluate[string](p, "document.getElementById('photo-shot').innerText.replaceAll(/\\s+/g, ' ')")
	if want := "Taken Saturday, June 14, 2025 at 10:11:12 AM (UTC+02:00) Camera HC600 <img src=x onerror=alert(1)> " +
		"Place 33.85997° S, 151.21000° E"; said != want {
		t.Errorf("the photo says %q, not %q", said, want)
	}
	p.Eval("document.getElementById('photo-close').click(); document.getElementById('search').reset(); "+
		"document.querySelector('#search').dispatchEvent(new Event('input', {bubbles: true}))", nil)
	p.Wait("document.getElementById('untimed').hidden")
}

// TestSpotCheckOnThePage: twenty photos are drawn, answered by Enter where the suggestion is
// right and by a name where it is not; then the question comes back with what was found.
func TestSpotCheckOnThePage(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	p.Click("#bulk")
	p.Wait("document.getElementById('outlook')?.textContent.includes('Nobody has checked')")
	p.Eval("document.getElementById('above').value = 60; "+
		"document.getElementById('above').dispatchEvent(new Event('input'))", nil)
	p.Wait("!document.getElementById('spot-check').disabled")
	p.Click("#spot-check")
	p.Wait("document.getElementById('heading').textContent === 'A spot check' && " +
		"document.querySelectorAll('.tile').length > 5 && document.activeElement.id === 'grid'")
	p.Press("z", "o", "o", "Enter")
	expectChange(t, p, s, "a wrong suggestion", "label 1 zoo")
	for range 19 {
		p.Wait(settled)
		p.Press("Enter")
	}
	p.Wait("document.getElementById('outlook')?.textContent.includes('20 of 20')")
	if above := evaluate[string](p, "document.getElementById('above').value"); above != "60" {
		t.Errorf("the question comes back for photos above %s %%, not above 60 %%", above)
	}
	if asked := s.changed(); len(asked) != 19 || !strings.HasPrefix(asked[0], "label 1 ") {
		t.Errorf("the server was asked for %q", asked)
	}
}

// TestHistoryAndForgetting: with the keyboard, and with a finger on a narrow screen, a
// person goes back to a point of the history and to a line, and has photos forgotten.
func TestHistoryAndForgetting(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	p.Press("Enter")
	p.Wait("window.said !== ''")
	s.changed()
	p.Eval("window.said = ''", nil)

	p.Press("<")
	p.Wait("document.getElementById('history').open")
	if got := evaluate[[]string](p,
		"Array.from(document.querySelectorAll('#history-list > li'), (e) => e.querySelector('p').textContent.split(' "+
			"· ')[1])"); !slices.Equal(got, []string{"now", "saved"}) {
		t.Errorf("the history has %q", got)
	}
	p.Press("Tab", "Tab", "Enter") // past the changes since
	expectChange(t, p, s, "back to a point", "back to 7")
	p.Wait("!document.getElementById('history').open")

	p.View(390, 844, false)
	p.Tap("#show-history")
	p.Wait("document.getElementById('history').open")
	p.Tap("#history-list > li:last-child summary")
	p.Wait("document.querySelectorAll('#history-list > li:last-child ol li').length === 5")
	if got := evaluate[string](p, "document.querySelector('#history-list .undone').textContent"); !strings.Contains(got,
		"taken back") {
		t.Errorf("a line that was undone says %q", got)
	}
	p.Tap("#history-list > li:last-child ol li:nth-child(2) button")
	expectChange(t, p, s, "back to a line", "back to 5")
	p.Wait("!document.getElementById('history').open")

	p.Tap(".tile .tick")
	p.Tap(".tile:nth-child(2) .tick")
	p.Tap("#forget")
	p.Wait("document.getElementById('ask').open")
	if got := evaluate[string](p, "document.getElementById('ask').textContent"); !strings.Contains(got,
		"Forget 2 photos?") || !strings.Contains(got, "cannot be undone") {
		t.Errorf("the question is %q", got)
	}
	p.Tap("#ask-no")
	p.Tap("#forget")
	p.Tap("#ask-yes")
	p.Wait("document.getElementById('ask-title').textContent === '2 photos forgotten'")
	expectChange(t, p, s, "forget two", "forget 2")
	if got := evaluate[string](p, "document.getElementById('ask-body').textContent"); !strings.Contains(got,
		"Not reached:the files themselvescopies elsewhere") {
		t.Errorf("the answer is %q", got)
	}
	p.Tap("#ask-yes")

	p.View(1280, 800, false)
	p.Wait("!document.getElementById('ask').open && document.activeElement.id === 'grid'")
	p.Eval(dialogs[0].open, nil)
	p.Wait("document.getElementById('photo').open")
	p.Press("Shift+Delete")
	p.Wait("document.getElementById('ask').open && document.activeElement.id === 'ask-no'")
	p.Press("Enter")
	p.Wait("!document.getElementById('ask').open")
	p.Press("Shift+Delete")
	p.Wait("document.activeElement.id === 'ask-no'")
	p.Press("Shift+Tab", "Enter")
	p.Wait("document.getElementById('ask-title').textContent === '1 photo forgotten'")
	expectChange(t, p, s, "forget one that is seen large", "forget 1")
}

// TestTwoBrowsers: what one does the other shows.
func TestTwoBrowsers(t *testing.T) {
	_, url := newStandIn(t, few, true)
	one, other := browse(t, url), browse(t, url)
	one.Press("Enter")
	other.Wait("document.getElementById('quality').textContent.startsWith('1 decided')")
	other.Press("Control+z")
	one.Wait("document.getElementById('quality').textContent.startsWith('0 decided')")
}

// TestLateAnswer: a page that hears of another's undo before its own decision is answered
// goes on showing what holds now.
func TestLateAnswer(t *testing.T) {
	s, url := newStandIn(t, few, true)
	one, other := browse(t, url), browse(t, url)
	answered := s.answersLate()
	one.Press("Enter")
	other.Wait("document.getElementById('quality').textContent.startsWith('1 decided')")
	other.Press("Control+z")
	other.Wait("document.getElementById('quality').textContent.startsWith('0 decided')")
	one.Wait("document.getElementById('quality').textContent.startsWith('0 decided') && " +
		"document.getElementById('undo').disabled")
	<-answered
	one.Wait("window.said !== '' && document.getElementById('stage').getAttribute('aria-busy') === 'false'")
	if got := evaluate[string](one, "document.getElementById('quality').textContent"); !strings.HasPrefix(got,
		"0 decided") {
		t.Errorf("after the late answer the page says %q", got)
	}
}

// TestRestartedServer: a server that was started again counts from the beginning; the page follows it.
func TestRestartedServer(t *testing.T) {
	s, url := newStandIn(t, few, true)
	p := browse(t, url)
	p.Press("Enter")
	p.Wait("document.getElementById('quality').textContent.startsWith('1 decided')")
	s.restarts()
	p.Wait("document.getElementById('quality').textContent.startsWith('0 decided')")
}

// TestResizeKeepsThePhoto: in a window of another width, with other columns, the current photo is still in sight.
func TestResizeKeepsThePhoto(t *testing.T) {
	_, url := newStandIn(t, few, true)
	p := browse(t, url)
	p.Wait("document.activeElement.id === 'grid' && " + settled)
	p.Press("End")
	for _, width := range []int{1280, 760, 1280} {
		p.View(width, 800, false)
		p.Eval("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))", nil)
		if !evaluate[bool](p, "document.querySelector('.tile.current') !== null") {
			t.Errorf("%d wide, the current photo is out of sight", width)
		}
	}
}
