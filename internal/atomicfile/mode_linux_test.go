package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info := must.Get(os.Lstat(path))(t)
	return info.Mode().Perm()
}

// TestModeIsKept: a file or folder that is replaced has its mode before it has its
// name, and is at no time open to more people.
func TestModeIsKept(t *testing.T) {
	defer unix.Umask(unix.Umask(0o027))
	dir := t.TempDir()
	for _, want := range []fs.FileMode{0o600, 0o640, 0o666, 0o444, 0o755} {
		path := filepath.Join(dir, "model")
		write(t, path, "old")
		must.Do(t, os.Chmod(path, want))
		link := filepath.Join(dir, "link")
		if err := os.Symlink("model", link); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		f := must.Get(Create(link))(t)
		if got := mode(t, f.Name()); got&^want != 0 {
			t.Errorf("%v: it is %v while it is written", want, got)
		}
		must.Do(t, f.Commit())
		if got := mode(t, path); got != want {
			t.Errorf("%v became %v", want, got)
		}
		must.Do(t, os.Remove(path))
	}
	if err := WriteFile(filepath.Join(dir, "new"), nil); err != nil || mode(t, filepath.Join(dir, "new")) != 0o640 {
		t.Errorf("a new file: %v, %v", mode(t, filepath.Join(dir, "new")), err)
	}
	path := filepath.Join(dir, "feat")
	fill(t, path, map[string]string{"a/ours": "1", "b": "1"})
	for name, mode := range map[string]fs.FileMode{"": 0o700, "a": 0o711, "b": 0o600} {
		must.Do(t, os.Chmod(filepath.Join(path, name), mode))
	}
	d := must.Get(CreateDir(path, all))(t)
	defer d.Abort()
	fill(t, d.Path(), map[string]string{"a/ours": "2"})
	write(t, filepath.Join(dir, "photo"), "")
	must.Do(t, os.Symlink(filepath.Join(dir, "photo"), filepath.Join(d.Path(), "b")))
	must.Do(t, d.Commit())
	for name, want := range map[string]fs.FileMode{"feat": 0o700, "feat/a": 0o711, "photo": 0o640} {
		if got := mode(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestPrivate: a file of the program is its user's alone whatever had its name, and a link of
// that name leads nobody to another file.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	theirs, link, open := filepath.Join(dir, "theirs"), filepath.Join(dir, "link"), filepath.Join(dir, "open")
	write(t, theirs, "theirs")
	write(t, open, "old")
	must.Do(t, os.Chmod(open, 0o666))
	must.Do(t, os.Symlink(theirs, link))
	for _, path := range []string{link, open, filepath.Join(dir, "new")} {
		must.Do(t, WritePrivate(path, []byte("ours")))
		info := must.Get(os.Lstat(path))(t)
		if text, err := os.ReadFile(path); string(text) != "ours" || err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %q with mode %v, %v", path, text, info.Mode(), err)
		}
	}
	if text, err := os.ReadFile(theirs); string(text) != "theirs" || err != nil {
		t.Errorf("somebody else's file is %q, %v", text, err)
	}
	if err := WritePrivate(dir, nil); err == nil {
		t.Error("a folder was replaced")
	}
}
