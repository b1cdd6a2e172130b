package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := os.Chmod(path, want); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(dir, "link")
		if err := os.Symlink("model", link); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		f, err := Create(link)
		if err != nil {
			t.Fatal(err)
		}
		if got := mode(t, f.Name()); got&^want != 0 {
			t.Errorf("%v: it is %v while it is written", want, got)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := mode(t, path); got != want {
			t.Errorf("%v became %v", want, got)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "new"), nil); err != nil || mode(t, filepath.Join(dir, "new")) != 0o640 {
		t.Errorf("a new file: %v, %v", mode(t, filepath.Join(dir, "new")), err)
	}
	path := filepath.Join(dir, "feat")
	fill(t, path, map[string]string{"a/ours": "1", "b": "1"})
	for name, mode := range map[string]fs.FileMode{"": 0o700, "a": 0o711, "b": 0o600} {
		if err := os.Chmod(filepath.Join(path, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	d, err := CreateDir(path, all)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Abort()
	fill(t, d.Path(), map[string]string{"a/ours": "2"})
	write(t, filepath.Join(dir, "photo"), "")
	if err := os.Symlink(filepath.Join(dir, "photo"), filepath.Join(d.Path(), "b")); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(theirs, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, open, filepath.Join(dir, "new")} {
		if err := WritePrivate(path, []byte("ours")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
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
