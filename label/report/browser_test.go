package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestInBrowser uses the page in headless Chromium: the filters work, a
// confusion leads to its photos, tables sort, photos open large, links land,
// nothing is wider than a phone, and the content security policy lets no
// foreign script run.
func TestInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	seen := browse(t, samplePage())
	for name, want := range map[string]string{
		"start": "5", "wrong": "3", "rejected": "2", "groups": "1", "no choice of that name": "true", "emu": "1",
		"path":  "1",
		"shown": "1 of 5 shown", "pages": "none", "controls without a name": "0", "overflow": "0",
		"injected script ran": "false", "links that miss": "0",
		"worst first": "emu cat dog", "by name": "cat dog emu", "by images": "dog emu cat",
		"by images, reversed": "cat emu dog",
		"confused":            "1 emu labelled dog ×", "all again": "5", "of a class": "2",
		"large": "true e.jpg", "next photo": "d.jpg", "before the first": "e.jpg",
	} {
		if seen[name] != want {
			t.Errorf("%s: %q, want %q", name, seen[name], want)
		}
	}
}

// TestManyPicturesInBrowser: ten thousand cards are turned page by page.
func TestManyPicturesInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	p := manyPage(40, 250, 25)
	p.MaxThumbnails = 10_000
	seen := browse(t, p)
	for name, want := range map[string]string{
		"start": "200", "rejected": "200", "pages": "page 1 of 50, 200 shown", "next page": "page 2 of 50, 200 shown",
		"last page":       "page 50 of 50, 200 shown",
		"next at the end": "true", "one back": "page 49 of 50, 200 shown", "nothing matches": "0 none",
		"first again":             "page 1 of 50, 200 shown",
		"controls without a name": "0", "overflow": "0", "links that miss": "0",
	} {
		if seen[name] != want {
			t.Errorf("%s: %q, want %q", name, seen[name], want)
		}
	}
}

// browse opens the page with testdata/browser.html and returns the values that
// it logs.
func browse(t *testing.T, p Page) map[string]string {
	t.Helper()
	dir := t.TempDir()
	driver := must.Get(os.ReadFile("testdata/browser.html"))(t)
	for name, data := range map[string][]byte{"browser.html": driver, "page.html": []byte(render(t, p))} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	return readLog(testenv.Visit(t, "file://"+filepath.Join(dir, "browser.html")))
}

func readLog(dom string) map[string]string {
	seen := map[string]string{}
	_, log, _ := strings.Cut(dom, `<pre id="log">`)
	log, _, _ = strings.Cut(log, "</pre>")
	for line := range strings.Lines(log) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			seen[name] = value
		}
	}
	return seen
}
