package serve_test

import (
	"net/url"
	"strings"
	"testing"
)

// TestFilterIsSeen: what the filter selects stands above the photos with how many match, accepting many keeps to it,
// and it is taken away by a click; the panel closes with Escape and with a click elsewhere.
func TestFilterIsSeen(t *testing.T) {
	s, address := newStandIn(t, few, true)
	p := browse(t, address)
	const open = "document.querySelector('#search details').open"
	p.Click("#search summary")
	p.Wait(open)
	p.Press("Escape")
	p.Wait("!" + open)
	p.Click("#search summary")
	p.Click("#title")
	p.Wait("!" + open)
	p.Eval("document.querySelector('#search [name=folder]').value = 'cam1'; "+
		"document.querySelector('#search [name=q]').value = 'IMG'; "+
		"document.querySelector('#search').dispatchEvent(new Event('input', {bubbles: true}))", nil)
	p.Wait("!document.getElementById('chips').hidden && document.querySelectorAll('#chips button').length === 3")
	total := evaluate[string](p, "document.querySelector('.tile').getAttribute('aria-setsize')")
	if got := text(p, "chips"); !strings.Contains(got, "Folder: cam1") || !strings.Contains(got, total+" photos") {
		t.Errorf("the filter says %q of %s photos", got, total)
	}
	p.Click("#bulk")
	p.Wait("document.getElementById('outlook')?.textContent.includes('Nobody has checked')")
	if got := text(p, "ask-body"); !strings.Contains(got, "of the filter (Name IMG, Folder cam1)") {
		t.Errorf("accepting many says %q", got)
	}
	p.Click("#ask-yes")
	expectChange(t, p, s, "accept many", "accept 0")
	s.mu.Lock()
	within, _ := url.ParseQuery(s.within)
	s.mu.Unlock()
	if within.Get("folder") != "cam1" || within.Get("q") != "IMG" {
		t.Errorf("what is accepted is selected by %q", within)
	}
	p.Click("#chips button")
	p.Wait("document.querySelectorAll('#chips button').length === 2")
	p.Click("#chips button:last-child")
	p.Wait("document.getElementById('chips').hidden")
}

// TestSetAsideIsFound: what was set aside is a class of its own, from which it is taken back; classes can be in the
// order of their size.
func TestSetAsideIsFound(t *testing.T) {
	s, address := newStandIn(t, few, true)
	s.damaged = []string{"cam1/<b>cut.jpg"}
	p := browse(t, address)
	p.Press("-")
	expectChange(t, p, s, "not usable", "ignore 1")
	p.Click("[data-view=class]")
	p.Wait(views[3].there + " && document.querySelector('#class-list .aside')")
	sizes := "Array.from(document.querySelectorAll('#class-list button:not(.aside) small'), (e) => +e.textContent)"
	p.Click("#class-order")
	if !evaluate[bool](p, sizes+".every((n, i, all) => i === 0 || n <= all[i - 1])") {
		t.Errorf("by size classes have %v photos", evaluate[[]int](p, sizes))
	}
	p.Click("#class-list .aside")
	p.Wait("document.getElementById('heading').textContent === 'Not usable' && " +
		"document.querySelectorAll('.tile').length === 1 && document.activeElement.id === 'grid'")
	p.Press("Delete")
	expectChange(t, p, s, "taken back", "unlabel 1")
	p.Wait("document.querySelector('#class-list .aside').dataset.name === 'Unreadable' && " + settled)

	// So are files that are no photos, with the reason; and a class shows what is taken for another.
	p.Click("#class-list .aside")
	p.Wait("document.getElementById('heading').textContent === 'Unreadable' && " +
		"document.getElementById('unreadable').innerText.includes('cam1/<b>cut.jpg unexpected EOF')")
	p.Click("#class-list button:not(.aside)")
	p.Wait("document.getElementById('unreadable').hidden && document.querySelector('.tile')")
	p.Click("[data-view=class]")
	p.Wait("Array.from(document.querySelectorAll('#class-list button')).some((e) => e.dataset.name === '" +
		s.classes[0] + "')")
	p.Eval("Array.from(document.querySelectorAll('#class-list button')).find((e) => e.dataset.name === '"+
		s.classes[0]+"').click()", nil)
	taken := "Array.from(document.querySelectorAll('#lead-tools button')).find((e) => e.textContent === 'Taken for " +
		s.classes[1] + "')"
	p.Wait(taken)
	p.Eval(taken+".click()", nil)
	p.Wait("document.getElementById('chips').textContent.includes('Taken for: " + s.classes[1] + "') && " + settled)
	s.mu.Lock()
	listed, _ := url.ParseQuery(s.listed)
	s.mu.Unlock()
	if listed.Get("taken") != s.classes[1] || listed.Get("of") != s.classes[0] && listed.Get("class") != s.classes[0] {
		t.Errorf("what is taken for another class is asked for by %v", listed)
	}
}
