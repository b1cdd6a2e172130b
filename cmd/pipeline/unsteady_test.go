//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// belowPermissions makes permissions apply to a command even if the tests are run
// by root.
func belowPermissions(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return cmd
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("root, and no setpriv (util-linux): ", err)
	}
	cmd.Path, cmd.Args = setpriv, append([]string{"setpriv", "--bounding-set=-dac_override,-dac_read_search", os.Args[0]}, cmd.Args[1:]...)
	return cmd
}

// undisturbed labels 90 photos into out, and returns their folder and the
// arguments to repeat that.
func (l *testbed) undisturbed(out string) (images string, args func(out string) []string) {
	l.Helper()
	model, _ := l.trained()
	images = l.photos(l.path("photos"), killSide, 30, "a", "b", "c")
	args = func(out string) []string {
		return []string{"label", model, "--images", images, "--out", out, "--format", "csv,jsonl,parquet", "--organise", "link"}
	}
	if r := l.runWith(l.path("other"), args(out)...); r.code != exitDone {
		l.Fatal(r.stderr)
	}
	return images, args
}

// TestPermissionIsLost, of some photos and of a folder, before or half-way
// through a run: each of them is labelled as before or is a row of errors.csv,
// and once it can be read again the same command ends with the bytes of an
// undisturbed run.
func TestPermissionIsLost(t *testing.T) {
	l := newTestbed(t)
	images, args := l.undisturbed(l.path("want"))
	for _, rows := range []int{0, 5} {
		out, cache := l.path(fmt.Sprint("out", rows)), l.path(fmt.Sprint("cache", rows))
		permit := func(mode os.FileMode) {
			for _, name := range []string{"a/029.jpg", "b/003.jpg", "b/027.jpg", "c"} {
				if err := os.Chmod(filepath.Join(images, name), mode); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd, stderr := l.process(cache, args(out)...)
		belowPermissions(t, cmd)
		if rows == 0 {
			permit(0)
		}
		code := l.signalWhen(cmd, syscall.SIGCONT, func() bool { // that signal changes nothing
			if rows == 0 || l.cachedRows(cache) < rows {
				return false
			}
			permit(0)
			return true
		})
		permit(0o755)
		failed := l.labelledOrDenied(out)
		t.Logf("taken after %d photos: exit code %d, %d rows of errors.csv", rows, code, failed)
		if code != exitPartial && (failed > 0 || code != exitDone) || rows == 0 && failed != 3+1 {
			t.Errorf("after %d rows: exit code %d, %d rows of errors.csv\n%s", rows, code, failed, stderr)
		}
		if r := l.runWith(cache, args(out)...); r.code != exitDone {
			t.Fatal(r.stderr)
		}
		l.sameLabels("permitted again", out)
	}
}

// labelledOrDenied compares the labels that a disturbed run wrote with those of
// the folder "want", and returns the rows of errors.csv, which must be about
// permissions and cover the rest.
func (l *testbed) labelledOrDenied(out string) int {
	l.Helper()
	want := map[string]string{}
	for _, row := range l.table(l.path("want"), "labels.csv") {
		want[row[0]] = strings.Join(row, ",")
	}
	for _, row := range l.table(out, "labels.csv") {
		if got := strings.Join(row, ","); got != want[row[0]] {
			l.Errorf("%q, undisturbed %q", got, want[row[0]])
		}
		delete(want, row[0])
	}
	failed := l.table(out, "errors.csv")[1:]
	for _, row := range failed {
		if !strings.Contains(row[1], "permission denied") {
			l.Errorf("%q", row)
		}
		for path := range want {
			if path == row[0] || strings.HasPrefix(path, row[0]+"/") {
				delete(want, path)
			}
		}
	}
	if len(want) > 0 {
		l.Errorf("neither labelled nor in errors.csv: %q", want)
	}
	return len(failed)
}

// TestPhotosVanishAndChange during a run: it ends, no label is that of
// another picture, and the next run finds nothing stale in its cache.
func TestPhotosVanishAndChange(t *testing.T) {
	l := newTestbed(t)
	images, args := l.undisturbed(l.path("before"))
	disturb := func() {
		for _, err := range []error{
			os.Remove(filepath.Join(images, "a/028.jpg")),
			os.Rename(filepath.Join(images, "c"), filepath.Join(images, "d")),
			os.Truncate(filepath.Join(images, "b/027.jpg"), 100),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		l.write(filepath.Join(images, "b/003.jpg"), photo("another", 3, killSide))
		l.write(filepath.Join(images, "e/new.jpg"), photo("new", 1, killSide))
	}
	cache, done := l.path("cache-late"), false
	cmd, stderr := l.process(cache, args(l.path("out"))...)
	code := l.signalWhen(cmd, syscall.SIGCONT, func() bool { // that signal changes nothing
		if l.cachedRows(cache) < 5 {
			return false
		}
		disturb()
		done = true
		return true
	})
	if !done {
		disturb()
	}
	if code != exitPartial && code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if r := l.runWith(l.path("fresh"), args(l.path("want"))...); r.code != exitPartial {
		t.Fatal(r.stderr)
	}
	l.eitherLabel(l.path("out"), l.path("before"), l.path("want"))
	if r := l.runWith(cache, args(l.path("out"))...); r.code != exitPartial {
		t.Fatal(r.stderr)
	}
	l.sameLabels("steady again", l.path("out"))
}

// eitherLabel: every label of a disturbed run is that of the folder before or
// after it was disturbed.
func (l *testbed) eitherLabel(out, before, after string) {
	l.Helper()
	possible := map[string][]string{}
	for _, dir := range []string{before, after} {
		for _, row := range l.table(dir, "labels.csv") {
			possible[row[0]] = append(possible[row[0]], strings.Join(row, ","))
		}
	}
	labelled := l.table(out, "labels.csv")
	for _, row := range labelled {
		if got := strings.Join(row, ","); !slices.Contains(possible[row[0]], got) {
			l.Errorf("%q is none of %q", got, possible[row[0]])
		}
	}
	l.Logf("%d photos labelled, %d rows of errors.csv", len(labelled)-1, len(l.table(out, "errors.csv"))-1)
}
