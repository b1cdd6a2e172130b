package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// damagePhotos are enough for all tables to have several pages.
const damagePhotos = 1000

// wholeFile returns a database with each kind of page.
func wholeFile(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	fill(t, dir, 0, damagePhotos)
	b := must.Get(os.ReadFile(databases(t, dir)[0]))(t)
	kinds := map[uint16]int{}
	for page := range len(b) / pageBytes {
		kinds[binary.NativeEndian.Uint16(b[page*pageBytes+8:])]++
	}
	if kinds[branch] < 3 || kinds[leaf] < 8 || kinds[metaPage] != 2 {
		t.Fatalf("kinds of pages: %v", kinds)
	}
	return b
}

// survive opens a cache that has content as its file: what is found is right, what is missing
// can be stored, and then all is there, also when the file has been merged.
func survive(t testing.TB, content []byte) {
	t.Helper()
	const photos = 10
	dir := t.TempDir()
	place(t, dir, content)
	remember(t, dir, 0, photos)
	recall(t, dir, photos)
	for i := range mergeFrom {
		fill(t, dir, photos+i, photos+i+1)
	}
	recall(t, dir, photos+mergeFrom)
}

// place makes content the file of a cache.
func place(t testing.TB, dir string, content []byte) {
	t.Helper()
	file := filepath.Join(dir, "embeddings", "1"+extension)
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.Do(t, os.WriteFile(file, content, 0o600))
}

// read opens a cache, looks up some photos of each page, and copies all of it. Nothing that is
// found is wrong.
func read(t testing.TB, dir, what string) {
	t.Helper()
	c := must.Get(Open(dir, fakeNamespace(), nil))(t)
	for i := 0; i < damagePhotos; i += 25 {
		if v, ok := c.Get(key(i)); ok && !slices.Equal(v, row(i)) {
			t.Errorf("%s: wrong values", what)
		}
		if h, ok := c.Lookup(pathNo(i), stateNo(i)); ok && h != key(i) {
			t.Errorf("%s: wrong content", what)
		}
	}
	for _, f := range c.files {
		_ = f.copyTo(func(*batch) error { return nil }) // as far as it can
	}
	mustClose(t, c)
}

// changed calls read with some bytes of the file replaced, which is whole before and after.
func changed(t testing.TB, dir, what string, whole []byte, at int, by ...byte) {
	t.Helper()
	by = by[:min(len(by), len(whole)-at)]
	overwrite(t, dir, at, by)
	read(t, dir, what)
	if len(databases(t, dir)) == 0 { // it had nothing that could be found
		place(t, dir, whole)
		return
	}
	overwrite(t, dir, at, whole[at:at+len(by)])
}

func overwrite(t testing.TB, dir string, at int, by []byte) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "embeddings", "1"+extension), os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt(by, int64(at))
	}
	must.Do(t, errors.Join(err, f.Close()))
}

// used lists the pages that are or were in use.
func used(whole []byte) (pages []int) {
	for page := range len(whole) / pageBytes {
		if page < 2 || binary.NativeEndian.Uint64(whole[page*pageBytes:]) == uint64(page) {
			pages = append(pages, page)
		}
	}
	return pages
}

// TestDamagedFields: every byte that the database interprets is wrong in two ways.
func TestDamagedFields(t *testing.T) {
	if testing.Short() {
		t.Skip("it does everything in one goroutine")
	}
	whole, dir := wholeFile(t), t.TempDir()
	place(t, dir, whole)
	for _, page := range used(whole) {
		fields := headerBytes + 2*elementBytes
		if page < 2 {
			fields = headerBytes + 64 // of a first page
		}
		for at := page * pageBytes; at < page*pageBytes+fields; at++ {
			for _, change := range []byte{0x01, 0xff} {
				what := fmt.Sprintf("page %d, byte %d ^ %x", page, at%pageBytes, change)
				changed(t, dir, what, whole, at, whole[at]^change)
			}
		}
	}
}

// TestMisplacedPages: a page stands where another should, as it was or as if it belonged
// there; and each branch leads to each page, also back.
func TestMisplacedPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it does everything in one goroutine")
	}
	whole, dir := wholeFile(t), t.TempDir()
	place(t, dir, whole)
	for _, here := range used(whole) {
		head := whole[here*pageBytes:]
		for _, there := range used(whole) {
			page, as := bytes.Clone(whole[there*pageBytes:(there+1)*pageBytes]), number(here)
			changed(t, dir, fmt.Sprintf("page %d in place of %d", there, here), whole, here*pageBytes, page...)
			copy(page, as)
			changed(t, dir, fmt.Sprintf("page %d as %d", there, here), whole, here*pageBytes, page...)
			if here < 2 || binary.NativeEndian.Uint16(head[8:]) != branch {
				continue
			}
			for i := range int(binary.NativeEndian.Uint16(head[10:])) {
				at := here*pageBytes + headerBytes + i*elementBytes + 8
				changed(t, dir, fmt.Sprintf("page %d leads to %d", here, there), whole, at, number(there)...)
			}
		}
	}
}

func number(page int) []byte { return binary.NativeEndian.AppendUint64(nil, uint64(page)) }

// TestOtherFiles: what is cut, empty, extended, of zeros or of another program is found, and
// costs computing its embeddings again.
func TestOtherFiles(t *testing.T) {
	whole := wholeFile(t)
	for what, content := range map[string][]byte{
		"whole": whole, "empty": nil, "a byte": {1}, "text": []byte("dear diary"),
		"longer": append(bytes.Clone(whole), 1, 2, 3), "zeros": make([]byte, len(whole)),
		"half zero": append(bytes.Clone(whole[:len(whole)/2]), make([]byte, len(whole)/2)...),
		"ones":      bytes.Repeat([]byte{0xff}, len(whole)), "of 0.2": []byte("PLEMBKEY\x01\x00\x00\x00"),
		"two pages": whole[:2*pageBytes], "its second half": whole[len(whole)/2:],
	} {
		t.Run(what, func(t *testing.T) { survive(t, content) })
	}
	for size := pageBytes; size < len(whole); size += len(whole) / 8 {
		t.Run(fmt.Sprintf("cut to %d", size), func(t *testing.T) { survive(t, whole[:size]) })
	}
	for _, page := range used(whole) {
		content := bytes.Clone(whole)
		clear(content[page*pageBytes : (page+1)*pageBytes])
		t.Run(fmt.Sprintf("without page %d", page), func(t *testing.T) { survive(t, content) })
	}
}

// FuzzDamagedFile writes something into a database.
func FuzzDamagedFile(f *testing.F) {
	whole := wholeFile(f)
	f.Add(0, []byte{1})
	f.Add(3*pageBytes+8, []byte{1, 0, 255, 255})
	f.Add(4*pageBytes+headerBytes, bytes.Repeat([]byte{4, 0, 0, 0, 0, 0, 0, 0}, 20))
	f.Fuzz(func(t *testing.T, at int, by []byte) {
		dir := t.TempDir()
		place(t, dir, whole)
		changed(t, dir, "fuzzed", whole, max(0, at)%len(whole), by...)
	})
}
