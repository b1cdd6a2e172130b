package cache

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "cache")
	c := mustOpen(t, dir, nil)
	put(t, c, 0, 10)
	wantAll(t, "what is not written yet", c, 10)
	mustClose(t, c)
	fill(t, dir, 5, 15) // 5…9 are stored already
	wantAll(t, "two processes", mustOpen(t, dir, nil), 15)
	other := must.Get(Open(dir, Namespace{Extractor: "e", Preprocess: "other"}, nil))(t)
	if rows, paths := hits(t, other, 15); rows != 0 || paths != 15 {
		t.Errorf("other pixels: %d rows and %d paths", rows, paths)
	}
	mustClose(t, other)
}

// TestNothingIsMadeToRead: nor when what was stored cannot be stored.
func TestNothingIsMadeToRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	c := mustOpen(t, dir, nil)
	hits(t, c, 3)
	mustClose(t, c)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestChangedFilesAreNotTrusted(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 0, 4)
	c := mustOpen(t, dir, nil)
	was := stateNo(3)
	for name, changed := range map[string]FileState{
		"size": {4, was.MtimeNs, was.Inode, 0}, "mtime": {3, 9, was.Inode, 0}, "inode": {3, was.MtimeNs, 9, 0},
	} {
		if _, ok := c.Lookup(pathNo(3), changed); ok {
			t.Errorf("changed %s: still trusted", name)
		}
	}
	must.Do(t, c.Record(pathNo(3), stateNo(7), key(7)))
	for round := range 2 {
		if h, ok := c.Lookup(pathNo(3), stateNo(7)); !ok || h != key(7) {
			t.Errorf("round %d: the new state is not known", round)
		}
		mustClose(t, c)
		c = mustOpen(t, dir, nil)
	}
}

func TestRacilyClean(t *testing.T) {
	now := time.Unix(5000, 500_000_000)
	for age, want := range map[time.Duration]bool{
		5 * time.Millisecond: true, 30 * time.Millisecond: false, 500 * time.Millisecond: true, /* whole second */
		-time.Hour:              true,
		2500 * time.Millisecond: false,
	} {
		if got := racy(FileState{MtimeNs: now.Add(-age).UnixNano()}, now); got != want {
			t.Errorf("modified %v ago: %t", age, got)
		}
	}
	c := mustOpen(t, t.TempDir(), nil)
	state := FileState{MtimeNs: time.Now().Add(time.Hour).UnixNano()}
	must.Do(t, c.Record("/p", state, key(0)))
	if _, ok := c.Lookup("/p", state); ok {
		t.Error("a file of the future is trusted")
	}
}

// TestNotFinite: a row that is not finite is a miss.
func TestNotFinite(t *testing.T) {
	c := mustOpen(t, t.TempDir(), nil)
	must.Do(t, c.Put(key(0), []float32{1, 2, float32(math.NaN()), 4, 5}))
	if v, hit := c.Get(key(0)); hit {
		t.Fatalf("hit: %v", v)
	}
}

// TestTwoAtOnce: each writes a file of its own, and what one has flushed the other finds when
// it flushes.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := mustOpen(t, dir, nil), mustOpen(t, dir, nil)
	var both sync.WaitGroup
	both.Go(func() { put(t, a, 0, 60) })
	both.Go(func() { put(t, b, 40, 100) })
	both.Wait()
	must.Do(t, errors.Join(a.Flush(), b.Flush()))
	if n := len(databases(t, dir)); n != 2 {
		t.Errorf("%d files", n)
	}
	wantAll(t, "the second", b, 100)
	wantAll(t, "a third", mustOpen(t, dir, nil), 100)
	put(t, a, 100, 110)
	must.Do(t, a.Flush())
	wantAll(t, "the first", a, 110)
}

// TestBesideAWriter: a process that opens the cache while another writes finds what was there
// before, does not wait, and says nothing.
func TestBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 0, 5)
	writer := mustOpen(t, dir, nil)
	put(t, writer, 5, 8)
	writeNow(t, writer)
	var text bytes.Buffer
	c := mustOpen(t, dir, slog.New(slog.NewTextHandler(&text, nil)))
	wantAll(t, "beside a writer", c, 5)
	put(t, c, 5, 9)
	mustClose(t, c)
	mustClose(t, writer)
	wantAll(t, "after both", mustOpen(t, dir, nil), 9)
	if text.Len() > 0 {
		t.Errorf("it says %s", &text)
	}
}

// writeNow writes the group of a process that goes on.
func writeNow(t testing.TB, c *Cache) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	must.Do(t, c.write())
}

