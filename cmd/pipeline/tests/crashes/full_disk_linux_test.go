package crashes

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

// A writer is a command that writes into a folder.
type writer struct {
	args   func(dir string) []string
	before []string // files and folders that are there already
	vary   []string // results with times of the clock
	long   bool     // for the long form
}

// TestEveryWriterOnAFullDisk: without room for its results, be it for the first page or only for the last,
// a command fails and says why; what was there is as before, what has its name is whole, nothing else is
// left over, and with room the same command does its work. The long form tries every page.
func TestEveryWriterOnAFullDisk(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	more := l.Photos(l.Path("more"), commandtest.SmallSide, 2, "fig")
	l.Must("stats", "collect", "--images", images, "--out", l.Path("1.stats"))
	l.Must("stats", "collect", "--images", more, "--out", l.Path("2.stats"))
	features := l.Clouds(l.Path("features"))
	disk := l.SmallDisk(t, "disk", 64<<20)
	l.Write(filepath.Join(disk, "page"), []byte("a size of no page would be no limit"))
	for name, w := range map[string]writer{
		"train": {long: true, args: func(dir string) []string {
			return []string{"train", "--images", images, "--out", dir + "/m.model"}
		}},
		"projection": {vary: []string{"checkpoint.safetensors", "training.csv", "training.png"},
			args: func(dir string) []string {
				return commandtest.Quickly("train", "--features", features, "--out", dir+"/m.model")
			}},
		"learn": {before: []string{model}, args: func(dir string) []string {
			return []string{"learn", filepath.Join(dir, filepath.Base(model)), "--images", more}
		}},
		"forget": {before: []string{model}, args: func(dir string) []string {
			return []string{"forget", filepath.Join(dir, filepath.Base(model)), "--class", "lime", "--images", images}
		}},
		"embed": {args: func(dir string) []string {
			return []string{"embed", "--images", images, "--out", dir + "/f"}
		}},
		"eval": {vary: []string{".json", ".html"}, args: func(dir string) []string {
			return []string{"eval", model, "--images", images, "--json=" + dir + "/e.json",
				"--report=" + dir + "/report"}
		}},
		"rank": {args: func(dir string) []string {
			return []string{"rank", model, "--images", images, "--out", dir + "/r.csv", "--sheet", dir + "/r.html"}
		}},
		"cluster": {args: func(dir string) []string {
			return []string{"rank", model, "--images", more, "--out", dir + "/r.csv", "--cluster-unknown",
				dir + "/groups"}
		}},
		"export": {args: func(dir string) []string { return []string{"export", model, "--onnx", dir + "/m.onnx"} }},
		"prior": {long: true, args: func(dir string) []string {
			return []string{"prior", "--images", images, "--out", dir + "/p.prior"}
		}},
		"collect": {long: true, args: func(dir string) []string {
			return []string{"stats", "collect", "--images", images, "--out", dir + "/s.stats"}
		}},
		"merge": {args: func(dir string) []string {
			return []string{"stats", "merge", l.Path("1.stats"), l.Path("2.stats"), "--out", dir + "/s.stats"}
		}},
		"search": {long: true, args: func(dir string) []string {
			return []string{"search", "--like", images + "/kiwi/000.jpg", "--images", images, "--out", dir + "/s.csv"}
		}},
		"inspect": {args: func(dir string) []string {
			return []string{"inspect", model, "--json=" + dir + "/i.json"}
		}},
		"sidecars": {before: []string{more}, vary: []string{"summary.json"}, args: func(dir string) []string {
			return []string{"label", model, "--images", filepath.Join(dir, "more"), "--xmp", "--events", "60", "--out",
				dir + "/out"}
		}},
	} {
		if w.long && !commandtest.Wanted.Long {
			continue // it writes as learn or rank does
		}
		t.Run(name, func(t *testing.T) { w.fill(t, l.With(t), disk) })
	}
}

// TestDrawingOnAFullDisk: without room for its pictures the demo says why; those that have their name are whole, and
// nothing else is left over.
func TestDrawingOnAFullDisk(t *testing.T) {
	l := commandtest.New(t)
	disk := l.SmallDisk(t, "disk", 64<<10)
	l.Refused(command.ExitFailed, []string{"generate demo images", "no space left"}, "demo", "--out", disk)
	drawn := l.Tree(disk)
	for file, content := range drawn {
		if !strings.HasSuffix(content, "\xff\xd9") { // the last marker of a JPEG
			t.Errorf("%s, of %d bytes, is no whole picture", file, len(content))
		}
	}
	if len(drawn) == 0 {
		t.Error("there was room for nothing")
	}
}

