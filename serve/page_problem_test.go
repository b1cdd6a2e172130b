package serve_test

import (
	"strings"
	"testing"
)

// TestProblemIsShown: what is wrong stays on the page until it is mended, a save that
// fails leaves everything unsaved, and it can be repeated.
func TestProblemIsShown(t *testing.T) {
	s, url := newStandIn(t, 20, true)
	p := browse(t, url)
	p.Press("Enter")
	p.Wait("document.getElementById('save').textContent === 'Save (1)'")
	p.Eval("window.said = ''", nil)
	const full = "save model photos.model: no space left on device"
	s.has(full)
	p.Wait("!document.getElementById('problem').hidden")
	if got := evaluate[string](p, "document.getElementById('problem').textContent"); got != full {
		t.Errorf("the page shows %q", got)
	}
	p.Eval("document.getElementById('save').click()", nil)
	p.Wait("window.said.includes('no space')")
	got := evaluate[string](p, "window.said + document.getElementById('save').textContent")
	if !strings.Contains(got, full) || !strings.HasSuffix(got, "Save (1)") {
		t.Errorf("after a save that failed the page shows %q", got)
	}
	s.has(nil)
	p.Wait("document.getElementById('problem').hidden")
	p.Eval("document.getElementById('save').click()", nil)
	p.Wait("document.getElementById('save').textContent === 'Saved' && document.getElementById('save').disabled")
	s.has("m.model.journal is gone")
	p.Wait("document.getElementById('save').textContent === 'Save' && !document.getElementById('save').disabled")
}

// TestLateAnswerHidesNoProblem: news of the same revision that came before a late answer
// is not replaced by it.
func TestLateAnswerHidesNoProblem(t *testing.T) {
	s, url := newStandIn(t, 20, true)
	p := browse(t, url)
	p.Press("Enter")
	p.Wait("document.getElementById('save').textContent === 'Save (1)'")
	answered := s.answersLate()
	p.Eval("window.said = ''; document.getElementById('save').click()", nil)
	p.Wait("document.getElementById('save').textContent === 'Saved'")
	s.has("m.model.journal is gone")
	p.Wait("!document.getElementById('problem').hidden")
	<-answered
	p.Wait("window.said !== ''")
	if got := evaluate[string](p, "document.getElementById('problem').textContent"); got != "m.model.journal is gone" {
		t.Errorf("after the late answer the page says %q", got)
	}
}
