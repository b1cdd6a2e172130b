//go:build unix

package photos

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestPipesAndDevicesAreNoFiles: given as any input file, they are refused at
// once, rather than waited for or read to the end of memory.
func TestPipesAndDevicesAreNoFiles(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	features := l.Path("features")
	l.Must("embed", "--images", images, "--out", features)
	pipe := l.Path("pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o644))
	out := l.Path("out")
	for _, special := range []string{pipe, "/dev/zero"} {
		const words = "not a regular file"
		l.Refused(command.ExitUsage, []string{special, words}, "train", "--images", images, "--out", out, "--config",
			special)
		for _, args := range [][]string{
			{"label", special, "--images", images, "--out", out},
			{"learn", special, "--images", images},
			{"inspect", special},
			{"export", special, "--onnx", out},
			{"label", model, "--images", images, "--list", special, "--out", out},
			{"forget", model, "--samples", special},
			{"train", "--images", images, "--out", out, "--backbone", special},
			{"backbones", "inspect", special},
			{"train", "--stats", special, "--out", out},
			{"learn", model, "--stats", special},
			{"stats", "merge", special, "--out", out},
		} {
			l.Refused(command.ExitFailed, []string{special, words}, args...)
		}
		for _, name := range []string{"meta.json", "samples.csv", "embeddings.npy"} {
			file := filepath.Join(features, name)
			must.Do(t, os.Rename(file, file+".kept"))
			must.Do(t, os.Symlink(special, file))
			l.Refused(command.ExitFailed, []string{features, name, words}, "train", "--features", features, "--out",
				out)
			must.Do(t, os.Rename(file+".kept", file))
		}
	}
}
