package serving

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// drawn writes n drawn photos of each class into one folder, and returns what each
// file shows.
func drawn(l *commandtest.Bed, dir string, n int, classes ...string) map[string]string {
	l.Helper()
	truth := map[string]string{}
	for _, class := range classes {
		for i := range n {
			name := fmt.Sprintf("%s-%03d.jpg", class, i)
			truth[name] = class
			l.Write(filepath.Join(dir, name), commandtest.Photo(class, i, 32))
		}
	}
	return truth
}

// has compares the exported labels.
func (p *person) has(when string, want map[string]int) {
	p.Helper()
	got := map[string]int{}
	for _, row := range p.exported() {
		got[row[1]]++
	}
	if !maps.Equal(got, want) {
		p.Errorf("%s the labels are %v, want %v", when, got, want)
	}
}

// TestServePage: from a folder without a model to exported labels, by two people in
// two browsers.
func TestServePage(t *testing.T) {
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	truth := drawn(l, l.Path("photos"), 12, "kiwi", "lime", "plum", "fig", "pear")
	s := serve(l, 60, l.Path("m.model"), "--images", l.Path("photos"))
	p, other := s.sit(truth), s.sit(truth)

	if got := p.look().Heading; got != "First photos" {
		t.Errorf("without a model the page shows %q", got)
	}
	named := map[string]int{}
	for len(named) < 2 { // two classes make a model
		one := p.current()
		p.answer(one)
		named[truth[one.Name]]++
	}
	p.page.Wait("document.getElementById('heading').textContent === 'To check'")
	p.has("at first", named)
	n := 0
	for _, count := range named {
		n += count
	}
	other.page.Wait(fmt.Sprintf(
		"document.getElementById('quality').textContent.startsWith('%d decided one by one')", n))
	known := slices.Sorted(maps.Keys(named))

	// A wrong label is corrected, by the other: first undone, then done again and
	// given another name in the view of its class.
	p.settles()
	one := p.current()
	p.name("mango")
	other.page.Wait("!document.getElementById('undo').disabled && " +
		"document.getElementById('undo').title.endsWith('mango')")
	if said := other.press("Control+z"); said != "Undone: label a photo mango" {
		t.Errorf("undo says %q", said)
	}
	p.has("after undo", named)
	other.press("Control+y")
	other.openClass("mango")
	other.settles()
	other.page.Press("End") // where those that are decided are
	other.page.Wait(fmt.Sprintf("Array.from(document.querySelectorAll('.tile')).some((t) => t.photo.name === %q)",
		one.Name))
	if now := other.look(); now.Heading != "mango" ||
		!slices.ContainsFunc(now.Tiles, func(t tile) bool { return t.Name == one.Name && t.Sure == "by you" }) {
		t.Errorf("the other browser shows %+v, not %s as mango", now, one.Name)
	}
	if said := other.rename("grape"); said != "rename mango to grape" {
		t.Errorf("renaming says %q", said)
	}
	other.settles()
	other.page.Click("#lead-tools button:nth-child(2)")
	other.page.Wait("document.getElementById('ask').open")
	other.page.Eval(fmt.Sprintf("document.getElementById('into').value = %q", known[1]), nil)
	other.click("#ask-yes")
	named[known[1]]++
	p.has("after renaming and merging", named)

	// Two classes of three photos do not tell what is unknown; most of their photos do.
	if now := p.open("unknown", "Unknown"); len(now.Groups) > 0 {
		t.Errorf("photos look unknown after three decisions: %+v", now)
	}
	for _, class := range known {
		for _, id := range s.open(truth, class) {
			s.decide(id, class)
			named[class]++
		}
	}
	s.wait(func(st servedStatus) bool { return !st.NoThreshold && !st.Refit.Running })
	p.settles()

	// A group of unknown photos, without the first, is named in one step, while the
	// other is typing the name of another group.
	now := p.open("unknown", "Unknown")
	if len(now.Groups) < 2 {
		t.Fatalf("not two groups: %+v", now)
	}
	g, late := now.Groups[0], other.open("unknown", "Unknown").Groups[1]
	other.page.Click(late.Name + " input")
	other.page.Press("d", "a", "t")
	p.page.Click(fmt.Sprintf(".group:has(%s) .member", g.Name))
	p.page.Click(g.Name + " input")
	said := p.name("quince")
	if got := p.counted("quince"); got != p.number(g.Title)-1 || said != fmt.Sprintf("label %d photos quince", got) {
		t.Errorf("of a group of %s %d are quince; the page said %q", g.Title, got, said)
	}
	named["quince"] = p.counted("quince")
	p.settles()
	for p.look().Groups[0].Name == late.Name { // the groups that are computed after that have other names
		p.page.Wait(fmt.Sprintf("document.querySelector('.group') && !document.querySelector(%q)", late.Name))
	}
	other.press("e", "Shift+Enter")
	named["date"] = other.number(late.Title)
	p.has("after naming a group that has been replaced", named)
	other.press("Control+z")
	delete(named, "date")

	p.acceptsOnlyKnown(s, named)
	if said := p.click("#save"); said != "The model is saved." || !l.Exists(l.Path("m.model")) {
		t.Errorf("saving says %q", said)
	}
}

