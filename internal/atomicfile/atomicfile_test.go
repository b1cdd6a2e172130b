package atomicfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
}

func content(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

func TestOldContentUntilCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "labels.csv")
	write(t, path, "old")
	f := must.Get(Create(path))(t)
	defer f.Abort()
	must.Get(f.WriteString("new"))(t)
	if got := content(t, path); got != "old" {
		t.Fatalf("before Commit: %q", got)
	}
	must.Do(t, f.Commit())
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
	f := must.Get(Create(filepath.Join(dir, "x")))(t)
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
	must.Do(t, WriteFile(link, []byte("2")))
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
	must.Do(t, WriteFile(filepath.Join(dir, name), []byte("x")))
	if !IsTemp(tempName("a\xffb")) || IsTemp("a.tmp-1") || IsTemp(".a.tmp-12ab") {
		t.Fatal("IsTemp")
	}
}

func TestRemoveStaleSparesTheLiving(t *testing.T) {
	dir := t.TempDir()
	alive := must.Get(Create(filepath.Join(dir, "alive")))(t)
	defer alive.Abort()
	aliveDir := must.Get(CreateDir(filepath.Join(dir, "aliveDir"), nil))(t)
	defer aliveDir.Abort()
	dead := must.Get(Create(filepath.Join(dir, "dead")))(t)
	dead.File.Close() // as the system does when a process is killed
	deadDir := must.Get(CreateDir(filepath.Join(dir, "deadDir"), nil))(t)
	write(t, filepath.Join(deadDir.Path(), "part"), "x")
	deadDir.held.Close()
	write(t, filepath.Join(dir, "user.tmp-1"), "not ours")
	n, err := RemoveStale(dir)
	if err != nil || n != 2 {
		t.Fatalf("removed %d (%v), want 2; left %q", n, err, names(t, dir))
	}
	must.Do(t, errors.Join(alive.Commit(), aliveDir.Commit()))
	if got := names(t, dir); len(got) != 3 {
		t.Fatalf("left %q", got)
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	if err := Probe(dir); err != nil {
		t.Error(err)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("a probe leaves %v", left)
	}
	if err := Probe(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
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
	old := filepath.Join(dir, ".feat.replaced-old")
	must.Do(t, os.Mkdir(old, 0o755))
	write(t, filepath.Join(old, "v"), "old")
	must.Do(t, recoverDir(path, all))
	if got := content(t, filepath.Join(path, "v")); got != "old" {
		t.Fatal(got)
	}
	must.Do(t, os.Mkdir(old, 0o755))
	must.Do(t, recoverDir(path, all))
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
	must.Do(t, errors.Join(<-done, <-done))
	got := []byte(content(t, path))
	if !bytes.Equal(got, versions[0]) && !bytes.Equal(got, versions[1]) {
		t.Fatal("mixed content")
	}
}