// TestProjectOnAFullDisk: a project without room is none, one that moves its photos stays as it was, and both say why.
func TestProjectOnAFullDisk(t *testing.T) {
	l := commandtest.NewBare(t)
	disk := l.SmallDisk(t, "disk", 1<<20)
	before := filepath.Join(disk, "old.project")
	recent := project.Recent{File: filepath.Join(disk, "settings", "recent.json")}
	old := must.Get(project.Create(project.Project{Dir: before, Images: l.Dir}))(t)
	must.Do(t, recent.Add(before))
	tree := l.Tree(disk)
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk is not small")
	}
	full := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), disk) {
			t.Errorf("%s: %v", what, err)
		}
	}
	fresh := project.Project{Dir: filepath.Join(disk, "new.project"), Images: l.Dir}
	_, err := project.Create(fresh)
	full("a new project", err)
	if project.Is(fresh.Dir) {
		t.Error("a project without its file counts as one")
	}
	old.Images = disk
	full("other photos", old.Save())
	full("the list of projects", recent.Add(fresh.Dir))
	l.NoLeftovers(disk)
	must.Do(t, os.Remove(filler))
	if after := l.Tree(disk); !maps.Equal(after, tree) {
		t.Errorf("before %v, now %v", tree, after)
	}
	if _, err := project.Create(fresh); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// fill runs the command on disks with less and less room missing.
func (w writer) fill(t *testing.T, l *commandtest.Bed, disk string) {
	dir, args := filepath.Join(disk, "d"), w.args(filepath.Join(disk, "d"))
	begin := func() (before map[string]string) {
		remount(t, disk, 0, "size=64m")
		must.Do(t, os.RemoveAll(dir))
		must.Do(t, os.Mkdir(dir, 0o755))
		for _, from := range w.before {
			to := filepath.Join(dir, filepath.Base(from))
			if info, err := os.Stat(from); err == nil && info.IsDir() {
				must.Do(t, os.CopyFS(to, os.DirFS(from)))
				continue
			}
			l.Write(to, l.Read(from))
		}
		return l.Tree(dir)
	}
	before, used := begin(), pagesUsed(t, disk)
	l.Must(args...)
	want, pages := l.Tree(dir), max(1, pagesUsed(t, disk)-used) // a forgotten class needs none
	rooms := []int{0, pages - 1}
	if commandtest.Wanted.Long {
		rooms = rooms[:0]
		for room := range pages {
			rooms = append(rooms, room)
		}
	}
	t.Logf("%d pages", pages)
	for _, room := range slices.Compact(rooms) {
		begin()
		remount(t, disk, 0, fmt.Sprintf("size=%d", (used+room)*os.Getpagesize()))
		r := l.Run(args...)
		if r.Code != command.ExitFailed || !strings.Contains(r.Stderr, "no space left") {
			t.Fatalf("%d of %d pages: exit code %d\n%s", room, pages, r.Code, r.Stderr)
		}
		l.NoLeftovers(dir)
		after := l.Tree(dir)
		for file, content := range before {
			if after[file] != content && after[file] != want[file] {
				t.Errorf("%d of %d pages: %s is neither as before nor as it should be", room, pages, file)
			}
		}
		for file, content := range after {
			if _, was := before[file]; !was && content != want[file] && !w.varies(file) {
				t.Errorf("%d of %d pages: %s has %d bytes of %d", room, pages, file, len(content), len(want[file]))
			}
		}
	}
	remount(t, disk, 0, "size=64m")
	l.Must(args...)
	after := l.Tree(dir)
	for file, content := range want {
		if after[file] != content && !w.varies(file) {
			t.Errorf("with room again, %s is another file", file)
		}
	}
}

func (w writer) varies(file string) bool {
	return slices.ContainsFunc(w.vary, func(end string) bool { return strings.HasSuffix(file, end) })
}

func pagesUsed(t *testing.T, disk string) int {
	t.Helper()
	var s syscall.Statfs_t
	must.Do(t, syscall.Statfs(disk, &s))
	return int(s.Blocks - s.Bfree)
}