// TestServeHands: photos are selected with the mouse, and a photo is dropped on the
// page; with a finger on a narrow screen one is opened and named.
func TestServeHands(t *testing.T) {
	l := commandtest.New(t)
	truth := drawn(l, l.Path("photos"), 8, "kiwi", "lime", "plum")
	s := serve(l, 24, l.Path("m.model"), "--images", l.Path("photos"))
	p := s.sit(truth)
	selected := func(n int, by string) {
		t.Helper()
		if got := p.look().Chosen; got != fmt.Sprintf("%d photos selected", n) {
			t.Errorf("after selecting %d photos %s the page says %q", n, by, got)
		}
	}
	files := func() (names []string) {
		for _, t := range p.look().Tiles {
			names = append(names, t.Name)
		}
		return names
	}
	p.settles()
	seen := files()
	p.page.Drag(on(seen[1]), on(seen[4]))
	selected(4, "by dragging")
	p.page.Press("Escape")
	p.page.Click(on(seen[2]))
	p.page.ClickWithShift(on(seen[6]))
	selected(5, "with Shift")
	p.choose(seen[3])
	selected(4, "and leaving one out")
	p.name("plum")
	p.has("of a selection", map[string]int{"plum": 4})
	p.settles()

	// A label that was decided is corrected by typing another.
	p.openClass("plum")
	p.page.Press("End") // where those that are decided are
	if one := p.current(); one.What != "plum" || one.Sure != "by you" {
		t.Errorf("the last photo of a class is %+v", one)
	}
	if said := p.name("kiwi"); said != "label a photo kiwi" {
		t.Errorf("typing over a label says %q", said)
	}
	p.has("after typing over one", map[string]int{"plum": 3, "kiwi": 1})
	p.settles()

	// All like one.
	p.open("check", "To check")
	p.page.Press("+")
	p.page.Wait("document.getElementById('heading').textContent === 'Similar photos'")
	p.settles()
	n := p.number(p.look().Chosen)
	if said := p.name("lime"); n < 2 || said != fmt.Sprintf("label %d photos lime", n) {
		t.Errorf("of %d photos alike: %s", n, said)
	}
	p.has("all like one", map[string]int{"plum": 3, "kiwi": 1, "lime": n})
	p.press("Control+z")
	p.page.Press("Escape")
	p.settles()

	l.Write(l.Path("dropped.jpg"), commandtest.Photo("lime", 100, 32))
	p.page.Drop("#scroller", l.Path("dropped.jpg"))
	p.page.Wait("document.getElementById('heading').textContent === 'Similar to dropped.jpg'")
	p.settles()
	if first := p.look().Tiles[0].Name; truth[first] != "lime" {
		t.Errorf("the photo most like a lime is %s", first)
	}

	p.page.View(390, 844, false)
	p.settles()
	tiles := p.look().Tiles // of those like the dropped photo, some have been named plum
	one := tiles[slices.IndexFunc(tiles, func(t tile) bool { return t.Sure != "by you" })].Name
	p.page.Tap(on(one))
	p.page.Tap(on(one))
	p.page.Wait(fmt.Sprintf("document.getElementById('photo').open && "+
		"document.getElementById('photo-name').textContent === %q", one))
	p.page.Tap("#photo-naming input")
	p.hears(func() { p.page.Press("l", "i", "m", "e", "Enter") })
	p.has("with a finger", map[string]int{"plum": 3, "kiwi": 1, "lime": 1})
	p.page.Tap("#photo-close")
	p.page.Wait("!document.getElementById('photo').open")
}

