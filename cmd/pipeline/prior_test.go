package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/models"
)

// A prior from two folders helps a model of another one, which keeps it; the images
// that it was made from are neither learned nor tested.
func TestPriorFromTrainToForget(t *testing.T) {
	l := newTestbed(t)
	others := l.photos(l.path("others"), 40, 4, "ant", "bee")
	more := l.photos(l.path("more"), 40, 3, "ant", "dog")
	mine := l.photos(l.path("mine"), 40, 1, "eel", "fox", "gnu")
	file, model := l.path("p.prior"), l.path("m.model")
	r := l.must("prior", "--images", others, "--images", more, "--out", file)
	if !strings.Contains(r.stdout, "4 classes in 2 folders") {
		t.Errorf("prior says:\n%s", r.stdout)
	}
	l.must("train", "--images", mine, "--prior", file, "--out", model)
	l.must("train", "--images", mine, "--out", l.path("without.model"))
	if r := l.must("inspect", model); !strings.Contains(r.stdout, "4 classes in 2 folders; for the spread within classes it counts as 300 images") {
		t.Errorf("inspect says:\n%s", r.stdout)
	}
	label := func(model string) string {
		l.must("label", l.path(model), "--images", mine, "--out", l.path(model+"-labels"))
		return string(l.read(l.path(model+"-labels", "labels.csv")))
	}
	if label("m.model") == label("without.model") {
		t.Error("the prior changes no probability")
	}
	l.must("forget", model, "--class", "gnu")
	l.must("learn", model, "--images", l.photos(l.path("later"), 40, 2, "hen"))
	if r := l.must("inspect", model); !strings.Contains(r.stdout, "4 classes in 2 folders") {
		t.Errorf("learn and forget lose the prior:\n%s", r.stdout)
	}

	l.refused(exitFailed, []string{"6 of these", "prior must come from other images"}, "train", "--images", more, "--prior", file, "--out", l.path("x"))
	l.refused(exitFailed, []string{"prior must come from other images"}, "learn", model, "--images", more)
	tests := l.photos(l.path("tests"), 40, 4, "ant", "bee", "fox")
	if r := l.must("eval", model, "--images", tests); !strings.Contains(r.stderr, "result is too good") || !strings.Contains(r.stderr, "images=8") {
		t.Errorf("eval says:\n%s", r.stderr)
	}
}

// A prior is handed on: it names the file of its backbone, but not the folder.
func TestPriorDoesNotSayWhere(t *testing.T) {
	l := newTestbed(t)
	photos := l.photos(l.path("photos"), 40, 3, "ant", "bee")
	backbone, file := l.path("own.onnx"), l.path("p.prior")
	l.write(backbone, models.Default())
	l.must("prior", "--images", photos, "--backbone", backbone, "--out", file)
	if made := string(l.read(file)); !strings.Contains(made, "own.onnx") || strings.Contains(made, l.dir) {
		t.Errorf("the prior of %s has %.600q", backbone, made)
	}
}

// The prior of the built-in backbone is of that backbone and no other, and must be asked for.
func TestBuiltInPrior(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("images"), 40, 1, "ant", "bee", "cat")
	says := func(flags ...string) string {
		l.must(append([]string{"train", "--images", images, "--out", l.path("m.model")}, flags...)...)
		return l.must("inspect", l.path("m.model")).stdout
	}
	if out := says("--backbone", "default", "--prior", "default"); !strings.Contains(out, "of 29999 other images, 60 classes in 1 folder; for the spread") || !strings.Contains(out, "; the prior's)") {
		t.Errorf("inspect says:\n%s", out)
	}
	if out := says("--backbone", "default"); strings.Contains(out, "prior ") {
		t.Errorf("a prior that nobody asked for:\n%s", out)
	}
	l.refused(exitFailed, []string{"prior", "backbone"}, "train", "--images", images, "--backbone", "default-0.1", "--prior", "default", "--out", l.path("x"))
}

func TestPriorRefuses(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("images"), 40, 2, "ant", "bee")
	alone := l.photos(l.path("alone"), 40, 1, "cat", "dog")
	file := l.path("p.prior")
	l.must("prior", "--images", images, "--out", file)
	l.refused(exitUsage, []string{"--images or --features"}, "prior", "--out", l.path("x"))
	l.refused(exitFailed, []string{alone, "no class has two images"}, "prior", "--images", alone, "--out", l.path("x"))
	l.refused(exitFailed, []string{"not a prior"}, "prior", "--images", images, "--out", l.path("images", "ant", "000.jpg"))
	l.refused(exitFailed, []string{"gptree does not start from one", "plda+"}, "train", "--images", alone, "--classifier", "gptree", "--prior", file, "--out", l.path("x"))
	l.refused(exitUsage, []string{"classifier.prior", "fscil"}, "fscil", "--images", images, "--out", l.path("x"), "--set", "classifier.prior="+file)
}

// TestPriorKnowsItsRows: a prior recognises its images by content, as photos, as what
// pipeline embed made of them, and as rows of a FEATDIR without photos, whatever their
// names and folders.
func TestPriorKnowsItsRows(t *testing.T) {
	l := newTestbed(t)
	const refusal = "prior must come from other images"
	photos, embedded := l.photos(l.path("photos"), 40, 3, "ant", "bee"), l.path("embedded")
	l.must("embed", "--images", photos, "--out", embedded)
	l.must("prior", "--images", photos, "--out", l.path("photos.prior"))
	l.must("prior", "--features", embedded, "--out", l.path("embedded.prior"))
	for _, file := range []string{"photos.prior", "embedded.prior"} {
		l.refused(exitFailed, []string{refusal}, "train", "--images", photos, "--prior", l.path(file), "--out", l.path("x"))
		l.refused(exitFailed, []string{refusal}, "train", "--features", embedded, "--prior", l.path(file), "--out", l.path("x"))
	}

	rows := l.features("rows")
	l.must("prior", "--features", rows, "--out", l.path("rows.prior"))
	renamed := l.features("renamed")
	table := strings.ReplaceAll(string(l.read(filepath.Join(renamed, "samples.csv"))), ".jpg", ".png")
	l.write(filepath.Join(renamed, "samples.csv"), []byte(table))
	for _, name := range []string{"plda", "plda+"} {
		l.refused(exitFailed, []string{refusal}, "train", "--features", renamed, "--classifier", name, "--prior", l.path("rows.prior"), "--out", l.path("x"))
	}
}
