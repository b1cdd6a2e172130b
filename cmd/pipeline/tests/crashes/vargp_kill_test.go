//go:build unix

package crashes

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// trainingsIn counts the trainings with files in a folder.
func trainingsIn(dir string) int {
	files, _ := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	return len(files)
}

// TestKilledVARGP: train and learn, killed at several moments, end with the
// bytes of uninterrupted runs, and leave no checkpoint behind.
func TestKilledVARGP(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("features"))
	slowly := func(args ...string) []string {
		return append(args, "--set", "classifier.vargp.epochs=75", "--set", "classifier.vargp.patience=75", "--set",
			"classifier.temperature=1", "--set", "classifier.vargp.hyper_samples=1")
	}
	train := func(out string) []string {
		return slowly("train", "--features", features, "--classifier", "vargp", "--out", l.Path(out))
	}
	l.Must(train("whole.model")...)
	stopped(l, "cut.model", train("cut.model"))
	l.Same("the trained model", l.Read(l.Path("whole.model")), l.Path("cut.model"))
	more := l.Relabelled(features)
	learn := func(model, out string) []string {
		return []string{"learn", l.Path(model), "--features", more, "--out", l.Path(out)}
	}
	l.Must(learn("whole.model", "whole2.model")...)
	stopped(l, "cut2.model", learn("cut.model", "cut2.model"))
	l.Same("the model that learned more", l.Read(l.Path("whole2.model")), l.Path("cut2.model"))
}

// stopped runs a command that trains, stops it with a signal a few times, and then
// lets it finish.
func stopped(l *commandtest.Bed, out string, args []string) {
	l.Helper()
	dir := l.Path(out + ".training")
	caught := 0
	for i, sig := range []os.Signal{syscall.SIGKILL, os.Interrupt} {
		cmd, _ := l.Process(l.Path("cache"), args...)
		code := l.SignalWhen(cmd, sig, func() bool { return trainingsIn(dir) > i })
		if code == commandtest.WasKilled || code == command.ExitInterrupted {
			caught++
		}
	}
	if caught == 0 {
		l.Error("no run was caught at work")
	}
	l.Must(args...)
	if l.Exists(dir) {
		l.Errorf("%s is still there", dir)
	}
}
