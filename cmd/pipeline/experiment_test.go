package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
)

// pool writes a feature folder of 10 classes with 12 training and 6 test rows
// each, for drawn sessions.
func (l *testbed) pool(dir string) string {
	l.Helper()
	out, err := featdir.NewWriter(dir, embed.Provenance{Dim: 6})
	if err != nil {
		l.Fatal(err)
	}
	defer out.Abort()
	rng := rand.New(rand.NewPCG(3, uint64(len(dir))))
	for class := range 10 {
		centre := cloud(rng, make([]float32, 6), 1)
		for i := range 18 {
			s := dataset.Sample{Path: fmt.Sprintf("c%d/%02d.jpg", class, i), Label: fmt.Sprintf("c%d", class), Split: "train"}
			if i >= 12 {
				s.Split = "test"
			}
			if err := out.Write(s, cloud(rng, centre, 0.6)); err != nil {
				l.Fatal(err)
			}
		}
	}
	if err := out.Close(); err != nil {
		l.Fatal(err)
	}
	return dir
}

// results are the files of a folder without its parts.
func (l *testbed) results(dir string) map[string][]byte {
	l.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && e.Name() != "config.yaml" { // it names the folder
			files[e.Name()] = l.read(dir, e.Name())
		}
	}
	return files
}

func (l *testbed) sameResults(what, a, b string) {
	l.Helper()
	x, y := l.results(a), l.results(b)
	if len(x) != len(y) || len(x) < 4 {
		l.Errorf("%s: %d and %d files", what, len(x), len(y))
	}
	for name := range x {
		if !bytes.Equal(x[name], y[name]) {
			l.Errorf("%s: %s differs", what, name)
		}
	}
}

// TestExperimentsByName: every built-in experiment, at reduced size, writes the
// documented files; config.yaml repeats it; threads do not matter.
func TestExperimentsByName(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every kind of experiment")
	}
	l := &testbed{TB: t, dir: t.TempDir()}
	features, other := l.pool(l.path("small")), l.pool(l.path("larger"))
	small := []string{"--set", "experiment.ablation.q=0,2,20", "--features", features}
	synthetic := []string{"--set", "experiment.ppca_online.train=40", "--set", "experiment.ppca_online.test=8", "--set", "experiment.ppca_online.seeds=2", "--set", "experiment.ppca_online.d=4", "--set", "experiment.ppca_online.q=1", "--set", "experiment.ppca_online.beta=1"}
	tiny := []string{"--set", "experiment.vargp.seeds=2", "--set", "experiment.vargp.epochs=2", "--set", "experiment.vargp.inducing=3", "--set", "experiment.vargp.predict_hypers=2"}
	for name, args := range map[string][]string{
		"ablation_q":      small,
		"ablation_lambda": append([]string{"--set", "experiment.ablation.lambda=0.01,0.1"}, small...),
		"ablation_input":  {"--set", "experiment.ablation.q=0,2", "--set", "experiment.ablation.inputs=small=" + features + "," + other},
		"gpr_incremental": {"--features", features, "--set", "fscil.protocol=class-incremental", "--set", "fscil.steps=1", "--set", "experiment.gpr.n=", "--set", "experiment.gpr.classes=2", "--set", "experiment.gpr.examples=2",
			"--set", "experiment.gpr.start=1", "--set", "experiment.gpr.step=1", "--set", "experiment.gpr.steps=1", "--set", "experiment.gpr.runs=2"},
		"gpr_toy":          {"--set", "experiment.gpr.grid=5"},
		"vargp_features":   append([]string{"--features", features, "--set", "fscil.protocol=class-incremental", "--set", "fscil.steps=1", "--set", "experiment.vargp.tasks=2", "--set", "experiment.vargp.classes=1", "--set", "experiment.vargp.sweep=3,4"}, tiny...),
		"vargp_toy":        append([]string{"--set", "experiment.vargp.grid=5", "--set", "experiment.vargp.train=10"}, tiny...),
		"ppca_online_fig1": synthetic,
		"ppca_online_fig2": synthetic,
		"ppca_online_fig3": synthetic,
		"ppca_online_fig4": synthetic,
	} {
		out := l.path("out", name)
		command := append([]string{"experiment", "--config", name}, args...)
		l.must(append(command, "--out", out, "--threads", "1")...)
		for _, file := range []string{"results.json", "table.md", "table.csv", "config.yaml"} {
			if len(l.read(out, file)) == 0 {
				t.Errorf("%s: %s is empty", name, file)
			}
		}
		if figures, err := filepath.Glob(filepath.Join(out, "*.svg")); err != nil || len(figures) == 0 {
			t.Errorf("%s: no figures (%v)", name, err)
		}
		l.must(append(command, "--out", out+"_3", "--threads", "3")...)
		l.sameResults(name+" with three threads", out, out+"_3")
		l.must("experiment", "--config", filepath.Join(out, "config.yaml"), "--out", out+"_again")
		l.sameResults(name+" from its config.yaml", out, out+"_again")
	}
	rows := l.table(l.path("out", "ablation_q", "table.csv"))
	if want := []string{"input", "λ", "source", "q = 0", "q = 2", "q = 20"}; !slices.Equal(rows[0], want) || len(rows) != 8 {
		t.Errorf("table.csv has %d rows, header %q", len(rows), rows[0])
	}
}

// TestExperimentGoesOn: stopped after its first part it prints how to resume, and
// resumes without repeating that part.
func TestExperimentGoesOn(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
	args := []string{"experiment", "--config", "ablation_q", "--set", "experiment.ablation.q=0,2", "--features", l.pool(l.path("features")), "--cache", l.path("cache"), "--out"}
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	stop := writer(func(p []byte) { cancel(); stderr.Write(p) }) // at the first line of the log
	if code := run(ctx, append(args, l.path("out")), io.Discard, stop); code != exitInterrupted {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	parts, err := filepath.Glob(l.path("out", "parts", "*.safetensors"))
	if err != nil || len(parts) != 1 || l.exists("out", "results.json") {
		t.Fatalf("interrupted with parts %q (%v)", parts, err)
	}
	before := l.read(parts[0])
	l.must(append(args[:len(args)-3], "--out", l.path("out"))...)
	l.must(append(args[:len(args)-3], "--out", l.path("whole"))...)
	l.sameResults("interrupted", l.path("out"), l.path("whole"))
	if !bytes.Equal(before, l.read(parts[0])) {
		t.Error("a finished part was done again")
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func TestExperimentMistakes(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
	out := l.path("out")
	l.refused(exitUsage, []string{"--out"}, "experiment", "--config", "ablation_q")
	l.refused(exitUsage, []string{"experiment.kind is empty"}, "experiment", "--out", out)
	l.refused(exitUsage, []string{"experiment.kind", `did you mean "ablation"`}, "experiment", "--set", "experiment.kind=ablations", "--out", out)
	l.refused(exitUsage, []string{`did you mean "experiment.ablation.q"`}, "experiment", "--set", "experiment.ablation.qs=3", "--out", out)
	l.refused(exitUsage, []string{"--features"}, "experiment", "--config", "ablation_q", "--out", out)
	l.refused(exitUsage, []string{`did you mean "ablation_q"`}, "experiment", "--config", "ablation_qs", "--out", out)
	l.refused(exitFailed, []string{"nowhere"}, "experiment", "--config", "ablation_q", "--features", l.path("nowhere"), "--out", out)
}
