//go:build linux

package command_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestStdoutIsFull: a command whose printed results are lost has failed.
func TestStdoutIsFull(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{
		{"eval", model, "--images", images}, {"inspect", model}, {"doctor"}, {"backbones", "list"}, {"label", "--help"},
		{"embed", "--images", images, "--out", l.Path("features")},
	} {
		cmd, stderr := l.Process(l.Path("cache"), args...)
		cmd.Stdout = full
		_ = cmd.Run() // the exit code says it
		if code := cmd.ProcessState.ExitCode(); code != command.ExitFailed ||
			!strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit code %d\n%s", args, code, stderr)
		}
	}
}

// TestUnwritableOutput: a command says at once that its results cannot be
// written, before it reads an image.
func TestUnwritableOutput(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	stats, features := l.Path("x.stats"), l.Path("features")
	l.Must("stats", "collect", "--images", images, "--out", stats)
	l.Must("embed", "--images", images, "--out", features)
	missing, closed := l.Path("missing", "file"), l.Path("closed")
	must.Do(t, os.Mkdir(closed, 0o555))
	fresh := l.Path("fresh cache")
	refused := func(cmd *exec.Cmd, stderr interface{ String() string }, folder string) {
		t.Helper()
		_ = cmd.Run() // the exit code says it
		if code := cmd.ProcessState.ExitCode(); code != command.ExitFailed ||
			!strings.Contains(stderr.String(), folder) {
			t.Errorf("%q: exit code %d\n%s", cmd.Args, code, stderr)
		}
		if l.CachedRows(fresh) > 0 {
			t.Fatalf("%q: embedded images first", cmd.Args)
		}
	}
	for _, args := range [][]string{
		{"train", "--images", images, "--out"}, {"learn", model, "--images", images, "--out"},
		{"eval", model, "--images", images, "--json"},
		{"rank", model, "--images", images, "--out"}, {"stats", "collect", "--images", images, "--out"},
		{"stats", "merge", stats, "--out"},
		{"train", "--stats", stats, "--out"}, {"learn", model, "--stats", stats, "--out"}, {"export", model, "--onnx"},
	} {
		cmd, stderr := l.Process(fresh, append(args, missing)...)
		refused(cmd, stderr, missing)
	}
	for _, args := range [][]string{
		{"eval", model, "--images", images, "--report"}, {"label", model, "--images", images, "--out"},
		{"embed", "--images", images, "--out"},
		{"rank", model, "--images", images, "--out", l.Path("rank.csv"), "--cluster-unknown"},
		{"fscil", "--images", images, "--set", "fscil.protocol=few-shot", "--out"},
		{"experiment", "--config", "ablation_q", "--features", features, "--out"},
	} {
		for _, out := range []string{l.Path("closed", "out"), l.Path("closed", "missing", "out")} {
			cmd, stderr := l.Process(fresh, append(args, out)...)
			refused(commandtest.BelowPermissions(t, cmd), stderr, closed)
		}
	}
}