// TestMerge: however many processes store how little, there are few files, and what each
// stored last is found.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	const n = 50
	for i := range n {
		c := mustOpen(t, dir, nil)
		put(t, c, i, i+1)
		must.Do(t, c.Record("/same", stateNo(i), key(i)))
		mustClose(t, c)
		if files := len(databases(t, dir)); files >= mergeFrom {
			t.Fatalf("%d files after %d processes", files, i+1)
		}
	}
	c := mustOpen(t, dir, nil)
	wantAll(t, "merged", c, n)
	if h, ok := c.Lookup("/same", stateNo(n-1)); !ok || h != key(n-1) {
		t.Error("the last state is lost")
	}
}

// TestFullDatabases: a process goes on in another one.
func TestFullDatabases(t *testing.T) {
	dir := t.TempDir()
	c := mustOpen(t, dir, nil)
	c.full = 2 * pageBytes // one group is more
	for i := range 3 {
		c.mu.Lock()
		c.took = time.Hour // so that no group is due before it is whole
		c.mu.Unlock()
		put(t, c, i, i+1)
		writeNow(t, c)
	}
	wantAll(t, "written", c, 3)
	mustClose(t, c)
	if n := len(databases(t, dir)); n != 3 {
		t.Errorf("%d files", n)
	}
	wantAll(t, "opened", mustOpen(t, dir, nil), 3)
}

// TestMergeBesideOthers: those that have the files open go on reading.
func TestMergeBesideOthers(t *testing.T) {
	dir := t.TempDir()
	var readers []*Cache
	for i := range 2 * mergeFrom {
		fill(t, dir, i, i+1)
		readers = append(readers, mustOpen(t, dir, nil))
	}
	for i, c := range readers {
		wantAll(t, fmt.Sprintf("reader %d", i), c, i+1)
		if i%2 == 0 {
			put(t, c, 0, 1)
			mustFlush(t, c) // finds what has been merged
			wantAll(t, fmt.Sprintf("reader %d after its flush", i), c, len(readers))
		}
	}
}

// TestSaysOnce: what is left alone is named once, however often the cache is flushed.
func TestSaysOnce(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 0, 1)
	must.Do(t, os.WriteFile(databases(t, dir)[0], []byte("dear diary"), 0o600))
	said := logged(t, dir, func(c *Cache) {
		for i := range 3 {
			put(t, c, i, i+1)
			mustFlush(t, c)
		}
	})
	if n := strings.Count(said, "left alone"); n != 1 {
		t.Errorf("said %d times: %s", n, said)
	}
}

// TestMergeableLeavesTheLarge: a large file is not copied for a few small ones.
func TestMergeableLeavesTheLarge(t *testing.T) {
	sizes := func(mega ...int64) *Cache {
		c := &Cache{full: fullBytes}
		for _, m := range mega {
			c.files = append(c.files, &file{bytes: m << 20})
		}
		return c
	}
	for want, c := range map[int]*Cache{
		3: sizes(900, 1, 1, 1), 4: sizes(900, 1, 1, 1, 1), 6: sizes(900, 5, 4, 1, 1, 1, 1),
		10: sizes(520, 384, 192, 96, 48, 24, 12, 6, 3, 1, 1),
	} {
		if got := len(c.mergeable()); got != want {
			t.Errorf("%d of %d files, want %d", got, len(c.files), want)
		}
	}
}

// TestKilledBeforeItWrote: its file says nothing and goes.
func TestKilledBeforeItWrote(t *testing.T) {
	dir := t.TempDir()
	killed := must.Get(create(filepath.Join(dir, "embeddings")))(t)
	must.Do(t, killed.close())
	if said := remember(t, dir, 0, 1); said != "" || len(databases(t, dir)) != 1 {
		t.Errorf("%d files, %q", len(databases(t, dir)), said)
	}
}

func TestClosed(t *testing.T) {
	c := mustOpen(t, t.TempDir(), nil)
	put(t, c, 0, 1)
	mustClose(t, c)
	if err := c.Put(key(1), row(1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Put after Close: %v", err)
	}
	if rows, paths := hits(t, c, 1); rows+paths > 0 {
		t.Error("found after Close")
	}
	mustClose(t, c)
}

func TestHash(t *testing.T) {
	h := HashOf([]byte("abc"))
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if h.String() != want {
		t.Error(h)
	}
	if (Namespace{"a", "bc"}).key() == (Namespace{"ab", "c"}).key() {
		t.Error("two namespaces have one key")
	}
	_, err := Open(t.TempDir(), Namespace{Extractor: "e"}, nil)
	if err == nil || !strings.Contains(err.Error(), "fingerprints") {
		t.Error(err)
	}
}
