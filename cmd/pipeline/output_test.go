//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestStdoutIsFull: a command whose printed results are lost has failed.
func TestStdoutIsFull(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{
		{"eval", model, "--images", images}, {"inspect", model}, {"doctor"}, {"backbones", "list"}, {"label", "--help"},
		{"embed", "--images", images, "--out", l.path("features")},
	} {
		cmd, stderr := l.process(l.path("cache"), args...)
		cmd.Stdout = full
		_ = cmd.Run() // the exit code says it
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit code %d\n%s", args, code, stderr)
		}
	}
}

// TestUnwritableOutput: a command says at once that its results cannot be
// written, before it reads an image.
func TestUnwritableOutput(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	stats, features := l.path("x.stats"), l.path("features")
	l.must("stats", "collect", "--images", images, "--out", stats)
	l.must("embed", "--images", images, "--out", features)
	missing, closed := l.path("missing", "file"), l.path("closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	fresh := l.path("fresh cache")
	refused := func(cmd *exec.Cmd, stderr interface{ String() string }, folder string) {
		t.Helper()
		_ = cmd.Run() // the exit code says it
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(stderr.String(), folder) {
			t.Errorf("%q: exit code %d\n%s", cmd.Args, code, stderr)
		}
		if l.cachedRows(fresh) > 0 {
			t.Fatalf("%q: embedded images first", cmd.Args)
		}
	}
	for _, args := range [][]string{
		{"train", "--images", images, "--out"}, {"learn", model, "--images", images, "--out"}, {"eval", model, "--images", images, "--json"},
		{"rank", model, "--images", images, "--out"}, {"stats", "collect", "--images", images, "--out"}, {"stats", "merge", stats, "--out"},
		{"train", "--stats", stats, "--out"}, {"learn", model, "--stats", stats, "--out"}, {"export", model, "--onnx"},
		{"embed", "--images", images, "--out"},
	} {
		cmd, stderr := l.process(fresh, append(args, missing)...)
		refused(cmd, stderr, missing)
	}
	for _, args := range [][]string{
		{"eval", model, "--images", images, "--report"}, {"label", model, "--images", images, "--out"}, {"embed", "--images", images, "--out"},
		{"rank", model, "--images", images, "--out", l.path("rank.csv"), "--cluster-unknown"},
		{"fscil", "--images", images, "--set", "fscil.protocol=few-shot", "--out"},
		{"experiment", "--config", "ablation_q", "--features", features, "--out"},
	} {
		cmd, stderr := l.process(fresh, append(args, l.path("closed", "out"))...)
		refused(belowPermissions(t, cmd), stderr, closed)
	}
}
