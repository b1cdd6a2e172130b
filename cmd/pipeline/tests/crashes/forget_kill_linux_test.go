package crashes

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/teach"
)

// TestForgetIsKilledAtEveryStep: the same command finishes what was broken off, as if it
// had not been.
func TestForgetIsKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	l := commandtest.New(t)
	all := l.Features("all")
	l.Write(l.Path("gone.txt"), []byte("b/00.jpg\nb/07.jpg\n"))
	start := l.Path("start")
	must.Do(t, os.Mkdir(start, 0o755))
	l.Must("train", "--features", all, "--out", filepath.Join(start, "m.model"),
		"--classifier", "ppca", "--set", "classifier.ppca.q=3", "--drop-label", "d")
	l.Must("learn", filepath.Join(start, "m.model"), "--features", all)
	for name, what := range map[string][]string{
		"class": {"--class", "b", "--class", "d"}, "samples": {"--samples", l.Path("gone.txt")},
	} {
		t.Run(name, func(t *testing.T) {
			l := l.With(t)
			forget := func(dir string) []string {
				return append([]string{"forget", filepath.Join(dir, "m.model"), "--features", all}, what...)
			}
			killedAtEveryStep(l, start, forget, func(files map[string]string) {})
		})
	}
}

// TestForgetTaughtIsKilledAtEveryStep: as above, of a model that is taught: in its
// journal, in the model that this starts from, and in the model that was saved.
func TestForgetTaughtIsKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	l := commandtest.New(t)
	all := l.Features("all")
	start := l.Path("start")
	teachFeatures(l, filepath.Join(start, "m.model"), all)
	l.Write(l.Path("gone.txt"), []byte("a/00.jpg\nb/20.jpg\n"))
	forget := func(dir string) []string {
		return []string{"forget", filepath.Join(dir, "m.model"), "--samples", l.Path("gone.txt"), "--features", all}
	}
	e := must.Get(featdir.Read(all))(t)
	killedAtEveryStep(l, start, forget, func(files map[string]string) {
		for name, text := range files {
			for i, s := range e.Samples {
				h := e.Content[i]
				if s.Path != "a/00.jpg" && s.Path != "b/20.jpg" {
					continue
				}
				if strings.Contains(text, string(h[:])) || strings.Contains(text, hex.EncodeToString(h[:])) {
					t.Errorf("%s names %s", name, s.Path)
				}
			}
		}
		files["/m.model.journal"] = decided(t, files["/m.model.journal"])
	})
}

// teachFeatures trains a model on some rows of a feature folder, names others as on the
// page of serve, and saves twice.
func teachFeatures(l *commandtest.Bed, file, features string) {
	l.Helper()
	must.Do(l, os.MkdirAll(filepath.Dir(file), 0o755))
	some := l.Features("some", "a/19.jpg", "a/20.jpg", "a/21.jpg", "b/19.jpg", "b/20.jpg", "b/21.jpg",
		"c/19.jpg", "c/20.jpg", "c/21.jpg")
	l.Must("train", "--features", some, "--out", file,
		"--classifier", "ppca", "--set", "classifier.ppca.q=3", "--drop-label", "d")
	e := must.Get(featdir.Read(features))(l)
	s, err := teach.Open(teach.Options{Model: file, Dim: e.X.Cols, Temp: l.Dir, ToolVersion: command.NewRoot().Version})
	if err != nil {
		l.Fatal(err)
	}
	for i, sample := range e.Samples {
		id := teach.ID(e.Content[i])
		must.Do(l, s.Add([]teach.Photo{{ID: id, Path: sample.Path}}, [][]float32{dense.Row32(e.X, i)}))
		if n := filepath.Base(sample.Path); n < "19.jpg" && sample.Label != "d" {
			continue
		}
		must.Get(s.Do(teach.Decision{Do: teach.Label, Images: []teach.ID{id}, Class: sample.Label}))(l)
		if filepath.Base(sample.Path) == "21.jpg" {
			must.Get(s.Save(context.Background()))(l)
		}
	}
	must.Do(l, s.Close())
}

// decided returns the lines of a journal that do not depend on how often a model was
// fitted and saved.
func decided(t *testing.T, journal string) string {
	t.Helper()
	var lines []string
	for text := range strings.Lines(journal) {
		var line map[string]any
		must.Do(t, json.Unmarshal([]byte(text), &line))
		if slices.Contains([]any{"refit", "save", "saved"}, line["do"]) {
			continue
		}
		delete(line, "seq")
		delete(line, "time")
		lines = append(lines, fmt.Sprint(line))
	}
	return strings.Join(lines, "\n")
}

// killedAtEveryStep runs a command in copies of a folder, each killed one step later than
// the last, and again to its end, and compares their files, after check has seen them,
// with those of a run that was not killed.
func killedAtEveryStep(l *commandtest.Bed, start string, args func(dir string) []string,
	check func(files map[string]string)) {
	l.Helper()
	whole := copied(l, start, "whole")
	l.Must(args(whole)...)
	want := l.Tree(whole)
	check(want)
	for n := 1; ; n++ {
		cut := copied(l, start, fmt.Sprint("cut", n))
		cmd, stderr := l.Process(l.Path("cache"), args(cut)...)
		killed, code := testenv.KillAt(l, n, cmd)
		if !killed && code != command.ExitDone {
			l.Fatalf("exit code %d: %s", code, stderr)
		}
		if !killed {
			l.Logf("%d steps", n-1)
			return
		}
		nothingLeft := maps.Equal(l.Tree(cut), want) // it was killed on its way out
		if r := l.Run(args(cut)...); r.Code != command.ExitDone && !nothingLeft {
			l.Errorf("killed before step %d, then: exit code %d, %s", n, r.Code, r.Stderr)
		}
		got := l.Tree(cut)
		check(got)
		for name := range got {
			if got[name] != want[name] {
				l.Errorf("killed before step %d: %s is another, or too much", n, name)
			}
		}
		if len(got) != len(want) {
			l.Errorf("killed before step %d: %d files, want %d", n, len(got), len(want))
		}
	}
}

// copied copies the files of a folder into a new one.
func copied(l *commandtest.Bed, from, name string) string {
	l.Helper()
	to := filepath.Join(testenv.MemoryDir(l.TB), name)
	must.Do(l, os.CopyFS(to, os.DirFS(from)))
	return to
}
