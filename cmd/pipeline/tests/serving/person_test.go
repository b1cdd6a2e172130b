package serving

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A person sits at the page of a server: knows what every photo shows, looks only
// at what is on the screen, and presses the keys and buttons of the page.
type person struct {
	testing.TB
	page  *testenv.Page
	truth map[string]string // class of each file, by name
}

// A screen is what a person sees.
type screen struct {
	Heading, Quality, Advice string
	// Guide reports that the page offers to go where its advice leads.
	Guide  bool
	Chosen string
	Tiles  []tile
	Groups []pile
}

// A tile is a photo in the grid: its file, its class and the line below.
type tile struct {
	Name, What, Sure  string
	Current, Selected bool
}

// A pile is a group of unknown photos, of which some are shown.
type pile struct {
	Name  string // of its field, as a selector
	Title string
	Files []string
	All   string // the words of the button that shows all
}

const look = `(() => {
	const box = document.getElementById("scroller").getBoundingClientRect();
	const seen = (e) => { const r = e.getBoundingClientRect(); return r.top >= box.top - r.height / 2 && r.bottom <= box.bottom + r.height / 2; };
	const text = (id) => document.getElementById(id).textContent;
	const visible = (id) => document.getElementById(id).checkVisibility();
	return {
		heading: text("heading"), quality: text("quality"), advice: text("advice"), guide: visible("follow"), chosen: text("chosen"),
		tiles: [...document.querySelectorAll(".tile")].filter((t) => visible("grid") && seen(t)).map((t) => ({
			name: t.querySelector("img").alt, what: t.querySelector(".what").textContent, sure: t.querySelector(".sure").textContent,
			current: t.classList.contains("current"), selected: t.getAttribute("aria-selected") === "true"})),
		groups: [...document.querySelectorAll(".group")].filter(() => visible("groups")).map((g) => ({
			name: "#" + g.querySelector("form").id, title: g.querySelector("h3").textContent,
			files: [...g.querySelectorAll("img")].map((i) => i.alt), all: g.querySelector(".row > button").textContent})),
	};
})()`

// sit opens the page in a browser of its own.
func (s *served) sit(truth map[string]string) *person {
	s.Helper()
	page := testenv.Open(s.TB, s.url)
	page.View(1280, 800, false)
	page.Eval(`window.said = []; new MutationObserver(() => document.querySelectorAll("#said p").forEach((p) => said.push((p.className ? "refused: " : "") + p.textContent)))
		.observe(document.getElementById("said"), {childList: true})`, nil)
	p := &person{s.TB, page, truth}
	p.settles()
	return p
}

func (p *person) look() (s screen) {
	p.Helper()
	p.page.Eval(look, &s)
	return s
}

// current returns the photo that the keys are about.
func (p *person) current() tile {
	p.Helper()
	for { // the page may begin to load others between waiting and looking
		p.page.Wait("document.querySelector('.tile.current') !== null")
		for _, t := range p.look().Tiles {
			if t.Current {
				return t
			}
		}
	}
}

// hears does something and returns what the page says then.
func (p *person) hears(do func()) (said string) {
	p.Helper()
	p.page.Eval("said.length = 0", nil)
	do()
	p.page.Wait("said.length > 0")
	p.page.Eval("said[0]", &said)
	if strings.HasPrefix(said, "refused") {
		p.Fatal(said)
	}
	return said
}

// press presses keys after which the page says what it did.
func (p *person) press(keys ...string) string {
	p.Helper()
	return p.hears(func() { p.page.Press(keys...) })
}

// name types a class for what is chosen.
func (p *person) name(class string) string {
	p.Helper()
	return p.press(append(strings.Split(class, ""), "Shift+Enter")...)
}

// click presses a button after which the page says what it did.
func (p *person) click(selector string) string {
	p.Helper()
	return p.hears(func() { p.page.Click(selector) })
}

