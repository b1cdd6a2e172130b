package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// folders makes folders below a new one, and returns that.
func folders(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		must.Do(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	return dir
}

func made(t *testing.T, p Project) Project {
	t.Helper()
	p = must.Get(Create(p))(t)
	return p
}

// TestProject: what is created is what is opened, whatever bytes its paths have.
func TestProject(t *testing.T) {
	dir := folders(t, "caf\xe9 100%25")
	p := made(t, Project{Dir: filepath.Join(dir, "a", "deer.project"), Images: filepath.Join(dir, "caf\xe9 100%25"),
		Network: "net.onnx"})
	got, err := Open(p.Dir)
	if err != nil || got != p {
		t.Errorf("%+v, %v, want %+v", got, err, p)
	}
	if p.Name() != "deer" || p.Begun() {
		t.Errorf("%q, begun %v", p.Name(), p.Begun())
	}
	if err := os.WriteFile(p.Model()+".journal", nil, 0o600); err != nil || !p.Begun() {
		t.Errorf("with a journal it has not begun, %v", err)
	}
}

// TestNoFolderIsTaken: a project is never made where other files are.
func TestNoFolderIsTaken(t *testing.T) {
	dir := folders(t, "photos", "full/inside", "empty")
	at := func(name string) Project {
		return Project{Dir: filepath.Join(dir, name), Images: filepath.Join(dir, "photos")}
	}
	made(t, at("empty"))
	again := made(t, at("empty")) // as nothing was learned
	must.Do(t, os.WriteFile(again.Model(), nil, 0o600))
	for _, c := range []struct{ name, words string }{
		{"empty", "is a project already"}, {"full", "other files in it"},
	} {
		if _, err := Create(at(c.name)); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Create(Project{Dir: "relative", Images: dir}); err == nil {
		t.Error("a relative path was taken")
	}
}

// TestProjectMoves: photos are found where they were, or beside a copy of the project.
func TestProjectMoves(t *testing.T) {
	dir := folders(t, "old/photos", "new/photos", "alone")
	p := made(t, Project{Dir: filepath.Join(dir, "old", "p.project"), Images: filepath.Join(dir, "old", "photos")})
	for _, c := range []struct{ to, images string }{
		{"alone", "old/photos"}, {"new", "old/photos"}, // both on this machine: the same photos
		{"new", "new/photos"}, {"alone", ""},
	} {
		if c.images != "old/photos" {
			_ = os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "gone"))
		}
		to := filepath.Join(dir, c.to, "p.project")
		_ = os.RemoveAll(to)
		from := p.Dir
		if c.images != "old/photos" {
			from = filepath.Join(dir, "gone", "p.project")
		}
		must.Do(t, os.CopyFS(to, os.DirFS(from)))
		got, err := Open(to)
		if c.images == "" {
			if !errors.Is(err, ErrNoPhotos) || got.Dir != to {
				t.Errorf("without photos: %+v, %v", got, err)
			}
			continue
		}
		if err != nil || got.Images != filepath.Join(dir, c.images) {
			t.Errorf("in %s: %+v, %v, want %s", c.to, got, err, c.images)
		}
	}
}

// TestRecent: the newest is first, a project is listed once, twenty are remembered, and a
// damaged list is said and begun again.
func TestRecent(t *testing.T) {
	r := Recent{File: filepath.Join(t.TempDir(), "a", "recent.json")}
	expect := func(n int, first string) {
		t.Helper()
		list, err := r.List()
		if err != nil || len(list) != n || n > 0 && list[0] != first {
			t.Errorf("%d projects, the first %q, %v, want %d and %q", len(list), list[:min(1, len(list))], err, n,
				first)
		}
	}
	expect(0, "")
	for i := range maxRecent + 5 {
		must.Do(t, r.Add(filepath.Join("/p", strings.Repeat("x", i+1)+"\xff")))
	}
	expect(maxRecent, filepath.Join("/p", strings.Repeat("x", maxRecent+5)+"\xff"))
	again := filepath.Join("/p", strings.Repeat("x", maxRecent)+"\xff")
	must.Do(t, r.Add(again))
	expect(maxRecent, again)
	must.Do(t, r.Remove(again))
	expect(maxRecent-1, filepath.Join("/p", strings.Repeat("x", maxRecent+5)+"\xff"))
	must.Do(t, os.WriteFile(r.File, []byte("{"), 0o600))
	if _, err := r.List(); err == nil {
		t.Error("a damaged list was read")
	}
	must.Do(t, r.Add("/q"))
	expect(1, "/q")
}

// FuzzProject: whatever is in the files, reading them ends with paths or an error.
func FuzzProject(f *testing.F) {
	f.Add([]byte(`{"version": 1, "images": "/a", "beside": "../a", "network": "n"}`))
	f.Add([]byte(`{"projects": ["/a", "b", "/caf%E9"]}`))
	f.Add([]byte(`{"version": 2, "images": "/a"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, _, err := parse(text); err == nil && p.Images == "" {
			t.Error("a project without photos was read")
		}
		dirs, err := parseRecent(text)
		for _, dir := range dirs {
			if !filepath.IsAbs(dir) {
				t.Errorf("%q was read", dir)
			}
		}
		if err == nil && len(dirs) > maxRecent {
			t.Errorf("%d projects", len(dirs))
		}
	})
}
