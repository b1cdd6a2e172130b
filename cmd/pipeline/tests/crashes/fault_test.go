//go:build linux

package crashes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	must.Do(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, options))
}

// TestDiskIsFull, of the results or of the cache: the command fails and says
// so, no half-written file has a final name, and with free space again the same
// command ends with the bytes of an undisturbed run.
func TestDiskIsFull(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	more := []string{"--format", "csv,jsonl,parquet,imagefolder,coco,label-studio", "--organise", "copy"}
	l.Must(append([]string{"label", model, "--images", images, "--out", l.Path("want")}, more...)...)
	disk := l.SmallDisk(t, "disk", 16<<10)
	for what, c := range map[string]struct{ out, cache string }{
		"results": {filepath.Join(disk, "out"), l.Path("cache")},
		"cache":   {l.Path("out"), filepath.Join(disk, "cache")},
	} {
		args := append([]string{"label", model, "--images", images, "--out", c.out}, more...)
		if r := l.RunWith(c.cache, args...); r.Code != command.ExitFailed ||
			!strings.Contains(r.Stderr, "no space left") {
			t.Fatalf("%s: exit code %d\n%s", what, r.Code, r.Stderr)
		}
		for _, name := range []string{"labels.csv", "labels.jsonl", "labels.parquet", "summary.json", "by-class",
			"imagefolder", "coco", "label-studio"} {
			if l.Exists(c.out, name) {
				t.Errorf("%s: %s remains after a failure", what, name)
			}
		}
		remount(t, disk, 0, "size=32m")
		if r := l.RunWith(c.cache, args...); r.Code != command.ExitDone {
			t.Fatalf("%s: with room again: %s", what, r.Stderr)
		}
		l.SameLabels(what, c.out)
		must.Do(t, os.RemoveAll(filepath.Join(disk, filepath.Base(c.out))))
		_ = os.RemoveAll(filepath.Join(disk, "cache"))
		remount(t, disk, 0, "size=16k")
	}
}

// TestWritingIsForbiddenHalfWay: the disk of the results becomes read-only during
// the run.
func TestWritingIsForbiddenHalfWay(t *testing.T) {
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	model, _ := l.Trained()
	images := l.Photos(l.Path("photos"), commandtest.LargeSide, 30, "a", "b")
	args := func(out string) []string {
		return []string{"label", model, "--images", images, "--out", out, "--format",
			"csv,jsonl,parquet,imagefolder,coco,label-studio", "--organise", "link"}
	}
	if r := l.RunWith(l.Path("other"), args(l.Path("want"))...); r.Code != command.ExitDone {
		t.Fatal(r.Stderr)
	}
	disk := l.SmallDisk(t, "disk", 32<<20)
	out, cache := filepath.Join(disk, "out"), l.Path("late cache")
	// A bind mount becomes read-only also while files are open for writing.
	if err := syscall.Mount(disk, disk, "", syscall.MS_BIND, ""); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	cmd, stderr := l.Process(cache, args(out)...)
	forbid := func() bool {
		if l.CachedRows(cache) < 5 {
			return false
		}
		err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
		return err == nil
	}
	code := l.SignalWhen(cmd, syscall.SIGCONT, forbid) // that signal changes nothing
	if code != command.ExitFailed && code != command.ExitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if code == command.ExitFailed && !strings.Contains(stderr.String(), "read-only") {
		t.Errorf("it says\n%s", stderr)
	}
	must.Do(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_BIND, ""))
	if code == command.ExitFailed && l.Exists(out, "summary.json") {
		t.Error("a failed run has a summary")
	}
	if r := l.RunWith(cache, args(out)...); r.Code != command.ExitDone {
		t.Fatal(r.Stderr)
	}
	l.SameLabels("writable again", out)
}

