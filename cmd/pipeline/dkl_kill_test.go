//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// epochsIn counts the epochs that a training has finished.
func epochsIn(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "training.csv"))
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n")) - 1
}

// TestKilledTraining: killed at several moments, the same command ends with the
// bytes of an uninterrupted run; Ctrl-C prints how to resume.
func TestKilledTraining(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("features"))
	args := func(out string) []string {
		return append(quickly("train", "--features", features, "--out", l.path(out)), "--set", "classifier.dkl.epochs=60", "--set", "classifier.dkl.pretrain=20", "--set", "classifier.dkl.patience=0")
	}
	l.must(args("whole.model")...)
	caught := 0
	for i, sig := range []os.Signal{syscall.SIGKILL, os.Interrupt, syscall.SIGKILL} {
		cmd, _ := l.process(l.path("cache"), args("cut.model")...)
		code := l.signalWhen(cmd, sig, func() bool { return epochsIn(l.path("cut.model.dkl")) >= 15*(i+1) })
		if code == wasKilled || code == exitInterrupted {
			caught++
		}
	}
	if caught == 0 {
		t.Error("no run was caught at work")
	}
	l.must(args("cut.model")...)
	l.same("the model", l.read(l.path("whole.model")), l.path("cut.model"))
	for _, name := range []string{"checkpoint.safetensors", "training.csv", "training.png"} {
		l.same(name, l.read(l.path("whole.model.dkl", name)), l.path("cut.model.dkl", name))
	}
}
