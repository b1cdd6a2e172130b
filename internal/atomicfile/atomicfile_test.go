package atomicfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOldContentUntilCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "labels.csv")
	write(t, path, "old")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if _, err := f.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "old" {
		t.Fatalf("before Commit: %q", got)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "new" {
		t.Fatalf("after Commit: %q", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Fatalf("left behind: %q", got)
	}
	if err := f.Commit(); err == nil {
		t.Fatal("second Commit must fail")
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "x"))
	if err != nil {
		t.Fatal(err)
	}
	f.Abort()
	f.Abort()
	if got := names(t, dir); len(got) != 0 {
		t.Fatalf("left behind: %q", got)
	}
}

func TestCreateKeepsLinkAndRefusesOddTargets(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	link := filepath.Join(dir, "link")
	write(t, real, "1")
	if err := os.Symlink("real", link); err != nil {
		t.Skip(err)
	}
	if err := WriteFile(link, []byte("2")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Fatalf("the link was replaced: %v %v", info, err)
	}
	if got := content(t, real); got != "2" {
		t.Fatalf("target: %q", got)
	}
	if err := WriteFile(dir, nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Fatalf("directory as target: %v", err)
	}
}

func TestLongAndOddNames(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("é", 120) // 240 bytes
	if err := WriteFile(filepath.Join(dir, name), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if !IsTemp(tempName("a\xffb")) || IsTemp("a.tmp-1") || IsTemp(".a.tmp-12ab") {
		t.Fatal("IsTemp")
	}
}

func TestRemoveStaleSparesTheLiving(t *testing.T) {
	dir := t.TempDir()
	alive, err := Create(filepath.Join(dir, "alive"))
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Abort()
	aliveDir, err := CreateDir(filepath.Join(dir, "aliveDir"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer aliveDir.Abort()
	dead, err := Create(filepath.Join(dir, "dead"))
	if err != nil {
		t.Fatal(err)
	}
	dead.File.Close() // as the system does when a process is killed
	deadDir, err := CreateDir(filepath.Join(dir, "deadDir"), nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(deadDir.Path(), "part"), "x")
	deadDir.held.Close()
	write(t, filepath.Join(dir, "user.tmp-1"), "not ours")
	n, err := RemoveStale(dir)
	if err != nil || n != 2 {
		t.Fatalf("removed %d (%v), want 2; left %q", n, err, names(t, dir))
	}
	if err := errors.Join(alive.Commit(), aliveDir.Commit()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 3 {
		t.Fatalf("left %q", got)
	}
}

func all(string, string, fs.DirEntry) bool { return true }

func TestDirCommitReplaces(t *testing.T) {
	for _, swap := range []string{"exchange", "two renames"} {
		t.Run(swap, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "feat")
			for _, version := range []string{"one", "two"} {
				d, err := CreateDir(path, all)
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(d.Path(), version), version)
				if swap == "two renames" && version == "two" {
					var aside string
					if aside, err = d.exchangeByRenames(); err == nil {
						err = settle(aside, path, all)
					}
					d.held.Close()
				} else {
					err = d.Commit()
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := names(t, path); len(got) != 1 || got[0] != version {
					t.Fatalf("content %q, want %q", got, version)
				}
			}
			if got := names(t, dir); len(got) != 1 {
				t.Fatalf("left behind: %q", got)
			}
		})
	}
}

func TestRecoverDir(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "feat")
	old := filepath.Join(dir, ".feat.replaced-old") // as version 0.1 called it
	if err := os.Mkdir(old, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(old, "v"), "old")
	if err := recoverDir(path, all); err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(path, "v")); got != "old" {
		t.Fatal(got)
	}
	if err := os.Mkdir(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := recoverDir(path, all); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 1 || got[0] != "feat" {
		t.Fatalf("left %q", got)
	}
}

func TestWriteFileConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	done := make(chan error)
	versions := [][]byte{bytes.Repeat([]byte("a"), 5000), bytes.Repeat([]byte("b"), 7000)}
	for _, v := range versions {
		go func() {
			var err error
			for range 20 {
				err = errors.Join(err, WriteFile(path, v))
			}
			done <- err
		}()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	got := []byte(content(t, path))
	if !bytes.Equal(got, versions[0]) && !bytes.Equal(got, versions[1]) {
		t.Fatal("mixed content")
	}
}