// TestDamagedCache: whatever bytes of the cache are wrong, the results are
// right, and the next run finds a sound cache.
func TestDamagedCache(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	args := []string{"label", model, "--images", images, "--format", "csv,jsonl,parquet", "--organise", "link", "--out",
		l.Path("want")}
	const outAt = 9
	l.Must(args...)
	for round, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { b = append(b, 0); b[len(b)/2] ^= 0x40; return b },
		func(b []byte) []byte { return append(b, "garbage at the end"...) },
		func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) },
	} {
		must.Do(t, filepath.WalkDir(l.Path("cache"), func(name string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				return os.WriteFile(name, damage(bytes.Clone(l.Read(name))), 0o644)
			}
			return err
		}))
		out := l.Path(fmt.Sprintf("out%d", round))
		args[outAt] = out
		l.Must(args...)
		l.SameLabels(fmt.Sprintf("damage %d", round), out)
	}
	l.Must(args...)
	if n := l.Timing(args[outAt], "inferred"); n != 0 {
		t.Errorf("%d photos are inferred again after the cache was healed", n)
	}
}

// TestTwoJobsOneFolder: the second is refused, and leaves nothing behind.
func TestTwoJobsOneFolder(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	out := l.Path("out")
	must.Do(t, os.MkdirAll(out, 0o755))
	first := flock.New(filepath.Join(out, ".lock"))
	must.Do(t, first.Lock())
	l.Refused(command.ExitFailed, []string{"another job", "--out"}, "label", model, "--images", images, "--out", out,
		"--organise", "link", "--report")
	l.NoLeftovers(out)
	must.Do(t, first.Unlock())
	l.Must("label", model, "--images", images, "--out", out, "--organise", "link", "--report")
}

// TestEverythingIsKilled: a run that also organises, writes sidecars, Parquet and
// a report is killed at several moments; the same command ends as if nothing had
// happened.
func TestEverythingIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("labels many photos several times")
	}
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	model, _ := l.Trained()
	images := l.Photos(l.Path("photos"), commandtest.LargeSide, 24, "a", "b")
	args := func(out string) []string {
		return []string{"label", model, "--images", images, "--out", out, "--format", "csv,jsonl,parquet", "--organise",
			"copy", "--xmp", "--report"}
	}
	if r := l.RunWith(l.Path("other"), args(l.Path("want"))...); r.Code != command.ExitDone {
		t.Fatal(r.Stderr)
	}
	page := string(l.Read(l.Path("want"), "report.html"))
	sidecars := l.Tree(images)
	for i, moment := range []string{"embedded", "xmp", "labels.csv", "by-class"} {
		for name := range sidecars {
			if strings.HasSuffix(name, ".xmp") {
				must.Do(t, os.Remove(filepath.Join(images, name)))
			}
		}
		out, cache := l.Path(fmt.Sprintf("out%d", i)), l.Path(fmt.Sprintf("cache%d", i))
		farEnough := map[string]func() bool{
			"embedded":   func() bool { return l.CachedRows(cache) >= 20 },
			"xmp":        func() bool { return l.Exists(images, "a", "010.jpg.xmp") },
			"labels.csv": func() bool { return l.Exists(out, "labels.csv") },
			"by-class":   func() bool { return l.Exists(out, "by-class") },
		}[moment]
		cmd, _ := l.Process(cache, args(out)...)
		t.Logf("killed when %s: %t", moment, l.SignalWhen(cmd, syscall.SIGKILL, farEnough) == commandtest.WasKilled)
		if r := l.RunWith(cache, args(out)...); r.Code != command.ExitDone {
			t.Fatal(r.Stderr)
		}
		l.SameLabels("killed when "+moment, out)
		if got := string(l.Read(out, "report.html")); got != page {
			t.Errorf("%s: the report differs (%d and %d bytes)", moment, len(got), len(page))
		}
		if after := l.Tree(images); fmt.Sprint(after) != fmt.Sprint(sidecars) {
			t.Errorf("%s: photos or sidecars differ", moment)
		}
	}
}
