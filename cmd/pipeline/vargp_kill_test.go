//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// trainingsIn counts the trainings with files in a folder.
func trainingsIn(dir string) int {
	files, _ := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	return len(files)
}

// TestKilledVARGP: train and learn, killed at several moments, end with the
// bytes of uninterrupted runs, and leave no checkpoint behind.
func TestKilledVARGP(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("features"))
	slowly := func(args ...string) []string {
		return append(args, "--set", "classifier.vargp.epochs=150", "--set", "classifier.vargp.patience=150", "--set", "classifier.temperature=1", "--set", "classifier.vargp.hyper_samples=1")
	}
	train := func(out string) []string {
		return slowly("train", "--features", features, "--classifier", "vargp", "--out", l.path(out))
	}
	l.must(train("whole.model")...)
	l.stopped("cut.model", train("cut.model"))
	l.same("the trained model", l.read(l.path("whole.model")), l.path("cut.model"))
	more := l.relabelled(features)
	learn := func(model, out string) []string {
		return []string{"learn", l.path(model), "--features", more, "--out", l.path(out)}
	}
	l.must(learn("whole.model", "whole2.model")...)
	l.stopped("cut2.model", learn("cut.model", "cut2.model"))
	l.same("the model that learned more", l.read(l.path("whole2.model")), l.path("cut2.model"))
}

// stopped runs a command that trains, stops it with a signal a few times, and then
// lets it finish.
func (l *testbed) stopped(out string, args []string) {
	l.Helper()
	dir := l.path(out + ".training")
	caught := 0
	for i, sig := range []os.Signal{syscall.SIGKILL, os.Interrupt} {
		cmd, _ := l.process(l.path("cache"), args...)
		code := l.signalWhen(cmd, sig, func() bool { return trainingsIn(dir) > i })
		if code == wasKilled || code == exitInterrupted {
			caught++
		}
	}
	if caught == 0 {
		l.Error("no run was caught at work")
	}
	l.must(args...)
	if l.exists(dir) {
		l.Errorf("%s is still there", dir)
	}
}
