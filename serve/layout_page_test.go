package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// viewports are those of phones, of a laptop whose browser zooms to 200 %, of a small laptop and of a desk.
var viewports = [][2]int{{320, 568}, {390, 844}, {844, 390}, {640, 400}, {1024, 600}, {1280, 800}}

// inSight is how much of the tallest photo in sight is seen, in shares of it: of a tile, of a member of a group, of
// the map or of the large photo.
const inSight = `Math.max(0, ...Array.from(document.querySelectorAll(
	document.getElementById("photo").open ? ".picture" : ".tile, .member img, #map-canvas"))
	.filter((e) => e.checkVisibility()).map((e) => {
		const box = e.getBoundingClientRect();
		const within = document.getElementById("photo").open ? {top: 0, bottom: innerHeight}
			: document.getElementById("scroller").getBoundingClientRect();
		return (Math.min(box.bottom, within.bottom, innerHeight) - Math.max(box.top, within.top, 0)) / box.height;
	}))`

// TestEveryViewport: in every view and dialog and every window a whole photo is in sight, no text is cut off for ever,
// and all can be reached. Names are long.
func TestEveryViewport(t *testing.T) {
	s, url := newStandIn(t, few, true)
	long := "a bird of the high mountains whose name is longer than any button " + s.classes[1]
	for _, one := range s.photos {
		if one.label == s.classes[1] {
			one.label = long
		}
		if one.truth == s.classes[1] {
			one.truth = long
		}
	}
	s.classes[1] = long
	s.found = []string{"expect about 88 % of photos like these to be named correctly (from 40 left-out images); " +
		"guessing names 8 %", "confused most: fox named dog (3 of 9)"}
	s.wrong = map[string]any{"expected": 13.6, "low": 8.2, "high": 19.1, "of": 200}
	s.has("save model photos.model: no space left on device: remove something, then press Save")
	p := browse(t, url)
	for _, size := range viewports {
		p.View(size[0], size[1], false)
		for _, a := range slices.Concat([]aspect{mapView, duplicatesView}, views, questions, dialogs) {
			a.show(p)
			name := fmt.Sprintf("%s at %d×%d", a.name, size[0], size[1])
			if shots := os.Getenv("PAGE_SHOTS"); shots != "" {
				write(t, filepath.Join(shots, strings.ReplaceAll(name, " ", "-")+".png"), p.Screenshot())
			}
			behind := slices.Concat(questions, dialogs[1:])
			photos := !slices.ContainsFunc(behind, func(d aspect) bool { return d.name == a.name })
			if share := evaluate[float64](p, inSight); photos && share < 0.99 {
				t.Errorf("%s: %.0f %% of a photo is in sight", name, 100*share)
			}
			if over := evaluate[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s is %d pixels too wide", name, over)
			}
			if cut := p.Cut(); len(cut) > 0 {
				t.Errorf("%s:\n%s", name, strings.Join(cut[:min(6, len(cut))], "\n"))
			}
		}
	}
}
