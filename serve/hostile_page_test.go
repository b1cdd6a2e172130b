package serve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// hostileNames are of classes and photos; %s is the address of a foreign server.
var hostileNames = []string{
	`<img src=%s/1 onerror=hacked()>`, `"><script src=%s/2></script>`, `' onmouseover='hacked()' x='`,
	"${hacked()}{{hacked()}}<%%= hacked() %%>", `</bdi></button></title><iframe src=%s/3>`,
	"\u202egnp.exe \u2066\u2067",
	"__proto__", "constructor", "new\nline\ttab\x1b[2J", strings.Repeat("long", 2500), strings.Repeat("\u0300", 300),
	`url(%s/4)`, `<style>@import "%s/5"; * { display: none }</style>`, `javascript:hacked()`,
}

// TestHostileNamesOnThePage: classes and photos with such names run no script, make no element, ask no other server
// and fit the screen: narrow in every view and dialog, wide in every view.
func TestHostileNamesOnThePage(t *testing.T) {
	var foreign atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { foreign.Add(1) }))
	defer other.Close()
	s, url := newStandIn(t, few, true)
	s.nameHostile(other.URL)
	p := browse(t, url)
	p.Eval("window.hacked = () => { window.hackedBy = true }", nil)
	all := slices.Concat([]aspect{mapView, duplicatesView}, views, questions, dialogs)
	for width, shown := range map[int][]aspect{390: all, 1280: all[:2+len(views)]} {
		p.View(width, 844, false)
		for _, a := range shown {
			a.show(p)
			name := fmt.Sprintf("%s, %d", a.name, width)
			look(t, p, name, "", false)
			for what, expression := range map[string]string{
				"elements of names": `Array.from(document.querySelectorAll("iframe, style, [onerror], [onmouseover], ` +
					`body script, a[href^='javascript:' i], img")).filter((e) => e.localName !== "img" || ` +
					`e.src && !e.src.startsWith(location.origin + "/v1/")).map((e) => e.outerHTML.slice(0, 99))`,
				"requests elsewhere": `performance.getEntriesByType("resource").map((e) => e.name)` +
					`.filter((u) => !u.startsWith(location.origin) && !u.startsWith("blob:"))`,
				"dialogs off the screen": `Array.from(document.querySelectorAll("dialog[open]"))` +
					`.map((d) => [d.id, d.getBoundingClientRect()]).filter(([, r]) => r.left < 0 || ` +
					`r.right > innerWidth || r.bottom > innerHeight + 1).map((found) => JSON.stringify(found))`,
				"wider than their dialog": `Array.from(document.querySelectorAll("dialog[open]"))` +
					`.filter((d) => d.scrollWidth > d.clientWidth).map((d) => d.id)`,
				"scripts that ran": `window.hackedBy ? ["hacked"] : []`,
			} {
				if found := evaluate[[]string](p, expression); len(found) > 0 {
					t.Errorf("%s: %s: %q", name, what, found)
				}
			}
		}
		if n := evaluate[int](p, `document.querySelectorAll("#class-list button").length`); n != len(s.classes) {
			t.Errorf("%d of %d classes are listed", n, len(s.classes))
		}
	}
	if n := foreign.Load(); n > 0 {
		t.Errorf("%d requests to another server", n)
	}
}

// nameHostile gives all classes but one, and the photos, such names.
func (s *standIn) nameHostile(address string) {
	names := make([]string, len(hostileNames))
	for i, name := range hostileNames {
		names[i] = strings.ReplaceAll(strings.ReplaceAll(name, "%s", address), "%%", "%")
	}
	renamed := map[string]string{}
	for i, class := range s.classes {
		if class != "brick-wall" && i < len(names) { // the dialog about spellings needs it
			renamed[class] = names[i]
			s.classes[i] = names[i]
		}
	}
	slices.Sort(s.classes)
	for i, p := range s.photos {
		p.name = fmt.Sprintf("%05d %s.jpg", i, names[i%len(names)])
		for _, at := range []*string{&p.truth, &p.label} {
			if to, ok := renamed[*at]; ok {
				*at = to
			}
		}
	}
}
