package commandtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// SameLabels compares an output folder with the folder "want".
func (l *Bed) SameLabels(what, out string) {
	l.Helper()
	for _, name := range []string{"labels.csv", "labels.jsonl", "labels.parquet", "errors.csv"} {
		l.Same(what, l.Read(l.Path("want"), name), filepath.Join(out, name))
	}
	if got, want := l.SummaryWithoutTiming(out), l.SummaryWithoutTiming(l.Path("want")); got != want {
		l.Errorf("%s: summary %s, want %s", what, got, want)
	}
	if got, want := l.CountFiles(filepath.Join(out, "by-class")),
		l.CountFiles(l.Path("want", "by-class")); got != want {
		l.Errorf("%s: %d organised photos, want %d", what, got, want)
	}
	for _, name := range []string{"imagefolder", "coco", "label-studio"} {
		if want := l.Path("want", name); l.Exists(want) && !maps.Equal(l.Tree(want), l.Tree(filepath.Join(out, name))) {
			l.Errorf("%s: %s differs", what, name)
		}
	}
	l.NoLeftovers(out)
}

// copyFolder copies a folder of files.
func (l *Bed) copyFolder(from, to string) {
	l.Helper()
	must.Do(l, os.CopyFS(to, os.DirFS(from)))
}

// SetTimes sets the times of all files below a folder.
func (l *Bed) SetTimes(dir string, at time.Time) {
	l.Helper()
	for file := range l.Tree(dir) {
		must.Do(l, os.Chtimes(filepath.Join(dir, file), at, at))
	}
}

// Tree returns the contents of all files below a folder, by their paths in it, such as "/a/b.jpg".
func (l *Bed) Tree(dir string) map[string]string {
	l.Helper()
	files := map[string]string{}
	must.Do(l, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			files[strings.TrimPrefix(path, dir)] = string(l.Read(path))
		}
		return err
	}))
	return files
}

// Same fails unless a file has the wanted content; what changed it is named.
func (l *Bed) Same(what string, want []byte, file string) {
	l.Helper()
	if !bytes.Equal(want, l.Read(file)) {
		l.Errorf("%s changed %s", what, filepath.Base(file))
	}
}

// SummaryWithoutTiming returns summary.json without what differs from run to run.
func (l *Bed) SummaryWithoutTiming(out string) string {
	l.Helper()
	s := l.Object(out, "summary.json")
	delete(s, "timing")
	return string(must.Get(json.Marshal(s))(l))
}

// CountFiles returns the number of files and links below a folder.
func (l *Bed) CountFiles(dir string) (n int) {
	l.Helper()
	must.Do(l, filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	}))
	return n
}
