package serve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

func text(p *testenv.Page, id string) string {
	return evaluate[string](p, fmt.Sprintf("document.getElementById(%q).innerText", id))
}

// TestPageLeads: the page opens where work pays, says why and what training found, and what labels look wrong; that
// ends with the first decision.
func TestPageLeads(t *testing.T) {
	s, url := newStandIn(t, few, true)
	s.advised = [2]string{"suspicious", ""}
	s.found = []string{"expect about 88 % of photos like these to be named correctly",
		"taken for another: fig for kiwi"}
	s.wrong = map[string]any{"expected": 13.6, "low": 8.2, "high": 19.1, "of": 200}
	p := browse(t, url)
	p.Wait("document.getElementById('heading').textContent === 'Maybe mislabelled'")
	p.Wait("document.getElementById('untimed').textContent.includes(" +
		"'about 14 of 200 labels are wrong, between 8 and 20')")
	for _, want := range []string{"Expect about 88 % of photos", "Taken for another: fig for kiwi",
		"Name more."} {
		if got := text(p, "brief"); !strings.Contains(got, want) {
			t.Errorf("what the page found is %q: %q is missing", got, want)
		}
	}
	p.Press("0")
	expectChange(t, p, s, "keep", "label 1 "+s.classes[0])
	p.Wait("document.getElementById('brief').hidden")

	s.advises("unknown", "")
	p.Go(url)
	p.Wait("document.querySelectorAll('.group').length > 0 && document.activeElement.id === 'main'")
}

// TestNothingLeftIsTrue: while labels look wrong, nobody is told that nothing is left.
func TestNothingLeftIsTrue(t *testing.T) {
	s, url := newStandIn(t, 40, true)
	for _, one := range s.photos {
		one.label, one.by = s.predicted(one), "folder"
	}
	s.wrong = map[string]any{"expected": 3.0, "low": 1.2, "high": 5.0, "of": 40}
	p := testenv.Open(t, url)
	p.Wait("document.getElementById('quality').textContent !== ''")
	p.Click("[data-view=check]")
	p.Wait("!document.getElementById('empty').hidden")
	if got := text(p, "empty"); !strings.Contains(got, "about 3 of them are wrong") {
		t.Errorf("the page says %q", got)
	}
}

// TestReadingSaysHowLong: how many of how many photos are read, and once the speed is known how long the rest
// takes.
func TestReadingSaysHowLong(t *testing.T) {
	_, url := newStandIn(t, 12, true)
	p := browse(t, url)
	got := evaluate[[]string](p, `import("./reading.js").then(({ reading }) => {
		const at = (embedded, now) => reading({ found: 1000, embedded, failed: 0, scanning: true }, now);
		return [at(100, 0), at(150, 1000), at(400, 30000), at(500, 400000),
			reading({ found: 1000, embedded: 999, failed: 1, scanning: false }, 500000)];
	})`)
	want := []string{"100 of 1,000 photos read", "150 of 1,000 photos read",
		"400 of 1,000 photos read, about 60 s left",
		"500 of 1,000 photos read, about 8 min left", ""}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// TestGroupsAreHandled: a group says what the model calls it, is set aside by key and by mouse, and is split in two;
// a key that is about no group says so.
func TestGroupsAreHandled(t *testing.T) {
	s, url := newStandIn(t, few, true)
	s.called = s.classes[0]
	p := browse(t, url)
	p.Click("[data-view=unknown]")
	p.Wait("document.querySelectorAll('.group').length > 1")
	if got := evaluate[string](p, "document.querySelector('.group .called').textContent"); !strings.Contains(got,
		"the model calls them "+s.classes[0]) {
		t.Errorf("the group says %q", got)
	}
	p.Press("-")
	p.Wait("window.said.includes('Go to a group first')")
	p.Eval("window.said = ''; document.querySelector('.group .member').focus()", nil)
	size := "parseInt(document.querySelector('.group h3').textContent)"
	n := evaluate[int](p, size)
	p.Press("-")
	expectChange(t, p, s, "a group by key", fmt.Sprintf("ignore %d", n))

	p.Wait(settled)
	n = evaluate[int](p, size)
	p.Click(".group .member")
	p.Click(".group .row button:last-child")
	p.Wait("document.activeElement.closest('.group') === document.querySelectorAll('.group')[1]")
	p.Press("k", "i", "w", "i", "Shift+Enter")
	expectChange(t, p, s, "what was split off", "label 1 kiwi")
	p.Wait(settled)
	if left := evaluate[int](p, size); left != n-1 {
		t.Errorf("%d photos are left of the group of %d", left, n)
	}
}

// TestAdviceHasARow: at 1280 pixels the footer has one row, and what the advice leads to stands in that of the advice.
func TestAdviceHasARow(t *testing.T) {
	s, url := newStandIn(t, few, true)
	s.found = []string{"expect 88 % of the labels by the model to be right, between 70 and 95 %",
		"not measured: check twenty drawn at random",
		"taken for another: apple for pear (3 of 10 left out; 6 to 66 %), fig for kiwi (2 of 9 left out; 3 to 61 %)"}
	p := browse(t, url)
	s.advises("unknown", "")
	p.Wait("!document.getElementById('follow').hidden")
	if high := evaluate[float64](p, "document.getElementById('status').getBoundingClientRect().height"); high > 48 {
		t.Errorf("the footer is %.0f pixels high", high)
	}
	if !evaluate[bool](p, "((a, b) => b.top < a.bottom && b.bottom > a.top)("+
		"document.getElementById('advice').getBoundingClientRect(), "+
		"document.getElementById('follow').getBoundingClientRect())") {
		t.Error("“Go there” stands in another row than the advice")
	}
}

// TestPhotosHaveHalf: on phones and at 400 % zoom of a window of 1280 × 1024 (WCAG 1.4.10) nothing is scrolled sideways
// to see the page, and the photos have half of the window or more.
func TestPhotosHaveHalf(t *testing.T) {
	s, url := newStandIn(t, few, true)
	s.advised = [2]string{"accept", ""}
	s.found = []string{"expect about 88 % of photos like these to be named correctly"}
	p := browse(t, url)
	for _, size := range [][2]int{{390, 844}, {320, 568}, {320, 256}} {
		p.View(size[0], size[1], false)
		for _, a := range []aspect{views[0], views[1], views[3]} {
			a.show(p)
			p.Eval("scrollTo(0, 0)", nil)
			seen := evaluate[float64](p, "((box) => (Math.min(innerHeight, box.bottom) - box.top) / innerHeight)("+
				"document.getElementById('scroller').getBoundingClientRect())")
			if seen < 0.5 {
				t.Errorf("%s at %d×%d: photos have %.0f %% of the height", a.name, size[0], size[1], 100*seen)
			}
			if over := evaluate[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s at %d×%d is %d pixels too wide", a.name, size[0], size[1], over)
			}
		}
	}
}
