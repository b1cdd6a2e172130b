//go:build unix

package crashes

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestKilledBenchmarks: fscil and experiment, killed once parts are saved, while
// another is trained, and while they write their results, end with the bytes of
// an uninterrupted run and do no finished part again, even if the clock was set
// back or forward meanwhile.
func TestKilledBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	l := commandtest.NewBare(t)
	l.Env = append(os.Environ(), commandtest.ActAsPipeline+"=1")
	for name, args := range map[string][]string{
		"fscil": {"fscil", "--features", l.Clouds(l.Path("clouds")), "--classifier", "ncm,plda,gpr,gptree,vargp",
			"--set", "classifier.vargp.epochs=50", "--set", "classifier.vargp.patience=50", "--set",
			"classifier.vargp.hyper_samples=1"},
		"experiment": {"experiment", "--config", "vargp_toy", "--set", "experiment.vargp.grid=5", "--set",
			"experiment.vargp.train=10", "--set", "experiment.vargp.seeds=2",
			"--set", "experiment.vargp.epochs=50", "--set", "experiment.vargp.patience=50", "--set",
			"experiment.vargp.inducing=3", "--set", "experiment.vargp.predict_hypers=2"},
	} {
		whole, cut := l.Path(name+" whole"), l.Path(name+" cut")
		l.Must(append(args, "--out", whole)...)
		parts := filepath.Join(cut, "parts")
		trains := func() bool { drafts, _ := filepath.Glob(filepath.Join(parts, "*.draft.*")); return len(drafts) > 0 }
		caught := 0
		for i, farEnough := range []func() bool{
			func() bool { return len(finished(l, parts)) >= 1 },
			func() bool { return len(finished(l, parts)) >= 3 },
			func() bool { return len(finished(l, parts)) >= 3 && (trains() || name == "fscil") },
			func() bool { return l.Exists(cut, "table.md") || l.Exists(cut, "ncm", "results.json") },
		} {
			before := finished(l, parts)
			cmd, _ := l.Process(l.Path("cache"), append(args, "--out", cut)...)
			code := l.SignalWhen(cmd, syscall.SIGKILL, farEnough)
			if code == commandtest.WasKilled {
				caught++
			}
			untouched(l, parts, before)
			t.Logf("%s: killed: %t, %d parts", name, code == commandtest.WasKilled, len(finished(l, parts)))
			clock := time.Unix(0, 0)
			if i%2 == 0 {
				clock = time.Now().AddDate(50, 0, 0)
			}
			l.SetTimes(parts, clock)
		}
		if caught < 3 {
			t.Errorf("%s: %d runs were caught at work", name, caught)
		}
		for _, dir := range []string{cut, parts} { // as a killed run may leave, too seldom to wait for
			l.Write(filepath.Join(dir, ".table.csv.tmp-pipeline-0"), nil)
		}
		before := finished(l, parts)
		l.Must(append(args, "--out", cut)...)
		untouched(l, parts, before)
		sameTrees(l, whole, cut)
	}
}

// finished returns the times of the finished parts in a folder, by name.
func finished(l *commandtest.Bed, parts string) map[string]time.Time {
	l.Helper()
	files := must.Get(filepath.Glob(filepath.Join(parts, "*.safetensors")))(l)
	found := map[string]time.Time{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && !strings.Contains(file, ".draft.") {
			found[filepath.Base(file)] = info.ModTime()
		}
	}
	return found
}

// untouched fails if a part that was finished before has been written again.
func untouched(l *commandtest.Bed, parts string, before map[string]time.Time) {
	l.Helper()
	after := finished(l, parts)
	for file, at := range before {
		if !after[file].Equal(at) {
			l.Errorf("%s was finished in %s, and was written again", file, parts)
		}
	}
}

// sameTrees compares the files of two results, parts included; config.yaml names
// the folder.
func sameTrees(l *commandtest.Bed, want, got string) {
	l.Helper()
	a, b := l.Tree(want), l.Tree(got)
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
