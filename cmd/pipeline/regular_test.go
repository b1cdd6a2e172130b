//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipesAndDevicesAreNoFiles: given as any input file, they are refused at
// once, rather than waited for or read to the end of memory.
func TestPipesAndDevicesAreNoFiles(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	features := l.path("features")
	l.must("embed", "--images", images, "--out", features)
	pipe := l.path("pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	out := l.path("out")
	for _, special := range []string{pipe, "/dev/zero"} {
		const words = "not a regular file"
		l.refused(exitUsage, []string{special, words}, "train", "--images", images, "--out", out, "--config", special)
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
			l.refused(exitFailed, []string{special, words}, args...)
		}
		for _, name := range []string{"meta.json", "samples.csv", "embeddings.npy"} {
			file := filepath.Join(features, name)
			if err := os.Rename(file, file+".kept"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(special, file); err != nil {
				t.Fatal(err)
			}
			l.refused(exitFailed, []string{features, name, words}, "train", "--features", features, "--out", out)
			if err := os.Rename(file+".kept", file); err != nil {
				t.Fatal(err)
			}
		}
	}
}
