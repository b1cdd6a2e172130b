package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
)

// TestForgetBaseImages: a small model needs nothing but itself, and the files of
// the version before are removed.
func TestForgetBaseImages(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained("--classifier", "ppca")
	l.must("learn", model, "--images", l.photos(l.path("more"), smallSide, 3, "pear", "plum"))
	kept := l.path("kept.model")
	l.write(kept, l.read(model))
	l.must("learn", kept, "--images", l.photos(l.path("third"), smallSide, 2, "fig"))
	l.write(l.path("gone.txt"), []byte("kiwi/000.jpg\nkiwi/003.jpg\nlime/001.jpg\n"))

	done := l.must("forget", model, "--samples", l.path("gone.txt"), "--images", images)
	for _, word := range []string{"learned the other 24 again", "removed " + model + ".prev", "removed " + model + ".stats-"} {
		if !strings.Contains(done.stdout, word) {
			t.Errorf("forget does not say %q: %s", word, done.stdout)
		}
	}
	if l.exists(model + ".prev") {
		t.Error("the previous version is still there")
	}
	for _, gone := range []string{"kiwi/000.jpg", "kiwi/003.jpg", "lime/001.jpg"} {
		if err := os.Remove(filepath.Join(images, gone)); err != nil {
			t.Fatal(err)
		}
	}
	never := l.path("never.model")
	l.must("train", "--images", images, "--out", never, "--classifier", "ppca")
	l.must("learn", never, "--images", l.path("more"))
	l.same("forgetting", l.read(never), model)

	r := l.must("forget", kept, "--class", "kiwi", "--keep-previous")
	if !l.exists(kept+".prev") || !strings.Contains(r.stderr, "still hold what was forgotten") || strings.Contains(r.stdout, "removed "+kept+".prev") {
		t.Errorf("--keep-previous: %s%s", r.stdout, r.stderr)
	}
	r = l.must("forget", kept, "--class", "lime", "--out", l.path("elsewhere.model"))
	if !strings.Contains(r.stderr, kept) {
		t.Errorf("the model itself still holds the class: %s", r.stderr)
	}
}

// TestForgetFromALargeModel: the embeddings come from the cache, even when the
// images are gone, or from --images; without them the command refuses.
func TestForgetFromALargeModel(t *testing.T) {
	if testing.Short() {
		t.Skip("trains seven models")
	}
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 22, "ant", "bee", "cat", "dog")
	model, never := l.path("a.model"), l.path("never.model")
	l.must("train", "--images", images, "--out", model)
	original := l.read(model)
	moved := l.path("moved")
	if err := os.Rename(images, moved); err != nil {
		t.Fatal(err)
	}
	l.must("forget", model, "--class", "cat")
	forgotten := l.read(model)
	l.write(model, original)
	r := l.runWith(l.path("other"), "forget", model, "--class", "cat")
	for _, word := range []string{"66 of the 66 embeddings are missing", "--images", "--features", "--approximate", "base session"} {
		if r.code != exitFailed || !strings.Contains(r.stderr, word) {
			t.Errorf("exit code %d, %q is not in: %s", r.code, word, r.stderr)
		}
	}
	l.same("a refused forget", original, model)
	if r = l.runWith(l.path("other"), "forget", model, "--class", "cat", "--approximate"); r.code != exitDone || !strings.Contains(r.stderr, "approximately") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if r := l.must("inspect", model); !strings.Contains(r.stdout, "traces") {
		t.Errorf("inspect does not tell of traces: %s", r.stdout)
	}
	l.write(model, original)
	if r = l.runWith(l.path("other"), "forget", model, "--class", "cat", "--images", moved); r.code != exitDone {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	l.same("other embeddings", forgotten, model)
	if err := os.RemoveAll(filepath.Join(moved, "cat")); err != nil {
		t.Fatal(err)
	}
	l.must("train", "--images", moved, "--out", never, "--classifier", l.method(model))
	l.same("forgetting", l.read(never), model)
}

// method returns the method of a model, as train chose it.
func (l *testbed) method(model string) string {
	l.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(l.must("inspect", model).stdout, model+": "), ",")
	return name
}

// TestForgetFeatures: a model of embeddings without images.
func TestForgetFeatures(t *testing.T) {
	l := newTestbed(t)
	gone := []string{"b/00.jpg", "b/07.jpg", "c/19.jpg"}
	all, rest := l.features("all"), l.features("rest", gone...)
	model, never := l.path("a.model"), l.path("never.model")
	l.must("train", "--features", all, "--out", model)
	l.must("train", "--features", rest, "--out", never, "--classifier", l.method(model))
	l.refused(exitFailed, []string{"66 of the 66", "--features"}, "forget", model, "--class", "d")
	l.write(l.path("gone.txt"), []byte(strings.Join(gone, "\n")))
	l.must("forget", model, "--samples", l.path("gone.txt"), "--features", all)
	l.same("forgetting", l.read(never), model)
	l.write(l.path("no.txt"), []byte("b/99.jpg\n"))
	l.refused(exitFailed, []string{"b/99.jpg is not in"}, "forget", model, "--samples", l.path("no.txt"), "--features", all)
	l.refused(exitUsage, []string{"only one"}, "forget", model, "--class", "d", "--features", all, "--images", l.dir)
}

// TestForgetFromStatistics: a model of statistics forgets by learning these
// again without the class.
func TestForgetFromStatistics(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 4, "ant", "bee", "cat", "dog")
	stats, without := l.path("all.stats"), l.path("without.stats")
	l.must("stats", "collect", "--images", images, "--out", stats)
	if err := os.Rename(filepath.Join(images, "dog"), l.path("dog")); err != nil {
		t.Fatal(err)
	}
	l.must("stats", "collect", "--images", images, "--out", without)
	model, never := l.path("a.model"), l.path("never.model")
	l.must("train", "--stats", stats, "--out", model)
	l.must("train", "--stats", without, "--out", never)
	if r := l.runWith(l.path("other"), "forget", model, "--class", "dog"); r.code != exitFailed || !strings.Contains(r.stderr, "--stats") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	l.must("forget", model, "--class", "dog", "--stats", stats)
	l.same("forgetting", l.read(never), model)
}

// features writes a feature folder of four classes with 22 rows each, without
// some of them.
func (l *testbed) features(name string, without ...string) string {
	l.Helper()
	dir := l.path(name)
	out, err := featdir.NewWriter(dir, embed.Provenance{Dim: 6})
	if err != nil {
		l.Fatal(err)
	}
	defer out.Abort()
	rng := rand.New(rand.NewPCG(7, 1))
	for _, class := range []string{"a", "b", "c", "d"} {
		centre := cloud(rng, make([]float32, 6), 1)
		for i := range 22 {
			s := dataset.Sample{Path: fmt.Sprintf("%s/%02d.jpg", class, i), Label: class}
			row := cloud(rng, centre, 0.6)
			if slices.Contains(without, s.Path) {
				continue
			}
			if err := out.Write(s, row); err != nil {
				l.Fatal(err)
			}
		}
	}
	if err := out.Close(); err != nil {
		l.Fatal(err)
	}
	return dir
}
