package serve_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// moment returns the photos taken at the moment of one: of seven that follow each other, the
// first three.
func (s *standIn) moment(one *shot) []*shot {
	at := slices.Index(s.photos, one)
	if at%7 > 2 {
		return []*shot{one}
	}
	return s.photos[at-at%7 : min(len(s.photos), at-at%7+3)]
}

func (s *standIn) event(one *shot) any {
	its := s.moment(one)
	if len(its) < 2 {
		return nil
	}
	open, classes := 0, []string{}
	for _, p := range its {
		if p.by == "" {
			open++
		}
		if name := s.predicted(p); !slices.Contains(classes, name) {
			classes = append(classes, name)
		}
	}
	return map[string]any{"photos": 1, "size": len(its), "open": open, "classes": classes, "best": one.id,
		"end": "2025-06-14T10:11:14+02:00"}
}

func (s *standIn) box(one *shot) any {
	if !s.boxed {
		return nil
	}
	at := slices.Index(s.moment(one), one)
	return map[string]any{"number": at + 1, "x": 0.3 * float64(at), "y": 0.2, "w": 0.28, "h": 0.5, "category": "animal",
		"confidence": 0.8}
}

func (s *standIn) boxes() any {
	if !s.boxed {
		return nil
	}
	return map[string]any{"photos": 100, "boxes": len(s.photos), "empty": 3, "unlisted": 1}
}

// TestBoxesAndEventsOnThePage: a tile stands for an event, is decided as a whole, and opens; a
// box is marked on its photo. At both widths axe-core finds nothing serious.
func TestBoxesAndEventsOnThePage(t *testing.T) {
	axe := testenv.Axe(t)
	s, url := newStandIn(t, 60, true)
	s.boxed = true
	p := browse(t, url)
	fresh(p, url, views[0])
	events := "document.querySelectorAll('.tile.event').length"
	p.Wait("document.activeElement.id === 'grid' && " + events + " > 0")
	look(t, p, "events", axe, true)
	n := evaluate[int](p, events)
	p.Click(".tile.event .what")
	p.Press("o", "t", "t", "e", "r", "Enter")
	p.Wait("window.said !== '' && " + settled)
	asked := strings.Join(s.changed(), "; ")
	of := map[*shot]int{}
	for _, one := range s.photos {
		if one.label == "otter" {
			of[s.moment(one)[0]]++
		}
	}
	if len(of) != 1 || asked != fmt.Sprintf("label %d otter", slices.Max(slices.Collect(maps.Values(of)))) {
		t.Errorf("%q: of %d events", asked, len(of))
	}
	if left := evaluate[int](p, events); left != n-1 {
		t.Errorf("%d events are left of %d", left, n)
	}

	p.Click(".tile.event .what")
	p.Press("Alt+Enter")
	p.Wait("document.getElementById('heading').textContent === 'An event' && " +
		"document.querySelectorAll('.tile').length === 3 && document.activeElement.id === 'grid' && " + settled)
	p.Press("Alt+Enter")
	p.Wait("document.querySelectorAll('#photo-boxes rect.marked').length === 1 && " +
		"document.querySelectorAll('#photo-boxes text').length === 3")
	p.View(390, 844, true)
	look(t, p, "box-390", axe, true)
	p.View(1280, 800, false)
	look(t, p, "box", axe, false)
	p.Press("Escape", "Escape")
	p.Wait("document.getElementById('heading').textContent === 'To check' && " + settled)
}
