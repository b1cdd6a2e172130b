package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

// TestJPEGDecoderIsTheModels: a model uses the decoder that it was trained with; a
// machine without it prints what to do, and embeddings are not mixed.
func TestJPEGDecoderIsTheModels(t *testing.T) {
	if _, err := turbojpeg.Locate(); err != nil {
		t.Skip(err)
	}
	l := newTestbed(t)
	images := l.photos(l.path("base"), 400, 6, "kiwi", "lime")
	turbo, plain := l.path("turbo.model"), l.path("plain.model")
	l.must("train", "--images", images, "--out", turbo)
	l.must("train", "--images", images, "--out", plain, "--set", "preprocess.jpeg=go")
	for name, model := range map[string]string{"turbo": turbo, "plain": plain} {
		l.must("label", model, "--images", images, "--out", l.path(name))
	}
	settings := func(out string) string {
		spec, _ := l.object(out, "summary.json")["settings"].(map[string]any)["preprocess"].(map[string]any)["jpeg"].(string)
		return spec
	}
	if a, b := settings(l.path("turbo")), settings(l.path("plain")); !strings.HasPrefix(a, "turbo:") || b != "" {
		t.Errorf("decoders %q and %q", a, b)
	}
	if l.timing(l.path("turbo"), "inferred")+l.timing(l.path("plain"), "inferred") != 0 {
		t.Error("embeddings of training were not reused")
	}
	l.refused(exitFailed, []string{"preprocessing", "jpeg"}, "label", turbo, "--images", images, "--out", l.path("o"), "--set", "preprocess.jpeg=go")
	l.refused(exitFailed, []string{"preprocessing"}, "label", plain, "--images", images, "--out", l.path("o"), "--set", "preprocess.jpeg=turbo")
	t.Setenv(turbojpeg.EnvLibrary, filepath.Join(l.dir, "gone.so"))
	l.refused(exitFailed, []string{"libjpeg-turbo", "preprocess.jpeg=go", turbojpeg.EnvLibrary}, "label", turbo, "--images", images, "--out", l.path("o"))
	l.must("label", plain, "--images", images, "--out", l.path("o"))
}
