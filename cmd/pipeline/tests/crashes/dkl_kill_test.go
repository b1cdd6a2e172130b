//go:build unix

package crashes

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// epochsIn counts the epochs that a training has finished.
func epochsIn(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "training.csv"))
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n")) - 1
}

// TestKilledTraining: killed at several moments, the same command goes on and ends with the
// bytes of an uninterrupted run, without a checkpoint; Ctrl-C says that there is one.
func TestKilledTraining(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("features"))
	args := func(out string) []string {
		return append(commandtest.Quickly("train", "--features", features, "--out", l.Path(out)), "--set",
			"classifier.dkl.epochs=60", "--set", "classifier.dkl.pretrain=20", "--set", "classifier.dkl.patience=0")
	}
	l.Must(args("whole.model")...)
	caught := 0
	for i, sig := range []os.Signal{syscall.SIGKILL, os.Interrupt, syscall.SIGKILL} {
		cmd, said := l.Process(l.Path("cache"), args("cut.model")...)
		code := l.SignalWhen(cmd, sig, func() bool { return epochsIn(l.Path("cut.model.dkl")) >= 15*(i+1) })
		if code == commandtest.WasKilled || code == command.ExitInterrupted {
			caught++
		}
		if code == command.ExitInterrupted && !strings.Contains(said.String(), "goes on from its checkpoint") {
			t.Errorf("Ctrl-C does not say that there is a checkpoint: %s", said)
		}
	}
	if caught == 0 {
		t.Error("no run was caught at work")
	}
	half := l.Path("cut.model.dkl", ".checkpoint.safetensors.tmp-pipeline-1") // left by a kill while saving
	l.Write(half, []byte("half"))
	if r := l.Must(args("cut.model")...); !strings.Contains(r.Stderr, "training goes on") {
		t.Errorf("it does not say that it resumes: %s", r.Stderr)
	}
	l.NoLeftovers(l.Path("cut.model.dkl"))
	l.Same("the model", l.Read(l.Path("whole.model")), l.Path("cut.model"))
	for _, name := range []string{"training.csv", "training.png"} {
		l.Same(name, l.Read(l.Path("whole.model.dkl", name)), l.Path("cut.model.dkl", name))
	}
	if l.Exists(l.Path("cut.model.dkl", "checkpoint.safetensors")) {
		t.Error("the checkpoint stays after the model is written")
	}
}
