package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

var duplicatesView = aspect{"duplicates", "document.querySelector('[data-view=duplicates]').click()",
	"document.querySelectorAll('.captioned').length > 0 && " +
		"document.getElementById('heading').textContent === 'Near-duplicates' && " + settled}

func (s *standIn) duplicates(w http.ResponseWriter, r *http.Request) {
	limit := 100
	out, total := []map[string]any{}, 0
	for i := 0; i < len(s.photos); i += 7 {
		left, open := []*shot{}, false
		for _, p := range s.moment(s.photos[i]) {
			if p.by != "ignored" {
				left, open = append(left, p), open || p.by == "" || p.by == "folder"
			}
		}
		if len(left) < 2 || !open || !strings.Contains(left[0].name, r.FormValue("q")) {
			continue
		}
		if total++; total <= limit {
			out = append(out, map[string]any{"size": len(left), "images": s.all(left)})
		}
	}
	alike, levels := 0.84, []map[string]any{}
	if asked, err := strconv.ParseFloat(r.FormValue("alike"), 64); err == nil {
		alike = asked
	}
	for k := range 10 { // the more alike, the fewer
		levels = append(levels, map[string]any{"alike": 0.8 + 0.02*float64(k), "groups": max(total-k, 0),
			"photos": 3 * max(total-k, 0)})
	}
	answer(w, map[string]any{"groups": out, "total": total, "revision": s.seq, "computing": false, "alike": alike,
		"levels": levels})
}

// arrange stops the arrangement of the map, or ends it.
func (s *standIn) arrange(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Arrange bool }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if s.stopped = !asked.Arrange; asked.Arrange {
		s.places++
	}
	answer(w, map[string]any{"status": s.status()})
	s.seq++
	close(s.news)
	s.news = make(chan struct{})
}

// TestDuplicatesOnThePage: of a group one photo is kept, or all but those left out get a name;
// one can be seen photo by photo; what is decided is a group no longer.
func TestDuplicatesOnThePage(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	fresh(p, url, duplicatesView)
	groups := func() int { return evaluate[int](p, "document.querySelectorAll('.captioned').length") }
	n := groups()
	if n != 23 {
		t.Fatalf("%d groups", n)
	}
	counts := "document.getElementById('alike-counts').textContent"
	if got := evaluate[string](p, counts); got != fmt.Sprintf("84 %%: %d groups, %d photos", n-2, 3*(n-2)) {
		t.Errorf("the slider says %q", got)
	}
	p.Eval("document.getElementById('alike').focus()", nil)
	p.Press("ArrowRight")
	p.Wait(counts + ".startsWith('86 %: ') && document.querySelectorAll('.captioned').length > 0 && " + settled)
	p.Click(".captioned li:nth-child(2) > button:last-child")
	expectChange(t, p, s, "one is kept", "ignore 2")
	if got := s.kept; got != s.photos[1].id {
		t.Errorf("they are copies of %q", got)
	}
	if s.photos[1].by == "ignored" || s.photos[0].by != "ignored" || s.photos[2].by != "ignored" {
		t.Error("another photo than the second one is kept")
	}
	p.Wait(settled)
	if left := groups(); left != n-1 {
		t.Errorf("%d groups are left of %d", left, n)
	}

	p.Click(".captioned .member")
	p.Click(".captioned input")
	p.Press("o", "t", "t", "e", "r", "Enter")
	expectChange(t, p, s, "the others are named", "label 2 otter")
	if s.photos[7].label == "otter" || s.photos[8].label != "otter" || s.photos[9].label != "otter" {
		t.Error("other photos than the second and third one are named")
	}
	p.Wait(settled)

	p.Click(".captioned .row > button")
	p.Wait("document.querySelectorAll('.tile').length === 3 && document.activeElement.id === 'grid'")
	p.Press("f", "o", "x", "Enter")
	expectChange(t, p, s, "one photo", "label 1 fox")
	p.Press("Escape")
	p.Wait("document.getElementById('heading').textContent === 'Near-duplicates' && " +
		"document.querySelectorAll('.captioned').length > 0 && " + settled)
	p.Press("x")
	p.Wait("document.getElementById('said').textContent.includes('Go to a group first')")
}

// TestArrangementIsStopped: the map says how far its arrangement is, and it can be stopped and
// begun again; then the points are elsewhere.
func TestArrangementIsStopped(t *testing.T) {
	s, url := newStandIn(t, 60, true)
	s.places = 1
	p := browse(t, url)
	fresh(p, url, mapView)
	button := "document.getElementById('map-arrange')"
	p.Wait(button + ".textContent === 'Stop arranging (40 %)'")
	p.Click("#map-arrange")
	p.Wait(button + ".textContent === 'Arrange by likeness' && !" + button + ".hidden && " + settled)
	p.Click("#map-arrange")
	p.Wait(button + ".hidden && " + settled)
	p.Press("Control+a")
	p.Wait("document.getElementById('chosen').textContent === '60 photos selected'")
}
