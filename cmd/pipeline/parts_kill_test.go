//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKilledBenchmarks: fscil and experiment, killed once parts are saved, while
// another is trained, and while they write their results, end with the bytes of
// an uninterrupted run and do no finished part again, even if the clock was set
// back or forward meanwhile.
func TestKilledBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	l := &testbed{TB: t, dir: t.TempDir()}
	l.env = append(os.Environ(), actAsPipeline+"=1")
	for name, args := range map[string][]string{
		"fscil": {"fscil", "--features", l.clouds(l.path("clouds")), "--classifier", "ncm,plda,gpr,gptree,vargp",
			"--set", "classifier.vargp.epochs=100", "--set", "classifier.vargp.patience=100", "--set", "classifier.vargp.hyper_samples=1"},
		"experiment": {"experiment", "--config", "vargp_toy", "--set", "experiment.vargp.grid=5", "--set", "experiment.vargp.train=10", "--set", "experiment.vargp.seeds=2",
			"--set", "experiment.vargp.epochs=100", "--set", "experiment.vargp.patience=100", "--set", "experiment.vargp.inducing=3", "--set", "experiment.vargp.predict_hypers=2"},
	} {
		whole, cut := l.path(name+" whole"), l.path(name+" cut")
		l.must(append(args, "--out", whole)...)
		parts := filepath.Join(cut, "parts")
		trains := func() bool { drafts, _ := filepath.Glob(filepath.Join(parts, "*.draft.*")); return len(drafts) > 0 }
		caught := 0
		for i, farEnough := range []func() bool{
			func() bool { return len(l.finished(parts)) >= 1 },
			func() bool { return len(l.finished(parts)) >= 3 },
			func() bool { return len(l.finished(parts)) >= 3 && (trains() || name == "fscil") },
			func() bool { return l.exists(cut, "table.md") || l.exists(cut, "ncm", "results.json") },
		} {
			before := l.finished(parts)
			cmd, _ := l.process(l.path("cache"), append(args, "--out", cut)...)
			code := l.signalWhen(cmd, syscall.SIGKILL, farEnough)
			if code == wasKilled {
				caught++
			}
			l.untouched(parts, before)
			t.Logf("%s: killed: %t, %d parts", name, code == wasKilled, len(l.finished(parts)))
			clock := time.Unix(0, 0)
			if i%2 == 0 {
				clock = time.Now().AddDate(50, 0, 0)
			}
			l.setTimes(parts, clock)
		}
		if caught < 3 {
			t.Errorf("%s: %d runs were caught at work", name, caught)
		}
		for _, dir := range []string{cut, parts} { // as a killed run may leave, too seldom to wait for
			l.write(filepath.Join(dir, ".table.csv.tmp-pipeline-0"), nil)
		}
		before := l.finished(parts)
		l.must(append(args, "--out", cut)...)
		l.untouched(parts, before)
		l.sameTrees(whole, cut)
	}
}

// finished returns the times of the finished parts in a folder, by name.
func (l *testbed) finished(parts string) map[string]time.Time {
	l.Helper()
	files, err := filepath.Glob(filepath.Join(parts, "*.safetensors"))
	if err != nil {
		l.Fatal(err)
	}
	found := map[string]time.Time{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && !strings.Contains(file, ".draft.") {
			found[filepath.Base(file)] = info.ModTime()
		}
	}
	return found
}

// untouched fails if a part that was finished before has been written again.
func (l *testbed) untouched(parts string, before map[string]time.Time) {
	l.Helper()
	after := l.finished(parts)
	for file, at := range before {
		if !after[file].Equal(at) {
			l.Errorf("%s was finished in %s, and was written again", file, parts)
		}
	}
}

// setTimes sets the times of all files below a folder.
func (l *testbed) setTimes(dir string, at time.Time) {
	l.Helper()
	for file := range l.tree(dir) {
		if err := os.Chtimes(filepath.Join(dir, file), at, at); err != nil {
			l.Fatal(err)
		}
	}
}

// tree returns the contents of all files below a folder.
func (l *testbed) tree(dir string) map[string]string {
	l.Helper()
	files := map[string]string{}
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			files[strings.TrimPrefix(path, dir)] = string(l.read(path))
		}
		return err
	}); err != nil {
		l.Fatal(err)
	}
	return files
}

// sameTrees compares the files of two results, parts included; config.yaml names
// the folder.
func (l *testbed) sameTrees(want, got string) {
	l.Helper()
	a, b := l.tree(want), l.tree(got)
	for _, files := range []map[string]string{a, b} {
		delete(files, "/config.yaml")
	}
	for name := range a {
		if a[name] != b[name] {
			l.Errorf("%s: %s differs from that of the uninterrupted run", got, name)
		}
		delete(b, name)
	}
	for name := range b {
		l.Errorf("%s: %s is left over", got, name)
	}
}
