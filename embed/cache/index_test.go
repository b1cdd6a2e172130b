package cache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func mustIndex(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := openIndex(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func stateNo(i int) FileState {
	return FileState{Size: int64(i), MtimeNs: int64(i)*1_000_000_007 + 1, Inode: uint64(i) << 40}
}

func pathNo(i int) string { return fmt.Sprintf("/photos/%d.jpg", i) }

func note(t testing.TB, x *Index, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := x.record(pathNo(i), stateNo(i), key(i)); err != nil {
			t.Fatal(err)
		}
	}
}

func found(t testing.TB, x *Index, n int) int {
	t.Helper()
	count := 0
	for i := range n {
		h, ok := x.lookup(pathNo(i), stateNo(i))
		if ok && h != key(i) {
			t.Fatalf("path %d: wrong hash", i)
		}
		if ok {
			count++
		}
	}
	return count
}

func TestIndexRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	x := mustIndex(t, dir)
	note(t, x, 0, 5)
	other := mustIndex(t, dir) // at the same time: a second file
	note(t, other, 5, 9)
	x.Close()
	other.Close()
	x = mustIndex(t, dir)
	if got := found(t, x, 20); got != 9 || x.Len() != 9 {
		t.Fatal(got, x.Len())
	}
	for name, changed := range map[string]FileState{
		"size": {4, stateNo(3).MtimeNs, stateNo(3).Inode}, "mtime": {3, 9, stateNo(3).Inode},
		"inode": {3, stateNo(3).MtimeNs, 9},
	} {
		if _, ok := x.lookup(pathNo(3), changed); ok {
			t.Errorf("changed %s: still trusted", name)
		}
	}
}

func TestIndexNewestWinsAcrossFiles(t *testing.T) {
	dir := t.TempDir()
	first, second := mustIndex(t, dir), mustIndex(t, dir)
	note(t, first, 0, 1) // 000001
	note(t, second, 1, 2)
	clock := time.Unix(1000, 0)
	first.now = func() time.Time { return clock.Add(time.Hour) }
	second.now = func() time.Time { return clock }
	if err := second.record("/p", stateNo(2), key(2)); err != nil {
		t.Fatal(err)
	}
	if err := first.record("/p", stateNo(3), key(3)); err != nil {
		t.Fatal(err)
	}
	first.Close()
	second.Close()
	if h, ok := mustIndex(t, dir).lookup("/p", stateNo(3)); !ok || h != key(3) {
		t.Fatal("an older entry won")
	}
}

func TestIndexRacilyClean(t *testing.T) {
	now := time.Unix(5000, 500_000_000)
	x := mustIndex(t, t.TempDir())
	x.now = func() time.Time { return now }
	for age, trusted := range map[time.Duration]bool{
		5 * time.Millisecond: false, 30 * time.Millisecond: true, 500 * time.Millisecond: false, /* whole second */
		-time.Hour:              false,
		2500 * time.Millisecond: true,
	} {
		s := FileState{MtimeNs: now.Add(-age).UnixNano()}
		if err := x.record(age.String(), s, key(0)); err != nil {
			t.Fatal(err)
		}
		if _, ok := x.lookup(age.String(), s); ok != trusted {
			t.Errorf("modified %v ago: trusted %v", age, ok)
		}
	}
}

func TestIndexCompacts(t *testing.T) {
	dir := t.TempDir()
	x := mustIndex(t, dir)
	for i := range staleRecords + 100 {
		if err := x.record("/same", stateNo(i), key(i)); err != nil {
			t.Fatal(err)
		}
	}
	note(t, x, 0, 3)
	x.Close()
	busy := mustIndex(t, dir) // another writer: compaction has to wait
	held, err := lockSlot(dir, "000001")
	if err != nil {
		t.Fatal(err)
	}
	note(t, busy, 3, 4)
	held.Close()
	busy.Close()
	if got := files(t, dir, ".idx"); len(got) != 2 {
		t.Fatalf("compacted under another writer: %q", got)
	}
	x = mustIndex(t, dir)
	note(t, x, 4, 5)
	x.Close()
	var size int64
	for _, f := range files(t, dir, ".idx") {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 1000 {
		t.Errorf("%d bytes for 6 paths", size)
	}
	x = mustIndex(t, dir)
	if _, ok := x.lookup("/same", stateNo(staleRecords+99)); !ok || found(t, x, 10) != 5 {
		t.Error("entries lost")
	}
}

func TestIndexHealsAnyDamage(t *testing.T) {
	origin := t.TempDir()
	x := mustIndex(t, origin)
	note(t, x, 0, 2)
	x.Close()
	whole, err := os.ReadFile(filepath.Join(origin, "000001.idx"))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += everyField {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1
		for what, content := range map[string][]byte{"flipped": flipped, "cut": whole[:at]} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "000001.idx"), content, 0o644); err != nil {
				t.Fatal(err)
			}
			x := mustIndex(t, dir)
			found(t, x, 2)
			note(t, x, 0, 4)
			x.Close()
			if got := found(t, mustIndex(t, dir), 4); got != 4 {
				t.Fatalf("%s at %d: %d of 4", what, at, got)
			}
		}
	}
}

func FuzzOpenIndex(f *testing.F) {
	dir := f.TempDir()
	x := mustIndex(f, dir)
	note(f, x, 0, 2)
	x.Close()
	b, err := os.ReadFile(filepath.Join(dir, "000001.idx"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add(indexFormat().header(7))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "000001.idx"), content, 0o644); err != nil {
			t.Fatal(err)
		}
		x := mustIndex(t, dir)
		found(t, x, 2)
		note(t, x, 5, 7)
		x.Close()
		again := mustIndex(t, dir)
		if h, ok := again.lookup(pathNo(5), stateNo(5)); !ok || h != key(5) {
			t.Fatal("not there after Record")
		}
	})
}

// TestIndexWhenTheClockGoesBack: a file that changed is read once more and then
// known, even if the clock was set back.
func TestIndexWhenTheClockGoesBack(t *testing.T) {
	dir := t.TempDir()
	clock := time.Unix(1_000_000, 500_000_000)
	for i, went := range []time.Duration{0, -24 * time.Hour, -48 * time.Hour, time.Hour} {
		x := mustIndex(t, dir)
		x.now = func() time.Time { return clock.Add(went) }
		if _, ok := x.lookup("/p", stateNo(i+1)); ok {
			t.Fatalf("clock %v: the new state is known before it was read", went)
		}
		if err := x.record("/p", stateNo(i+1), key(i+1)); err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		x = mustIndex(t, dir)
		if h, ok := x.lookup("/p", stateNo(i+1)); !ok || h != key(i+1) {
			t.Errorf("clock %v: the newest entry is not the one that counts", went)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
