package serve_test

import "testing"

// TestWordsOnThePage: Enter in the search box finds photos by words, over what typing has
// found by name; Esc goes back.
func TestWordsOnThePage(t *testing.T) {
	_, url := newStandIn(t, few, true)
	p := browse(t, url)
	p.Click("#search [name=q]")
	p.Press("f", "o", "x", "Enter")
	p.Wait("document.getElementById('heading').textContent === 'Like “fox”' && " +
		"document.querySelectorAll('.tile').length > 5")
	p.Press("Escape")
	p.Wait("document.getElementById('heading').textContent === 'To check'")
}
