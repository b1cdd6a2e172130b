//go:build unix

package crashes

import (
	"bytes"
	"os"
	"path/filepath"
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

// TestKilledTraining: killed at several moments, the same command ends with the
// bytes of an uninterrupted run; Ctrl-C prints how to resume.
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
		cmd, _ := l.Process(l.Path("cache"), args("cut.model")...)
		code := l.SignalWhen(cmd, sig, func() bool { return epochsIn(l.Path("cut.model.dkl")) >= 15*(i+1) })
		if code == commandtest.WasKilled || code == command.ExitInterrupted {
			caught++
		}
	}
	if caught == 0 {
		t.Error("no run was caught at work")
	}
	l.Must(args("cut.model")...)
	l.Same("the model", l.Read(l.Path("whole.model")), l.Path("cut.model"))
	for _, name := range []string{"checkpoint.safetensors", "training.csv", "training.png"} {
		l.Same(name, l.Read(l.Path("whole.model.dkl", name)), l.Path("cut.model.dkl", name))
	}
}