// TestServeReturns: on the page a person goes back to a point of the history, which
// another sees, undoes that, and has a photo forgotten.
func TestServeReturns(t *testing.T) {
	l := commandtest.New(t)
	truth := drawn(l, l.Path("photos"), 8, "kiwi", "lime")
	s := serve(l, 16, l.Path("m.model"), "--images", l.Path("photos"))
	p, other := s.sit(truth), s.sit(truth)
	teach := func(n int) (now map[string]int) {
		for range n {
			p.settles()
			p.name("kiwi")
			p.settles()
			p.name("lime")
		}
		now = map[string]int{}
		for _, row := range p.exported() {
			now[row[1]]++
		}
		return now
	}
	saved := teach(2)
	p.click("#save")
	now := teach(1)

	p.page.Press("<")
	p.page.Wait("document.querySelectorAll('#history-list > li').length > 1")
	p.page.Eval("[...document.querySelectorAll('#history-list > li')].find((e) => e.textContent.includes(' · saved · "+
		"')).querySelector('button').id = 'there'", nil)
	said := p.click("#there")
	if !strings.HasPrefix(said, "Everything is as after line ") {
		t.Errorf("going back says %q", said)
	}
	p.has("after going back", saved)
	other.page.Wait("document.getElementById('quality').textContent.startsWith('4 decided')")
	if said := other.press("Control+z"); !strings.HasPrefix(said, "Undone: go back to line ") {
		t.Errorf("undo says %q", said)
	}
	p.has("after undoing that", now)

	p.openClass("kiwi")
	p.page.Press("End")
	one := p.current()
	p.page.Click(on(one.Name) + " .tick")
	p.page.Click("#forget")
	p.page.Wait("document.getElementById('ask').open")
	p.page.Click("#ask-yes")
	p.page.Wait("document.getElementById('ask-title').textContent === '1 photo forgotten'")
	var answer string
	p.page.Eval("document.getElementById('ask-body').textContent", &answer)
	for _, left := range []string{"the files themselves", "pipeline doctor", "what browsers keep"} {
		if !strings.Contains(answer, left) {
			t.Errorf("forgetting says %q, nothing of %q", answer, left)
		}
	}
	now["kiwi"]--
	p.has("after forgetting one", now)
	id := fmt.Sprintf("%x", sha256.Sum256(l.Read(l.Path("photos", one.Name))))
	if strings.Contains(string(l.Read(l.Path("m.model.journal"))), id) {
		t.Error("the journal still names the photo")
	}
}

// counted returns how many photos the exported table gives a class.
func (p *person) counted(class string) (n int) {
	p.Helper()
	for _, row := range p.exported() {
		if row[1] == class {
			n++
		}
	}
	return n
}

// number returns the number that a text begins with.
func (p *person) number(text string) (n int) {
	p.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		p.Fatalf("%q: %v", text, err)
	}
	return n
}
