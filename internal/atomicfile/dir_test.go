package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// named takes the files called so for ours.
func named(names ...string) Ours {
	return func(place, _ string, _ fs.DirEntry) bool { return slices.Contains(names, filepath.Base(place)) }
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o755))
}

func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		mkdir(t, filepath.Dir(filepath.Join(dir, name)))
		write(t, filepath.Join(dir, name), text)
	}
}

// wantFiles compares the files below a folder, and its empty folders, with a slash.
func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	found := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		place, _ := filepath.Rel(dir, name)
		if e.Type().IsRegular() {
			found[place] = content(t, name)
		} else if entries, err := os.ReadDir(name); err == nil && len(entries) == 0 {
			found[place+"/"] = ""
		}
		return nil
	}))
	for name := range want {
		if got, ok := found[name]; !ok || got != want[name] {
			t.Errorf("%s is %q (%t), want %q", name, got, ok, want[name])
		}
	}
	if len(found) != len(want) {
		t.Errorf("there are %v, want %v", found, want)
	}
}

// TestCommitKeepsWhatIsNotOurs, also what comes into the old directory at the last
// moment, through a program that has it open.
func TestCommitKeepsWhatIsNotOurs(t *testing.T) {
	for _, swap := range []string{"exchange", "two renames"} {
		t.Run(swap, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "feat")
			fill(t, path, map[string]string{
				"ours": "1", "mine": "1", "a/ours": "1", "a/mine": "1", "a/b/ours": "1", "c/d/mine": "1", "e": "1",
				"f/g/mine": "1",
				"taken":    "1", "taken.kept-2": "1",
			})
			mkdir(t, filepath.Join(path, "empty"))
			late := false
			d, err := CreateDir(path, func(place, name string, e fs.DirEntry) bool {
				if place == "a/ours" {
					late = true
					write(t, filepath.Join(filepath.Dir(name), "late"), "1")
				}
				return named("ours")(place, name, e)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Abort()
			fill(t, d.Path(), map[string]string{"ours": "2", "a/new": "2", "e/new": "2", "f/g": "2", "taken": "2"})
			if swap == "exchange" {
				err = d.Commit()
			} else {
				var aside string
				if aside, err = d.exchangeByRenames(); err == nil {
					err = settle(aside, path, d.ours)
				}
			}
			if err != nil || !late {
				t.Fatal(err, late)
			}
			wantFiles(t, dir, map[string]string{
				"feat/ours": "2", "feat/a/new": "2", "feat/e/new": "2", "feat/f/g": "2", "feat/taken": "2",
				"feat/mine": "1", "feat/a/mine": "1", "feat/a/late": "1", "feat/c/d/mine": "1", "feat/empty/": "",
				"feat/e.kept-2": "1", "feat/f/g.kept-2/mine": "1", "feat/taken.kept-2": "1", "feat/taken.kept-3": "1",
			})
		})
	}
}

// TestRecoverKeepsWhatIsNotOurs: a crash may come before the exchange, after it, and
// between two renames; a writer that is alive is left alone.
func TestRecoverKeepsWhatIsNotOurs(t *testing.T) {
	old, new := map[string]string{"ours": "1", "a/mine": "1"}, map[string]string{"ours": "2"}
	for name, c := range map[string]struct {
		there, aside map[string]string
		want         string // of ours
	}{"before the exchange": {old, new, "1"}, "after it": {new, old, "2"}, "between two renames": {nil, old, "1"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, strings.Repeat("é", 120)) // the longest name
			fill(t, path, c.there)
			fill(t, asideName(path), c.aside)
			mine := filepath.Join(dir, ".another.replaced-1")
			fill(t, mine, old)
			d := must.Get(CreateDir(path, named("ours")))(t)
			d.Abort()
			wantFiles(t, path, map[string]string{"ours": c.want, "a/mine": "1"})
			wantFiles(t, mine, old)
			if got := names(t, dir); len(got) != 2 {
				t.Errorf("left %q", got)
			}
		})
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "feat")
	fill(t, path, old)
	alive := must.Get(CreateDir(path, named("ours")))(t)
	defer alive.Abort()
	fill(t, alive.Path(), new)
	aside := asideName(path)
	must.Do(t, os.Rename(alive.Path(), aside))
	alive.tmp = aside
	another := must.Get(CreateDir(path, named("ours")))(t)
	another.Abort()
	wantFiles(t, aside, new)
}

// TestCreateDirRefusesWhatIsNoFolder, and Commit what has become none.
func TestCreateDirRefusesWhatIsNoFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "mine")
	links := map[string]string{"to nothing": "gone", "to a file": "file", "loop": "loop", "to a folder": "real"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	words := map[string]string{"file": "not a folder", "to a file": "not a folder", "to nothing": "link to gone",
		"loop": "loop"}
	for name, word := range words {
		d, err := CreateDir(filepath.Join(dir, name), all)
		if err == nil {
			d.Abort()
		}
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fill(t, filepath.Join(dir, "real"), map[string]string{"a": "1"})
	d := must.Get(CreateDir(filepath.Join(dir, "to a folder"), all))(t)
	fill(t, d.Path(), map[string]string{"a": "2"})
	must.Do(t, d.Commit())
	wantFiles(t, filepath.Join(dir, "real"), map[string]string{"a": "2"})
	d = must.Get(CreateDir(filepath.Join(dir, "real"), all))(t)
	defer d.Abort()
	real := filepath.Join(dir, "real")
	must.Do(t, errors.Join(os.Rename(real, filepath.Join(dir, "other")), os.Symlink("other", real)))
	if err := d.Commit(); err == nil || !strings.Contains(err.Error(), "not a folder any more") {
		t.Error(err)
	}
	wantFiles(t, filepath.Join(dir, "other"), map[string]string{"a": "2"})
}
