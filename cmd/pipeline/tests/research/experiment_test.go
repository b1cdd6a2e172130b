package research

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

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// pool writes a feature folder of 10 classes with 12 training and 6 test rows
// each, for drawn sessions.
func pool(l *commandtest.Bed, dir string) string {
	l.Helper()
	out := must.Get(featdir.NewWriter(dir, embedding.Provenance{Dim: 6}))(l)
	defer out.Abort()
	rng := rand.New(rand.NewPCG(3, uint64(len(dir))))
	for class := range 10 {
		centre := commandtest.Cloud(rng, make([]float32, 6), 1)
		for i := range 18 {
			s := dataset.Sample{Path: fmt.Sprintf("c%d/%02d.jpg", class, i), Label: fmt.Sprintf("c%d", class),
				Split: "train"}
			if i >= 12 {
				s.Split = "test"
			}
			must.Do(l, out.Write(s, commandtest.Cloud(rng, centre, 0.6)))
		}
	}
	must.Do(l, out.Close())
	return dir
}

// results are the files of a folder without its parts.
func results(l *commandtest.Bed, dir string) map[string][]byte {
	l.Helper()
	files := map[string][]byte{}
	entries := must.Get(os.ReadDir(dir))(l)
	for _, e := range entries {
		if !e.IsDir() && e.Name() != "config.yaml" { // it names the folder
			files[e.Name()] = l.Read(dir, e.Name())
		}
	}
	return files
}

func sameResults(l *commandtest.Bed, what, a, b string) {
	l.Helper()
	x, y := results(l, a), results(l, b)
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
	l := commandtest.NewBare(t)
	features, other := pool(l, l.Path("small")), pool(l, l.Path("larger"))
	small := []string{"--set", "experiment.ablation.q=0,2,20", "--features", features}
	synthetic := []string{"--set", "experiment.ppca_online.train=40", "--set", "experiment.ppca_online.test=8", "--set",
		"experiment.ppca_online.seeds=2", "--set", "experiment.ppca_online.d=4", "--set", "experiment.ppca_online.q=1",
		"--set", "experiment.ppca_online.beta=1"}
	tiny := []string{"--set", "experiment.vargp.seeds=2", "--set", "experiment.vargp.epochs=2", "--set",
		"experiment.vargp.inducing=3", "--set", "experiment.vargp.predict_hypers=2"}
	for name, args := range map[string][]string{
		"ablation_q":      small,
		"ablation_lambda": append([]string{"--set", "experiment.ablation.lambda=0.01,0.1"}, small...),
		"ablation_input": {"--set", "experiment.ablation.q=0,2", "--set", "experiment.ablation.inputs=small=" +
			features + "," + other},
		"gpr_incremental": {"--features", features, "--set", "fscil.protocol=class-incremental", "--set",
			"fscil.steps=1", "--set", "experiment.gpr.n=", "--set", "experiment.gpr.classes=2", "--set",
			"experiment.gpr.examples=2",
			"--set", "experiment.gpr.start=1", "--set", "experiment.gpr.step=1", "--set", "experiment.gpr.steps=1",
			"--set", "experiment.gpr.runs=2"},
		"gpr_toy": {"--set", "experiment.gpr.grid=5"},
		"vargp_features": append([]string{"--features", features, "--set", "fscil.protocol=class-incremental",
			"--set", "fscil.steps=1", "--set", "experiment.vargp.tasks=2", "--set", "experiment.vargp.classes=1",
			"--set", "experiment.vargp.sweep=3,4"}, tiny...),
		"vargp_toy": append([]string{"--set", "experiment.vargp.grid=5", "--set", "experiment.vargp.train=10"},
			tiny...),
		"ppca_online_fig1": synthetic,
		"ppca_online_fig2": synthetic,
		"ppca_online_fig3": synthetic,
		"ppca_online_fig4": synthetic,
	} {
		out := l.Path("out", name)
		command := append([]string{"experiment", "--config", name}, args...)
		l.Must(append(command, "--out", out, "--threads", "1")...)
		for _, file := range []string{"results.json", "table.md", "table.csv", "config.yaml"} {
			if len(l.Read(out, file)) == 0 {
				t.Errorf("%s: %s is empty", name, file)
			}
		}
		if figures, err := filepath.Glob(filepath.Join(out, "*.svg")); err != nil || len(figures) == 0 {
			t.Errorf("%s: no figures (%v)", name, err)
		}
		l.Must("experiment", "--config", filepath.Join(out, "config.yaml"), "--out", out+"_again", "--threads", "3")
		sameResults(l, name+" from its config.yaml, with three threads", out, out+"_again")
	}
	rows := l.Table(l.Path("out", "ablation_q", "table.csv"))
	if want := []string{"input", "λ", "source", "q = 0", "q = 2", "q = 20"}; !slices.Equal(rows[0], want) ||
		len(rows) != 8 {
		t.Errorf("table.csv has %d rows, header %q", len(rows), rows[0])
	}
}

// TestExperimentGoesOn: stopped after its first part it prints how to resume, and
// resumes without repeating that part.
func TestExperimentGoesOn(t *testing.T) {
	l := commandtest.NewBare(t)
	args := []string{"experiment", "--config", "ablation_q", "--set", "experiment.ablation.q=0,2", "--features",
		pool(l, l.Path("features")), "--cache", l.Path("cache"), "--out"}
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	stop := writer(func(p []byte) { cancel(); stderr.Write(p) }) // at the first line of the log
	code := command.Run(commandtest.Context(ctx), append(args, l.Path("out")), io.Discard, stop)
	if code != command.ExitInterrupted {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	parts, err := filepath.Glob(l.Path("out", "parts", "*.safetensors"))
	if err != nil || len(parts) != 1 || l.Exists("out", "results.json") {
		t.Fatalf("interrupted with parts %q (%v)", parts, err)
	}
	before := l.Read(parts[0])
	l.Must(append(args[:len(args)-3], "--out", l.Path("out"))...)
	l.Must(append(args[:len(args)-3], "--out", l.Path("whole"))...)
	sameResults(l, "interrupted", l.Path("out"), l.Path("whole"))
	if !bytes.Equal(before, l.Read(parts[0])) {
		t.Error("a finished part was done again")
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func TestExperimentMistakes(t *testing.T) {
	l := commandtest.NewBare(t)
	out := l.Path("out")
	l.Refused(command.ExitUsage, []string{"--out"}, "experiment", "--config", "ablation_q")
	l.Refused(command.ExitUsage, []string{"experiment.kind is empty"}, "experiment", "--out", out)
	l.Refused(command.ExitUsage, []string{"experiment.kind", `did you mean "ablation"`}, "experiment", "--set",
		"experiment.kind=ablations", "--out", out)
	l.Refused(command.ExitUsage, []string{`did you mean "experiment.ablation.q"`}, "experiment", "--set",
		"experiment.ablation.qs=3", "--out", out)
	l.Refused(command.ExitUsage, []string{"--features"}, "experiment", "--config", "ablation_q", "--out", out)
	l.Refused(command.ExitUsage, []string{`did you mean "ablation_q"`}, "experiment", "--config", "ablation_qs",
		"--out", out)
	l.Refused(command.ExitFailed, []string{"nowhere"}, "experiment", "--config", "ablation_q", "--features",
		l.Path("nowhere"), "--out", out)
}
