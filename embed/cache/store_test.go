package cache

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func key(i int) Hash { return HashOf([]byte(contentOf(i))) }

func row(i int) []float32 { return expected(contentOf(i)) }

func mustStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := OpenStore(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fill stores rows from…to-1 and closes the store.
func fill(t testing.TB, dir string, from, to int) {
	t.Helper()
	s := mustStore(t, dir)
	put(t, s, from, to)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, s *Store, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := s.Put(key(i), row(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// hits counts the rows 0…n-1 that are stored, and checks that they are right.
func hits(t testing.TB, s *Store, n int) int {
	t.Helper()
	found := 0
	for i := range n {
		v, ok := s.Get(key(i))
		if !ok {
			continue
		}
		if !slices.Equal(v, row(i)) {
			t.Fatalf("row %d: wrong values %v", i, v)
		}
		found++
	}
	return found
}

func files(t testing.TB, dir, ext string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStoreRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "store")
	fill(t, dir, 0, 10)
	fill(t, dir, 5, 15) // 5…9 are already stored
	s := mustStore(t, dir)
	if s.Len() != 15 || s.Dim() != fakeDim || hits(t, s, 20) != 15 {
		t.Fatalf("%d rows of %d, %d hits", s.Len(), s.Dim(), hits(t, s, 20))
	}
	if got := files(t, dir, ".key"); len(got) != 1 {
		t.Fatalf("an unlocked shard is not reused: %q", got)
	}
	if err := s.Put(key(30), []float32{1}); err == nil || !strings.Contains(err.Error(), "size 1") {
		t.Errorf("other dimension: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "000001.vec")); err != nil {
		t.Error(err)
	}
}

// TestStoreNotFinite: a row that is not finite is a miss, and a later Put
// replaces it.
func TestStoreNotFinite(t *testing.T) {
	dir := t.TempDir()
	s := mustStore(t, dir)
	if err := s.Put(key(0), []float32{1, 2, float32(math.NaN()), 4, 5}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if v, hit := s.Get(key(0)); hit {
			t.Fatalf("hit: %v", v)
		}
	}
	put(t, s, 0, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s := mustStore(t, dir); hits(t, s, 1) != 1 {
		t.Error("the row computed again was not stored")
	}
}

func TestStoreStartsNewShards(t *testing.T) {
	dir := t.TempDir()
	s := mustStore(t, dir)
	s.shardBytes = 3 * int64(rowBytes(fakeDim))
	put(t, s, 0, 10)
	if hits(t, s, 10) != 10 {
		t.Fatal("own rows")
	}
	s.Close()
	if got := files(t, dir, ".vec"); len(got) != 4 {
		t.Fatalf("%q", got)
	}
	if s := mustStore(t, dir); hits(t, s, 10) != 10 {
		t.Fatal("after reopening")
	}
}

func TestStoreTwoWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := mustStore(t, dir), mustStore(t, dir)
	var both sync.WaitGroup
	both.Go(func() { put(t, a, 0, 60) })
	both.Go(func() { put(t, b, 40, 100) })
	both.Wait()
	if got := files(t, dir, ".key"); len(got) != 2 {
		t.Fatalf("each writer needs its own shard: %q", got)
	}
	a.Close()
	b.Close()
	if s := mustStore(t, dir); s.Len() != 100 || hits(t, s, 100) != 100 {
		t.Fatal(s.Len())
	}
}

// A writer that opens a shard after another process appended to it must also
// find those rows.
func TestStoreTakesOverRowsOfOthers(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 0, 3)
	late := mustStore(t, dir)
	fill(t, dir, 3, 6)
	put(t, late, 6, 7)
	if hits(t, late, 10) != 7 {
		t.Fatal(hits(t, late, 10))
	}
	late.Close()
	if s := mustStore(t, dir); s.Len() != 7 || hits(t, s, 10) != 7 {
		t.Fatal(s.Len())
	}
}

func TestStoreOtherDimensionIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 0, 3)
	other := t.TempDir()
	s := mustStore(t, other)
	if err := s.Put(key(0), make([]float32, fakeDim+1)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, ext := range []string{".key", ".vec"} {
		if err := os.Rename(filepath.Join(other, "000001"+ext), filepath.Join(dir, "000002"+ext)); err != nil {
			t.Fatal(err)
		}
	}
	held, err := lockSlot(dir, "000001") // so that the writer takes the second
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	w := mustStore(t, dir)
	put(t, w, 3, 4)
	if hits(t, w, 4) != 4 || len(files(t, dir, ".key")) != 3 {
		t.Fatalf("%d hits, %q", hits(t, w, 4), files(t, dir, ".key"))
	}
}

// everyField is a step that meets each field of a record (4 bytes or more).
const everyField = 4

// damage calls check for every kind of damage at every field of a file of a
// store, each time on a fresh copy.
func damage(t *testing.T, ext string, check func(dir, what string)) {
	t.Helper()
	origin := t.TempDir()
	fill(t, origin, 0, 2)
	name := "000001" + ext
	whole, err := os.ReadFile(filepath.Join(origin, name))
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, content []byte) {
		dir := t.TempDir()
		for _, e := range []string{".key", ".vec"} {
			b, err := os.ReadFile(filepath.Join(origin, "000001"+e))
			if err != nil {
				t.Fatal(err)
			}
			if e == ext {
				b = content
			}
			if err := os.WriteFile(filepath.Join(dir, "000001"+e), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		check(dir, what)
	}
	for at := 1; at < len(whole); at += everyField {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 0x40
		try(fmt.Sprintf("%s: byte %d flipped", ext, at), flipped)
		try(fmt.Sprintf("%s: cut to %d", ext, at), whole[:at])
	}
	try(ext+": tail added", append(bytes.Clone(whole), 1, 2, 3))
	try(ext+": zeros added", append(bytes.Clone(whole), make([]byte, 200)...))
	try(ext+": all zero", make([]byte, len(whole)))
	try(ext+": empty", nil)
}

func TestStoreHealsAnyDamage(t *testing.T) {
	for _, ext := range []string{".key", ".vec"} {
		damage(t, ext, func(dir, what string) {
			s := mustStore(t, dir)
			hits(t, s, 2) // right or missing, never wrong
			put(t, s, 0, 4)
			if got := hits(t, s, 4); got != 4 {
				t.Fatalf("%s: %d of 4 after putting them again", what, got)
			}
			s.Close()
			again := mustStore(t, dir)
			if got := hits(t, again, 4); got != 4 {
				t.Fatalf("%s: %d of 4 after reopening", what, got)
			}
			again.Close()
		})
	}
}

func TestStoreCountsAndLogsDamage(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 0, 4)
	vec := filepath.Join(dir, "000001.vec")
	b, err := os.ReadFile(vec)
	if err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if err := os.WriteFile(vec, b, 0o644); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	s, err := OpenStore(dir, slog.New(slog.NewTextHandler(&text, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if hits(t, s, 4) != 3 || s.Damaged() != 1 || !strings.Contains(text.String(), "damaged row") {
		t.Fatalf("%d damaged, log %q", s.Damaged(), &text)
	}
}

func TestStoreKeepsOtherVersions(t *testing.T) {
	for _, version := range []byte{recordVersion - 1, recordVersion + 1} {
		dir := t.TempDir()
		fill(t, dir, 0, 2)
		path := filepath.Join(dir, "000001.key")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head := keyFormat().header(fakeDim)
		head[8] = version
		sum := checksum(head[:recordHeaderBytes-checksumBytes])
		head[28], head[29], head[30], head[31] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
		other := append(head, b[recordHeaderBytes:]...)
		if err := os.WriteFile(path, other, 0o644); err != nil {
			t.Fatal(err)
		}
		fill(t, dir, 0, 2)
		if got, _ := os.ReadFile(path); !bytes.Equal(got, other) {
			t.Fatalf("a file of version %d was changed", version)
		}
		if s := mustStore(t, dir); hits(t, s, 2) != 2 {
			t.Fatalf("not stored next to version %d", version)
		}
	}
}

func TestStoreClosed(t *testing.T) {
	s := mustStore(t, t.TempDir())
	put(t, s, 0, 1)
	s.Close()
	if err := s.Put(key(1), row(1)); err == nil {
		t.Error("Put after Close")
	}
	if _, ok := s.Get(key(0)); ok {
		t.Error("Get after Close")
	}
}

func TestHash(t *testing.T) {
	h := HashOf([]byte("abc"))
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if h.String() != want {
		t.Error(h)
	}
	if a, b := (Namespace{"a", "bc"}).key(), (Namespace{"ab", "c"}).key(); a == b || len(a) != 32 {
		t.Error(a, b)
	}
}

func FuzzOpenShard(f *testing.F) {
	dir := f.TempDir()
	fill(f, dir, 0, 3)
	keys, err := os.ReadFile(filepath.Join(dir, "000001.key"))
	if err != nil {
		f.Fatal(err)
	}
	vec, err := os.ReadFile(filepath.Join(dir, "000001.vec"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(keys, vec)
	f.Add(keys[:len(keys)-1], vec)
	f.Add(keyFormat().header(1<<31), []byte{1})
	f.Add(keyFormat().header(0), []byte{})
	f.Fuzz(func(t *testing.T, keys, vec []byte) {
		dir := t.TempDir()
		for ext, b := range map[string][]byte{".key": keys, ".vec": vec} {
			if err := os.WriteFile(filepath.Join(dir, "000001"+ext), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := mustStore(t, dir)
		known := s.Len()
		for h := range s.rows {
			s.Get(h)
		}
		err := s.Put(key(9), row(9))
		if other := known > 0 && s.Dim() != fakeDim; (err != nil) != other {
			t.Fatalf("dimension %d: %v", s.Dim(), err)
		}
		if _, ok := s.Get(key(9)); !ok && err == nil {
			t.Fatal("not there after Put")
		}
		s.Close()
	})
}

func BenchmarkStoreLoad(b *testing.B) {
	const n, d = 50_000, 640
	dir := b.TempDir()
	s := mustStore(b, dir)
	v := make([]float32, d)
	for i := range n {
		v[0] = float32(i)
		if err := s.Put(key(i), v); err != nil {
			b.Fatal(err)
		}
	}
	s.Close()
	keys := make([]Hash, n)
	for i := range keys {
		keys[i] = key(i)
	}
	b.Run("n=50000_d=640", func(b *testing.B) {
		b.SetBytes(n * d * 4)
		for b.Loop() {
			s := mustStore(b, dir)
			for _, k := range keys {
				if _, ok := s.Get(k); !ok {
					b.Fatal("miss")
				}
			}
			s.Close()
		}
	})
}
