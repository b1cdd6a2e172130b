package photos

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestCacheElsewhereAndOlder: whatever has happened to a cache or to the clock,
// the labels are those of a run without a cache, what still fits the photos, the
// backbone and the format is used, and nothing that was stored is lost.
func TestCacheElsewhereAndOlder(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	const n = 12
	images, filled, want := l.Photos(l.Path("photos"), commandtest.SmallSide, n/2, "kiwi", "lime"), l.Path("filled"),
		l.Path("want")
	args := func(out string) []string { return []string{"label", model, "--images", images, "--out", out} }
	if r := l.RunWith(filled, args(want)...); r.Code != command.ExitDone {
		t.Fatal(r.Stderr)
	}
	move := func(from, to string) {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to)))
	}
	future, past := time.Now().AddDate(50, 0, 0), time.Unix(0, 0)
	for name, c := range map[string]struct {
		change func(cache string) (now string) // returns where it is then
		lost   bool                            // whether its embeddings do not fit
	}{
		"unchanged": {func(cache string) string { return cache }, false},
		"moved": {func(cache string) string {
			move(cache, l.Path("else/where"))
			return l.Path("else/where")
		}, false},
		"of the future":          {func(cache string) string { l.SetTimes(cache, future); return cache }, false},
		"of 1970":                {func(cache string) string { l.SetTimes(cache, past); return cache }, false},
		"with photos of 1970":    {func(cache string) string { l.SetTimes(images, past); return cache }, false},
		"with photos to come":    {func(cache string) string { l.SetTimes(images, future); return cache }, false},
		"of 0.2":                 {func(cache string) string { ofOldVersion(l, cache); return cache }, true},
		"of a newer format":      {func(cache string) string { ofNewVersion(l, cache); return cache }, true},
		"of other preprocessing": {func(cache string) string { ofOtherPixels(l, images, cache); return cache }, true},
	} {
		cache := l.Path("cache", name)
		must.Do(t, os.CopyFS(cache, os.DirFS(filled)))
		cache = c.change(cache)
		before := l.Tree(cache)
		for round := range 2 {
			out := l.Path(name, string(rune('1'+round)))
			if r := l.RunWith(cache, args(out)...); r.Code != command.ExitDone {
				t.Fatalf("%s: %s", name, r.Stderr)
			}
			l.Same(name, l.Read(want, "labels.csv"), filepath.Join(out, "labels.csv"))
			inferred := 0
			if c.lost && round == 0 {
				inferred = n
			}
			if got := l.Timing(out, "inferred"); got != inferred {
				t.Errorf("a cache %s, run %d: %d of %d inferred, want %d", name, round+1, got, n, inferred)
			}
		}
		after := l.Tree(cache)
		for file, content := range before {
			if !strings.HasPrefix(after[file], content) {
				t.Errorf("a cache %s: something is missing in %s", name, file)
			}
		}
	}
}

// ofOldVersion makes a cache one of version 0.2.
func ofOldVersion(l *commandtest.Bed, cache string) {
	l.Helper()
	kept := filepath.Join(testenv.ModuleRoot(l.TB), "embedding", "cache", "testdata", "kept", "0.2")
	must.Do(l, errors.Join(os.RemoveAll(cache), os.CopyFS(cache, os.DirFS(kept))))
}

// ofNewVersion changes the version in the names of a cache's tables.
func ofNewVersion(l *commandtest.Bed, cache string) {
	l.Helper()
	changed := 0
	for file, content := range l.Tree(cache) {
		if strings.Contains(content, "rows 1") {
			changed++
		}
		for _, table := range []string{"keys ", "paths ", "rows "} {
			content = strings.ReplaceAll(content, table+"1", table+"2")
		}
		l.Write(filepath.Join(cache, file), []byte(content))
	}
	if changed != 1 {
		l.Fatalf("%d files of the cache have tables, want one", changed)
	}
}

// ofOtherPixels makes a cache one of other preprocessing.
func ofOtherPixels(l *commandtest.Bed, images, cache string) {
	l.Helper()
	must.Do(l, os.RemoveAll(cache))
	r := l.RunWith(cache, "embed", "--images", images, "--out", l.Path("squeezed"), "--set", "preprocess.view=squeeze")
	if r.Code != command.ExitDone {
		l.Fatal(r.Stderr)
	}
}
