package serving

import "slices"

// acceptsOnlyKnown sees that unknown photos are not accepted, however probable a class is.
// When some have a name, those like them are known and accepted, and that is undone. named
// counts the labels, and then has the new ones as well.
func (p *person) acceptsOnlyKnown(s *served, named map[string]int) {
	p.Helper()
	fitted := func() { s.wait(func(st servedStatus) bool { return !st.Refit.Running }) }
	strange := p.open("unknown", "Unknown").Groups[0].Files
	p.open("check", "To check")
	fitted()
	if p.acceptsMany() {
		for _, row := range p.exported() {
			if slices.Contains(strange, row[0]) {
				p.Errorf("%s looks unknown and was accepted as %s", row[0], row[1])
			}
		}
		p.press("Control+z")
	}
	p.open("unknown", "Unknown")
	p.page.Click(".group .row > button")
	p.page.Wait("document.getElementById('heading').textContent === 'A group of unknown photos'")
	for range 3 {
		p.settles()
		class := p.truth[p.current().Name]
		p.name(class)
		named[class]++
	}
	p.open("check", "To check")
	fitted() // a photo that is sure now may not be then
	if !p.acceptsMany() {
		p.Error("nothing could be accepted")
	}
	p.press("Control+z")
	p.has("after accepting and undoing", named)
}
