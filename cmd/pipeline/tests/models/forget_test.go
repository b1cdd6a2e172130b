package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestForgetBaseImages: a small model needs nothing but itself, and the files of
// the version before are removed.
func TestForgetBaseImages(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained("--classifier", "ppca")
	l.Must("learn", model, "--images", l.Photos(l.Path("more"), commandtest.SmallSide, 3, "pear", "plum"))
	kept := l.Path("kept.model")
	l.Write(kept, l.Read(model))
	l.Must("learn", kept, "--images", l.Photos(l.Path("third"), commandtest.SmallSide, 2, "fig"))
	l.Write(l.Path("gone.txt"), []byte("kiwi/000.jpg\nkiwi/003.jpg\nlime/001.jpg\n"))

	done := l.Must("forget", model, "--samples", l.Path("gone.txt"), "--images", images)
	for _, word := range []string{"learned the other 24 again", "removed " + model + ".prev", "removed " + model +
		".stats-"} {
		if !strings.Contains(done.Stdout, word) {
			t.Errorf("forget does not say %q: %s", word, done.Stdout)
		}
	}
	if l.Exists(model + ".prev") {
		t.Error("the previous version is still there")
	}
	for _, gone := range []string{"kiwi/000.jpg", "kiwi/003.jpg", "lime/001.jpg"} {
		must.Do(t, os.Remove(filepath.Join(images, gone)))
	}
	never := l.Path("never.model")
	l.Must("train", "--images", images, "--out", never, "--classifier", "ppca")
	l.Must("learn", never, "--images", l.Path("more"))
	l.Same("forgetting", l.Read(never), model)

	r := l.Must("forget", kept, "--class", "kiwi", "--keep-previous")
	if !l.Exists(kept+".prev") || !strings.Contains(r.Stderr, "still hold what was forgotten") ||
		strings.Contains(r.Stdout, "removed "+kept+".prev") {
		t.Errorf("--keep-previous: %s%s", r.Stdout, r.Stderr)
	}
	r = l.Must("forget", kept, "--class", "lime", "--out", l.Path("elsewhere.model"))
	if !strings.Contains(r.Stderr, kept) {
		t.Errorf("the model itself still holds the class: %s", r.Stderr)
	}
}

// TestForgetFromALargeModel: the embeddings come from the cache, even when the
// images are gone, or from --images; without them the command refuses.
func TestForgetFromALargeModel(t *testing.T) {
	if testing.Short() {
		t.Skip("trains seven models")
	}
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 22, "ant", "bee", "cat", "dog")
	model, never := l.Path("a.model"), l.Path("never.model")
	l.Must("train", "--images", images, "--out", model)
	original := l.Read(model)
	moved := l.Path("moved")
	must.Do(t, os.Rename(images, moved))
	l.Must("forget", model, "--class", "cat")
	forgotten := l.Read(model)
	l.Write(model, original)
	r := l.RunWith(l.Path("other"), "forget", model, "--class", "cat")
	for _, word := range []string{"66 of the 66 embeddings are missing", "--images", "--features", "--approximate",
		"base session"} {
		if r.Code != command.ExitFailed || !strings.Contains(r.Stderr, word) {
			t.Errorf("exit code %d, %q is not in: %s", r.Code, word, r.Stderr)
		}
	}
	l.Same("a refused forget", original, model)
	if r = l.RunWith(l.Path("other"), "forget", model, "--class", "cat", "--approximate"); r.Code != command.ExitDone ||
		!strings.Contains(r.Stderr, "approximately") {
		t.Errorf("exit code %d: %s", r.Code, r.Stderr)
	}
	if r := l.Must("inspect", model); !strings.Contains(r.Stdout, "traces") {
		t.Errorf("inspect does not tell of traces: %s", r.Stdout)
	}
	l.Write(model, original)
	if r = l.RunWith(l.Path("other"), "forget", model, "--class", "cat", "--images",
		moved); r.Code != command.ExitDone {
		t.Errorf("exit code %d: %s", r.Code, r.Stderr)
	}
	l.Same("other embeddings", forgotten, model)
	must.Do(t, os.RemoveAll(filepath.Join(moved, "cat")))
	l.Must("train", "--images", moved, "--out", never, "--classifier", methodOf(l, model))
	l.Same("forgetting", l.Read(never), model)
}

// methodOf returns the method of a model, as train chose it.
func methodOf(l *commandtest.Bed, model string) string {
	l.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(l.Must("inspect", model).Stdout, model+": "), ",")
	return name
}

// TestForgetFeatures: a model of embeddings without images.
func TestForgetFeatures(t *testing.T) {
	l := commandtest.New(t)
	gone := []string{"b/00.jpg", "b/07.jpg", "c/19.jpg"}
	all, rest := l.Features("all"), l.Features("rest", gone...)
	model, never := l.Path("a.model"), l.Path("never.model")
	l.Must("train", "--features", all, "--out", model)
	l.Must("train", "--features", rest, "--out", never, "--classifier", methodOf(l, model))
	l.Refused(command.ExitFailed, []string{"66 of the 66", "--features"}, "forget", model, "--class", "d")
	l.Write(l.Path("gone.txt"), []byte(strings.Join(gone, "\n")))
	l.Must("forget", model, "--samples", l.Path("gone.txt"), "--features", all)
	l.Same("forgetting", l.Read(never), model)
	l.Write(l.Path("no.txt"), []byte("b/99.jpg\n"))
	l.Refused(command.ExitFailed, []string{"b/99.jpg is not in"}, "forget", model, "--samples", l.Path("no.txt"),
		"--features", all)
	l.Refused(command.ExitUsage, []string{"only one"}, "forget", model, "--class", "d", "--features", all, "--images",
		l.Dir)
}

// TestForgetFromStatistics: a model of statistics forgets by learning these
// again without the class.
func TestForgetFromStatistics(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 4, "ant", "bee", "cat", "dog")
	stats, without := l.Path("all.stats"), l.Path("without.stats")
	l.Must("stats", "collect", "--images", images, "--out", stats)
	must.Do(t, os.Rename(filepath.Join(images, "dog"), l.Path("dog")))
	l.Must("stats", "collect", "--images", images, "--out", without)
	model, never := l.Path("a.model"), l.Path("never.model")
	l.Must("train", "--stats", stats, "--out", model)
	l.Must("train", "--stats", without, "--out", never)
	if r := l.RunWith(l.Path("other"), "forget", model, "--class", "dog"); r.Code != command.ExitFailed ||
		!strings.Contains(r.Stderr, "--stats") {
		t.Errorf("exit code %d: %s", r.Code, r.Stderr)
	}
	l.Must("forget", model, "--class", "dog", "--stats", stats)
	l.Same("forgetting", l.Read(never), model)
}
