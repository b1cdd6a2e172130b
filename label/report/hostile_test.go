package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/label/metrics"
)

func hostileNames() []string {
	return []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</style><script>`,
		`javascript:alert(1)`, "`${alert(1)}`", `a&amp;b &lt;`, "\xff\xfe\x80", "new\nline\ttab\x00nul",
		"\u202egnp.exe",
		`{{.Page}}`, `--></script><!--`, `]]>`, "日本語 und Ümläute", "\U000e0001tag", strings.Repeat("long", 500), "",
	}
}

// namePage returns a page with one name in every place that takes a name.
func namePage(name string) Page {
	q := sample(name, name, name+"x", 0.9, false)
	q.TopK = []classifier.Ranked{{Label: name, Probability: 0.9}, {Label: name + "y", Probability: 0.1}}
	full := 1.0
	return Page{
		Title: name, Subtitle: name, Notes: []string{name},
		Classes:     []Class{{Name: name, New: true}, {Name: name + "x"}},
		Predictions: []Prediction{q, sample(name, name, "", 0.1, true), sample(name, name, name, 0.5, false)},
		Evaluation: &metrics.Report{
			N: 2, Classes: []string{name, name + "x"}, Confusion: [][]int{{1, 1}, {0, 0}},
			PerClass: []metrics.Class{{Name: name, N: 2, Accuracy: &full}, {Name: name + "x"}},
		},
		Errors: []Failure{{name, name}}, Skipped: []Skip{{name, 1}}, Settings: []Setting{{name, name}},
		Summary: Summary{Backbone: name, Method: name},
	}
}

// checkInert checks that a name is shown and did not change the structure of
// the page.
func checkInert(t *testing.T, name string) {
	t.Helper()
	all := parse(t, render(t, namePage(name)))
	plain := parse(t, render(t, namePage("plain")))
	if name != "" && name != "plain" && len(all) != len(plain) {
		t.Errorf("%q makes %d elements, a plain name %d", name, len(all), len(plain))
	}
	if n := len(named(all, "script")); n != 1 {
		t.Errorf("%q: %d scripts", name, n)
	}
	for _, e := range all {
		for a := range e.attrs {
			if strings.HasPrefix(a, "on") {
				t.Errorf("%q: event handler %s on %s", name, a, e.name)
			}
		}
	}
	for _, c := range cards(all) {
		if got := c.attrs["data-path"]; got != showName(name) {
			t.Errorf("path %q is shown as %q, want %q", name, got, showName(name))
		}
	}
}

func TestHostileNamesAreInert(t *testing.T) {
	for _, name := range hostileNames() {
		checkInert(t, name)
	}
}

// TestHostileNamesInABrowser: a report with all such names, one of them of 10 000 characters, runs no script of them,
// asks for nothing and is no wider than a narrow screen, nor than a wide one.
func TestHostileNamesInABrowser(t *testing.T) {
	all := namePage("plain")
	for _, name := range append(hostileNames(), strings.Repeat("long", 2500), "__proto__", "<img src=//[::1]/>") {
		one := namePage(name)
		all.Notes, all.Classes = append(all.Notes, name), append(all.Classes, one.Classes...)
		all.Predictions, all.Errors = append(all.Predictions, one.Predictions...), append(all.Errors, one.Errors...)
		all.Settings = append(all.Settings, one.Settings...)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	must.Do(t, os.WriteFile(file, []byte(render(t, all)), 0o600))
	p := testenv.Open(t, "file://"+filepath.ToSlash(file))
	for _, width := range []int{1280, 390} {
		p.View(width, 844, false)
		var found []string
		p.Eval(`[...performance.getEntriesByType("resource").map((e) => e.name).filter((u) => !u.startsWith("data:")),
			...Array.from(document.querySelectorAll("iframe, body img[src]:not([src^='data:']), [onerror], [onmouseover]"))
				.map((e) => e.outerHTML.slice(0, 99)),
			...(document.documentElement.scrollWidth > innerWidth ? ["too wide"] : [])]`, &found)
		if len(found) > 0 {
			t.Errorf("%d pixels: %q", width, found)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range hostileNames() {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) { checkInert(t, name) })
}

func TestShowName(t *testing.T) {
	for in, want := range map[string]string{
		"a b.jpg": "a b.jpg", "\xffx": "%FFx", "é": "é", "\u202eexe": `\u202eexe`, "a\nb": `a\u000ab`,
		"\U000e0001": `\U000e0001`, "�": "�", "": "",
	} {
		if got := showName(in); got != want {
			t.Errorf("showName(%q) = %q, want %q", in, got, want)
		}
	}
}