// open goes to a view and waits until it is there, and first, where it takes one, the model.
func (p *person) open(view, heading string) screen {
	p.Helper()
	p.page.Click("[data-view=" + view + "]")
	p.page.Wait(fmt.Sprintf("document.getElementById('heading').textContent === %q", heading))
	p.settles()
	return p.look()
}

// openClass goes to the photos of one class. Which class the view starts with depends on
// which was named when the page first asked.
func (p *person) openClass(name string) {
	p.Helper()
	p.page.Click("[data-view=class]")
	p.settles()
	p.page.Click(fmt.Sprintf("#class-list [data-name=%q]", name))
	p.settles()
	if now := p.look(); now.Heading != name {
		p.Fatalf("the page shows %q, not %q", now.Heading, name)
	}
}

// settles waits until the photos are those of the view that was asked for.
func (p *person) settles() {
	p.Helper()
	p.page.Wait(`document.getElementById("stage").getAttribute("aria-busy") === "false" && ` +
		`!document.getElementById("empty").textContent.endsWith("…")`)
}

// on is the tile of a file, as a selector.
func on(file string) string { return fmt.Sprintf(".tile:has(img[alt='%s'])", file) }

// choose selects files by their ticks.
func (p *person) choose(files ...string) {
	p.Helper()
	for _, file := range files {
		p.page.Click(on(file) + " .tick")
	}
}

// answer says what the current photo shows: Enter if the page has it right, 0 if it doubts
// a right label, the number of a suggestion that can be seen, or else the name.
func (p *person) answer(t tile) {
	p.Helper()
	class, ok := p.truth[t.Name]
	switch {
	case !ok:
		p.Fatalf("nobody knows what %q shows", t.Name)
	case t.What == class && strings.HasPrefix(t.Sure, "rather "):
		p.press("0")
	case t.What == class:
		p.press("Enter")
	case t.Sure == "rather "+class, strings.HasPrefix(t.Sure, "rather "+class+","):
		p.press("1")
	case strings.HasSuffix(t.Sure, ", or "+class):
		p.press("2")
	default:
		p.name(class)
	}
	p.page.Wait(fmt.Sprintf("!document.getElementById('grid').checkVisibility() || !document.querySelector(%q)",
		".tile.current img[alt='"+t.Name+"']"))
}

// acceptsMany accepts what the page offers to accept, and reports whether that is
// anything.
func (p *person) acceptsMany() bool {
	p.Helper()
	p.page.Click("#bulk")
	p.page.Wait(`document.getElementById("ask").open && document.getElementById("outlook")?.textContent`)
	var outlook string
	p.page.Eval(`document.getElementById("outlook").textContent`, &outlook)
	p.Logf("accept many: %s", outlook)
	if strings.HasPrefix(outlook, "No undecided") {
		p.page.Press("Escape")
		return false
	}
	p.click("#ask-yes")
	return true
}

// rename gives the class that is shown another name.
func (p *person) rename(to string) string {
	p.Helper()
	p.page.Click("#lead-tools button")
	p.page.Wait("document.getElementById('ask').open")
	p.page.Eval("document.getElementById('new-name').select()", nil)
	p.page.Press(strings.Split(to, "")...)
	return p.click("#ask-yes")
}

// exported returns the rows of the table that the page exports: file, class and who
// decided.
func (p *person) exported() [][]string {
	p.Helper()
	var text string
	p.page.Eval("fetch(document.getElementById('export').href).then((r) => r.text())", &text)
	rows := must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(p)
	return rows[1:]
}

var decidedByPerson = regexp.MustCompile(`([\d,]+) decided one by one`)

// used returns how many labels the page says people gave.
func (p *person) used() int {
	p.Helper()
	quality := p.look().Quality
	found := decidedByPerson.FindStringSubmatch(quality)
	if found == nil {
		p.Fatalf("the page does not count labels: %q", quality)
	}
	return must.Get(strconv.Atoi(strings.ReplaceAll(found[1], ",", "")))(p)
}
