package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestGlance: folders and photos are counted, links are named and not followed, and what
// is hidden or left by systems is left out.
func TestGlance(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"a.jpg", "notes.txt", "deer/1.jpg", "deer/2.PNG", "deer/old/3.heic", "fox/x.mp4",
		".hidden/4.jpg", "@eaDir/5.jpg", "thumbnails/6.jpg"} {
		path := filepath.Join(dir, file)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)))
	}
	for name, to := range map[string]string{"loop": ".", "away": "deer", "dangling": "nowhere", "b.jpg": "a.jpg"} {
		must.Do(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	v := must.Get(Glance(t.Context(), dir))(t)
	want := "4 false [{away 0 false deer <nil>} {deer 3 false  <nil>} {fox 0 false  <nil>} {loop 0 false . <nil>}]"
	if got := fmt.Sprint(v.Photos, v.More, v.Folders); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, path := range []string{filepath.Join(dir, "nowhere"), filepath.Join(dir, "a.jpg")} {
		if _, err := Glance(t.Context(), path); err == nil {
			t.Errorf("%s was looked into", path)
		}
	}
}

// endless is a folder that never ends.
type endless struct{ n *int }

func (e endless) ReadDir(n int) (entries []fs.DirEntry, err error) {
	for range n {
		*e.n++
		file := fstest.MapFS{fmt.Sprintf("%d.jpg", *e.n): {}}
		all, _ := file.ReadDir(".")
		entries = append(entries, all...)
	}
	return entries, nil
}

func (endless) Close() error { return nil }

// few is a folder of some entries.
type few struct{ entries []fs.DirEntry }

func (f *few) ReadDir(n int) ([]fs.DirEntry, error) {
	if len(f.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.entries))
	out := f.entries[:n]
	f.entries = f.entries[n:]
	return out, nil
}

func (*few) Close() error { return nil }

// TestGlanceIsBounded: of folders with any number of files only so many names are read,
// and what was not counted, or may not be read, is said.
func TestGlanceIsBounded(t *testing.T) {
	read := 0
	tree := fstest.MapFS{"a private/x": {}}
	for i := range 30 {
		tree[fmt.Sprintf("big%02d/x", i)] = &fstest.MapFile{}
	}
	top, _ := tree.ReadDir(".")
	g := glance{t.Context(), func(dir string) (folderNames, error) {
		switch {
		case dir == "/top":
			return &few{top}, nil
		case strings.Contains(dir, "private"):
			return nil, fs.ErrPermission
		}
		return endless{&read}, nil
	}}
	v, err := g.view("/top")
	if err != nil || !v.More || len(v.Folders) != 31 {
		t.Fatalf("%d folders, more %v, %v", len(v.Folders), v.More, err)
	}
	if read > glanceBelow || v.Photos != read || v.Folders[1].Photos != glanceEach || !v.Folders[30].More {
		t.Errorf("%d names read, %d photos, %+v", read, v.Photos, v.Folders[30])
	}
	if first := v.Folders[0]; first.Name != "a private" || first.More || !errors.Is(first.Err, fs.ErrPermission) {
		t.Errorf("%+v", first)
	}

	read = 0
	if v, err = g.view("/endless"); err != nil || !v.More || read != glanceEntries || v.Photos != read {
		t.Errorf("%d names read, %+v, %v", read, v, err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := (glance{gone, g.open}).view("/endless"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
