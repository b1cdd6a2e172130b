package cache

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

const fakeDim = 5

func contentOf(i int) string { return fmt.Sprintf("IMG %d", i) }

func key(i int) Hash { return HashOf([]byte(contentOf(i))) }

// row is a known function of a file's content.
func row(i int) []float32 {
	h := key(i)
	v := make([]float32, fakeDim)
	for j := range v {
		v[j] = 2*float32(h[j]) + 1
	}
	return v
}

func pathNo(i int) string { return fmt.Sprintf("/photos/%d.jpg", i) }

func stateNo(i int) FileState {
	return FileState{Size: int64(i), MtimeNs: int64(i)*1_000_000_007 + 1, Inode: uint64(i) << 40}
}

func fakeNamespace() Namespace { return Namespace{Extractor: "e", Preprocess: "p"} }

func mustOpen(t testing.TB, dir string, log *slog.Logger) *Cache {
	t.Helper()
	c := must.Get(Open(dir, fakeNamespace(), log))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// put stores the rows and the paths of photos from…to-1.
func put(t testing.TB, c *Cache, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		must.Do(t, c.Put(key(i), row(i)))
		must.Do(t, c.Record(pathNo(i), stateNo(i), key(i)))
	}
}

// fill is put by a process of its own.
func fill(t testing.TB, dir string, from, to int) {
	t.Helper()
	c := mustOpen(t, dir, nil)
	put(t, c, from, to)
	mustClose(t, c)
}

func mustClose(t testing.TB, c *Cache) {
	t.Helper()
	must.Do(t, c.Close())
}

func mustFlush(t testing.TB, c *Cache) {
	t.Helper()
	must.Do(t, c.Flush())
}

// hits counts the photos 0…n-1 whose rows are stored, and those whose paths are; what is
// found is right.
func hits(t testing.TB, c *Cache, n int) (rows, paths int) {
	t.Helper()
	for i := range n {
		if v, ok := c.Get(key(i)); ok {
			rows++
			if !slices.Equal(v, row(i)) {
				t.Fatalf("row %d: wrong values %v", i, v)
			}
		}
		if h, ok := c.Lookup(pathNo(i), stateNo(i)); ok {
			paths++
			if h != key(i) {
				t.Fatalf("path %d: wrong hash", i)
			}
		}
	}
	return rows, paths
}

// wantAll fails unless the photos 0…n-1 are stored and no others.
func wantAll(t testing.TB, what string, c *Cache, n int) {
	t.Helper()
	if rows, paths := hits(t, c, n+10); rows != n || paths != n {
		t.Fatalf("%s: %d rows and %d paths, want %d", what, rows, paths, n)
	}
}

// databases lists the files of a cache.
func databases(t testing.TB, dir string) []string {
	t.Helper()
	return must.Get(filepath.Glob(filepath.Join(dir, "embeddings", "*"+extension)))(t)
}

// logged uses a cache and returns what it logs.
func logged(t testing.TB, dir string, use func(c *Cache)) (said string) {
	t.Helper()
	var text bytes.Buffer
	c, err := Open(dir, fakeNamespace(), slog.New(slog.NewTextHandler(&text, nil)))
	if err != nil {
		t.Error(err)
		return text.String()
	}
	use(c)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	return text.String()
}

// remember stores the photos from…to-1 that are not stored, and returns what is logged.
func remember(t testing.TB, dir string, from, to int) string {
	t.Helper()
	return logged(t, dir, func(c *Cache) {
		for i := from; i < to; i++ {
			if _, known := c.Get(key(i)); known {
				continue
			}
			if err := c.Put(key(i), row(i)); err != nil {
				t.Error(err)
			}
			if err := c.Record(pathNo(i), stateNo(i), key(i)); err != nil {
				t.Error(err)
			}
		}
	})
}

// recall fails unless the rows 0…n-1 are stored.
func recall(t testing.TB, dir string, n int) string {
	t.Helper()
	return logged(t, dir, func(c *Cache) {
		for i := range n {
			v, known := c.Get(key(i))
			if !known || !slices.Equal(v, row(i)) {
				t.Errorf("row %d: %v, %t", i, v, known)
			}
		}
	})
}

// filesIn lists the files in a folder.
func filesIn(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return slices.Clip(files)
}
