//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
)

// smallDisk mounts a file system of the given size, and skips the test if that is
// not allowed.
func (l *testbed) smallDisk(t *testing.T, name string, size int) string {
	t.Helper()
	dir := l.path(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("no small disk here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
		t.Fatal(err)
	}
}

// TestDiskIsFull, of the results or of the cache: the command fails and says
// so, no half-written file has a final name, and with free space again the same
// command ends with the bytes of an undisturbed run.
func TestDiskIsFull(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	more := []string{"--format", "csv,jsonl,parquet", "--organise", "copy"}
	l.must(append([]string{"label", model, "--images", images, "--out", l.path("want")}, more...)...)
	disk := l.smallDisk(t, "disk", 16<<10)
	for what, c := range map[string]struct{ out, cache string }{
		"results": {filepath.Join(disk, "out"), l.path("cache")},
		"cache":   {l.path("out"), filepath.Join(disk, "cache")},
	} {
		args := append([]string{"label", model, "--images", images, "--out", c.out}, more...)
		if r := l.runWith(c.cache, args...); r.code != exitFailed || !strings.Contains(r.stderr, "no space left") {
			t.Fatalf("%s: exit code %d\n%s", what, r.code, r.stderr)
		}
		for _, name := range []string{"labels.csv", "labels.jsonl", "labels.parquet", "summary.json", "by-class"} {
			if l.exists(c.out, name) {
				t.Errorf("%s: %s remains after a failure", what, name)
			}
		}
		remount(t, disk, 0, "size=32m")
		if r := l.runWith(c.cache, args...); r.code != exitDone {
			t.Fatalf("%s: with room again: %s", what, r.stderr)
		}
		l.sameLabels(what, c.out)
		if err := os.RemoveAll(filepath.Join(disk, filepath.Base(c.out))); err != nil {
			t.Fatal(err)
		}
		_ = os.RemoveAll(filepath.Join(disk, "cache"))
		remount(t, disk, 0, "size=16k")
	}
}

// sameLabels compares an output folder with the folder "want".
func (l *testbed) sameLabels(what, out string) {
	l.Helper()
	for _, name := range []string{"labels.csv", "labels.jsonl", "labels.parquet", "errors.csv"} {
		l.same(what, l.read(l.path("want"), name), filepath.Join(out, name))
	}
	if got, want := l.summaryWithoutTiming(out), l.summaryWithoutTiming(l.path("want")); got != want {
		l.Errorf("%s: summary %s, want %s", what, got, want)
	}
	if got, want := l.countFiles(filepath.Join(out, "by-class")), l.countFiles(l.path("want", "by-class")); got != want {
		l.Errorf("%s: %d organised photos, want %d", what, got, want)
	}
	l.noLeftovers(out)
}

// TestWritingIsForbiddenHalfWay: the disk of the results becomes read-only during
// the run.
func TestWritingIsForbiddenHalfWay(t *testing.T) {
	l := newTestbed(t)
	model, _ := l.trained()
	images := l.photos(l.path("photos"), killSide, 30, "a", "b")
	args := func(out string) []string {
		return []string{"label", model, "--images", images, "--out", out, "--format", "csv,jsonl,parquet", "--organise", "link"}
	}
	if r := l.runWith(l.path("other"), args(l.path("want"))...); r.code != exitDone {
		t.Fatal(r.stderr)
	}
	disk := l.smallDisk(t, "disk", 32<<20)
	out, cache := filepath.Join(disk, "out"), l.path("late cache")
	// A bind mount becomes read-only also while files are open for writing.
	if err := syscall.Mount(disk, disk, "", syscall.MS_BIND, ""); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	cmd, stderr := l.process(cache, args(out)...)
	forbid := func() bool {
		if l.cachedRows(cache) < 5 {
			return false
		}
		err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
		return err == nil
	}
	code := l.signalWhen(cmd, syscall.SIGCONT, forbid) // that signal changes nothing
	if code != exitFailed && code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if code == exitFailed && !strings.Contains(stderr.String(), "read-only") {
		t.Errorf("it says\n%s", stderr)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	if code == exitFailed && l.exists(out, "summary.json") {
		t.Error("a failed run has a summary")
	}
	if r := l.runWith(cache, args(out)...); r.code != exitDone {
		t.Fatal(r.stderr)
	}
	l.sameLabels("writable again", out)
}

// TestDamagedCache: whatever bytes of the cache are wrong, the results are
// right, and the next run finds a sound cache.
func TestDamagedCache(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	args := []string{"label", model, "--images", images, "--format", "csv,jsonl,parquet", "--organise", "link", "--out", l.path("want")}
	const outAt = 9
	l.must(args...)
	for round, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { b = append(b, 0); b[len(b)/2] ^= 0x40; return b },
		func(b []byte) []byte { return append(b, "garbage at the end"...) },
		func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) },
	} {
		err := filepath.WalkDir(l.path("cache"), func(name string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				return os.WriteFile(name, damage(bytes.Clone(l.read(name))), 0o644)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		out := l.path(fmt.Sprintf("out%d", round))
		args[outAt] = out
		l.must(args...)
		l.sameLabels(fmt.Sprintf("damage %d", round), out)
	}
	l.must(args...)
	if n := l.timing(args[outAt], "inferred"); n != 0 {
		t.Errorf("%d photos are inferred again after the cache was healed", n)
	}
}

// TestTwoJobsOneFolder: the second is refused, and leaves nothing behind.
func TestTwoJobsOneFolder(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	out := l.path("out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	first := flock.New(filepath.Join(out, ".lock"))
	if err := first.Lock(); err != nil {
		t.Fatal(err)
	}
	l.refused(exitFailed, []string{"another job", "--out"}, "label", model, "--images", images, "--out", out, "--organise", "link", "--report")
	l.noLeftovers(out)
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	l.must("label", model, "--images", images, "--out", out, "--organise", "link", "--report")
}

// TestEverythingIsKilled: a run that also organises, writes sidecars, Parquet and
// a report is killed at several moments; the same command ends as if nothing had
// happened.
func TestEverythingIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("labels many photos several times")
	}
	l := newTestbed(t)
	model, _ := l.trained()
	images := l.photos(l.path("photos"), killSide, 40, "a", "b")
	args := func(out string) []string {
		return []string{"label", model, "--images", images, "--out", out, "--format", "csv,jsonl,parquet", "--organise", "copy", "--xmp", "--report"}
	}
	if r := l.runWith(l.path("other"), args(l.path("want"))...); r.code != exitDone {
		t.Fatal(r.stderr)
	}
	page := string(l.read(l.path("want"), "report.html"))
	sidecars := l.snapshot(images)
	for i, moment := range []string{"embedded", "xmp", "labels.csv", "by-class"} {
		for name := range sidecars {
			if strings.HasSuffix(name, ".xmp") {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		out, cache := l.path(fmt.Sprintf("out%d", i)), l.path(fmt.Sprintf("cache%d", i))
		farEnough := map[string]func() bool{
			"embedded":   func() bool { return l.cachedRows(cache) >= 20 },
			"xmp":        func() bool { return l.exists(images, "a", "010.jpg.xmp") },
			"labels.csv": func() bool { return l.exists(out, "labels.csv") },
			"by-class":   func() bool { return l.exists(out, "by-class") },
		}[moment]
		cmd, _ := l.process(cache, args(out)...)
		t.Logf("killed when %s: %t", moment, l.signalWhen(cmd, syscall.SIGKILL, farEnough) == wasKilled)
		if r := l.runWith(cache, args(out)...); r.code != exitDone {
			t.Fatal(r.stderr)
		}
		l.sameLabels("killed when "+moment, out)
		if got := string(l.read(out, "report.html")); got != page {
			t.Errorf("%s: the report differs (%d and %d bytes)", moment, len(got), len(page))
		}
		if after := l.snapshot(images); fmt.Sprint(after) != fmt.Sprint(sidecars) {
			t.Errorf("%s: photos or sidecars differ", moment)
		}
	}
}
