package photos

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
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
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to)); err != nil {
			t.Fatal(err)
		}
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
		"of an older format":     {func(cache string) string { ofVersion(l, cache, 0); return cache }, true},
		"of a newer format":      {func(cache string) string { ofVersion(l, cache, 2); return cache }, true},
		"of other preprocessing": {func(cache string) string { ofOtherPixels(l, cache); return cache }, true},
	} {
		cache := l.Path("cache", name)
		if err := os.CopyFS(cache, os.DirFS(filled)); err != nil {
			t.Fatal(err)
		}
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

// ofVersion changes the version in the headers of a cache's files.
func ofVersion(l *commandtest.Bed, cache string, version uint32) {
	l.Helper()
	changed := 0
	for file, content := range l.Tree(cache) {
		if ext := filepath.Ext(file); ext != ".key" && ext != ".idx" {
			continue
		}
		header := []byte(content[:32])
		binary.LittleEndian.PutUint32(header[8:], version)
		binary.LittleEndian.PutUint32(header[28:], crc32.Checksum(header[:28], crc32.MakeTable(crc32.Castagnoli)))
		l.Write(filepath.Join(cache, file), append(header, content[32:]...))
		changed++
	}
	if changed != 2 {
		l.Fatalf("%d files of the cache have a header, want one of keys and one of paths", changed)
	}
}

// ofOtherPixels moves the embeddings to where other preprocessing would store
// them.
func ofOtherPixels(l *commandtest.Bed, cache string) {
	l.Helper()
	folders, err := filepath.Glob(filepath.Join(cache, "embeddings", "*"))
	if err != nil || len(folders) != 1 {
		l.Fatalf("%v, %q", err, folders)
	}
	if err := os.Rename(folders[0], filepath.Join(cache, "embeddings", strings.Repeat("0", 32))); err != nil {
		l.Fatal(err)
	}
}
