package serve_test

import (
	"fmt"
	"testing"
)

// TestMapOnThePage: what is encircled, by the mouse or with the keys alone, is selected and
// decided as elsewhere; every way to colour has a legend; the selected photos can be seen.
func TestMapOnThePage(t *testing.T) {
	s, url := newStandIn(t, 158, true)
	p := browse(t, url)
	fresh(p, url, mapView)
	p.Wait("document.activeElement.id === 'map-canvas'")
	selected := func() (n int) {
		return evaluate[int](p, "!document.getElementById('act').hidden && "+
			"parseInt(document.getElementById('chosen').textContent) || 0")
	}

	p.Click("#map-lasso")
	p.Draw("#map-canvas", [2]float64{0.5, 0}, [2]float64{0.99, 0}, [2]float64{0.99, 0.99}, [2]float64{0.5, 0.99})
	half := selected()
	p.Press("Control+a")
	if all := selected(); half == 0 || half >= all || all != 158 {
		t.Errorf("a lasso around the right half selects %d of %d photos", half, all)
	}
	p.Press("Escape")
	for _, way := range []string{"decision", "doubt", "time", "class"} {
		p.Eval(fmt.Sprintf("{ const by = document.getElementById('map-by'); by.value = %q; "+
			"by.dispatchEvent(new Event('change', {bubbles: true})); }", way), nil)
		if n := evaluate[int](p, "document.querySelectorAll('#map-legend button').length"); n < 2 {
			t.Errorf("%s: %d colours", way, n)
		}
		if !evaluate[bool](p, "((all) => new Set(all).size === all.length)(Array.from("+
			"document.querySelectorAll('#map-legend i'), (e) => e.style.background))") {
			t.Errorf("%s: two entries have one colour", way)
		}
	}

	// The middle is between the heaps of four classes: the keys go into one of them.
	p.Press("ArrowLeft", "ArrowUp", "ArrowLeft", "ArrowUp", "ArrowLeft")
	p.Wait("!document.getElementById('map-tip').hidden && document.querySelector('#map-tip img').naturalWidth > 0")
	at := evaluate[string](p, "document.getElementById('map-at').textContent")
	p.Press("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowUp", "Shift+ArrowUp")
	n := selected()
	if n < 2 || at == "" {
		t.Fatalf("the keys select %d photos; at the cross is %q", n, at)
	}
	p.Press("o", "t", "t", "e", "r", "Enter")
	expectChange(t, p, s, "the rectangle", fmt.Sprintf("label %d otter", n))
	truths := map[string]bool{}
	for _, one := range s.photos {
		if one.label == "otter" && one.by == "person" {
			truths[one.truth] = true
		}
	}
	if len(truths) != 1 {
		t.Errorf("a rectangle within a heap has photos of %v", truths)
	}
	p.Wait(settled)
	if left := selected(); left != 0 {
		t.Errorf("%d photos are still selected", left)
	}

	p.Press("Control+a")
	n = selected()
	p.Click("#map-open")
	p.Wait(fmt.Sprintf("document.querySelector('.tile')?.getAttribute('aria-setsize') === '%d' && "+
		"document.activeElement.id === 'grid'", n))
	p.Press("Escape")
	p.Wait("document.getElementById('heading').textContent === 'Map' && document.activeElement.id === 'map-canvas'")
}
