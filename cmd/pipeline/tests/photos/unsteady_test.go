//go:build linux

package photos

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// undisturbed labels 90 photos into out, and returns their folder and the
// arguments to repeat that.
func undisturbed(l *commandtest.Bed, out string) (images string, args func(out string) []string) {
	l.Helper()
	model, _ := l.Trained()
	images = l.Photos(l.Path("photos"), commandtest.LargeSide, 30, "a", "b", "c")
	args = func(out string) []string {
		return []string{"label", model, "--images", images, "--out", out, "--format", "csv,jsonl,parquet", "--organise",
			"link", "--adapt=false"} // a photo that is missing changes how others are labelled
	}
	if r := l.RunWith(l.Path("other"), args(out)...); r.Code != command.ExitDone {
		l.Fatal(r.Stderr)
	}
	return images, args
}

// TestPermissionIsLost, of some photos and of a folder, before or half-way
// through a run: each of them is labelled as before or is a row of errors.csv,
// and once it can be read again the same command ends with the bytes of an
// undisturbed run.
func TestPermissionIsLost(t *testing.T) {
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	images, args := undisturbed(l, l.Path("want"))
	for _, rows := range []int{0, 5} {
		out, cache := l.Path(fmt.Sprint("out", rows)), l.Path(fmt.Sprint("cache", rows))
		permit := func(mode os.FileMode) {
			for _, name := range []string{"a/029.jpg", "b/003.jpg", "b/027.jpg", "c"} {
				must.Do(t, os.Chmod(filepath.Join(images, name), mode))
			}
		}
		cmd, stderr := l.Process(cache, args(out)...)
		commandtest.BelowPermissions(t, cmd)
		if rows == 0 {
			permit(0)
		}
		code := l.SignalWhen(cmd, syscall.SIGCONT, func() bool { // that signal changes nothing
			if rows == 0 || l.CachedRows(cache) < rows {
				return false
			}
			permit(0)
			return true
		})
		permit(0o755)
		failed := labelledOrDenied(l, out)
		t.Logf("taken after %d photos: exit code %d, %d rows of errors.csv", rows, code, failed)
		if code != command.ExitPartial && (failed > 0 || code != command.ExitDone) || rows == 0 && failed != 3+1 {
			t.Errorf("after %d rows: exit code %d, %d rows of errors.csv\n%s", rows, code, failed, stderr)
		}
		if r := l.RunWith(cache, args(out)...); r.Code != command.ExitDone {
			t.Fatal(r.Stderr)
		}
		l.SameLabels("permitted again", out)
	}
}

// labelledOrDenied compares the labels that a disturbed run wrote with those of
// the folder "want", and returns the rows of errors.csv, which must be about
// permissions and cover the rest.
func labelledOrDenied(l *commandtest.Bed, out string) int {
	l.Helper()
	want := map[string]string{}
	for _, row := range l.Table(l.Path("want"), "labels.csv") {
		want[row[0]] = strings.Join(row, ",")
	}
	for _, row := range l.Table(out, "labels.csv") {
		if got := strings.Join(row, ","); got != want[row[0]] {
			l.Errorf("%q, undisturbed %q", got, want[row[0]])
		}
		delete(want, row[0])
	}
	failed := l.Table(out, "errors.csv")[1:]
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
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	images, args := undisturbed(l, l.Path("before"))
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
		l.Write(filepath.Join(images, "b/003.jpg"), commandtest.Photo("another", 3, commandtest.LargeSide))
		l.Write(filepath.Join(images, "e/new.jpg"), commandtest.Photo("new", 1, commandtest.LargeSide))
	}
	cache, done := l.Path("cache-late"), false
	cmd, stderr := l.Process(cache, args(l.Path("out"))...)
	code := l.SignalWhen(cmd, syscall.SIGCONT, func() bool { // that signal changes nothing
		if l.CachedRows(cache) < 5 {
			return false
		}
		disturb()
		done = true
		return true
	})
	if !done {
		disturb()
	}
	if code != command.ExitPartial && code != command.ExitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if r := l.RunWith(l.Path("fresh"), args(l.Path("want"))...); r.Code != command.ExitPartial {
		t.Fatal(r.Stderr)
	}
	eitherLabel(l, l.Path("out"), l.Path("before"), l.Path("want"))
	if r := l.RunWith(cache, args(l.Path("out"))...); r.Code != command.ExitPartial {
		t.Fatal(r.Stderr)
	}
	l.SameLabels("steady again", l.Path("out"))
}

// eitherLabel: every label of a disturbed run is that of the folder before or
// after it was disturbed.
func eitherLabel(l *commandtest.Bed, out, before, after string) {
	l.Helper()
	possible := map[string][]string{}
	for _, dir := range []string{before, after} {
		for _, row := range l.Table(dir, "labels.csv") {
			possible[row[0]] = append(possible[row[0]], strings.Join(row, ","))
		}
	}
	labelled := l.Table(out, "labels.csv")
	for _, row := range labelled {
		if got := strings.Join(row, ","); !slices.Contains(possible[row[0]], got) {
			l.Errorf("%q is none of %q", got, possible[row[0]])
		}
	}
	l.Logf("%d photos labelled, %d rows of errors.csv", len(labelled)-1, len(l.Table(out, "errors.csv"))-1)
}
