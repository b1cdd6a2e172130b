package models

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A prior from two folders helps a model of another one, which keeps it; the images
// that it was made from are neither learned nor tested.
func TestPriorFromTrainToForget(t *testing.T) {
	l := commandtest.New(t)
	others := l.Photos(l.Path("others"), 40, 4, "ant", "bee")
	more := l.Photos(l.Path("more"), 40, 3, "ant", "dog")
	mine := l.Photos(l.Path("mine"), 40, 1, "eel", "fox", "gnu")
	file, model := l.Path("p.prior"), l.Path("m.model")
	r := l.Must("prior", "--images", others, "--images", more, "--out", file)
	if !strings.Contains(r.Stdout, "4 classes in 2 folders") {
		t.Errorf("prior says:\n%s", r.Stdout)
	}
	l.Must("train", "--images", mine, "--prior", file, "--out", model)
	l.Must("train", "--images", mine, "--out", l.Path("without.model"))
	if r := l.Must("inspect", model); !strings.Contains(r.Stdout,
		"4 classes in 2 folders; for the spread within classes it counts as 300 images") {
		t.Errorf("inspect says:\n%s", r.Stdout)
	}
	label := func(model string) string {
		l.Must("label", l.Path(model), "--images", mine, "--out", l.Path(model+"-labels"))
		return string(l.Read(l.Path(model+"-labels", "labels.csv")))
	}
	if label("m.model") == label("without.model") {
		t.Error("the prior changes no probability")
	}
	l.Must("forget", model, "--class", "gnu")
	l.Must("learn", model, "--images", l.Photos(l.Path("later"), 40, 2, "hen"))
	if r := l.Must("inspect", model); !strings.Contains(r.Stdout, "4 classes in 2 folders") {
		t.Errorf("learn and forget lose the prior:\n%s", r.Stdout)
	}

	l.Refused(command.ExitFailed, []string{"6 of these", "prior must come from other images"}, "train", "--images",
		more, "--prior", file, "--out", l.Path("x"))
	l.Refused(command.ExitFailed, []string{"prior must come from other images"}, "learn", model, "--images", more)
	tests := l.Photos(l.Path("tests"), 40, 4, "ant", "bee", "fox")
	if r := l.Must("eval", model, "--images", tests); !strings.Contains(r.Stderr, "result is too good") ||
		!strings.Contains(r.Stderr, "images=8") {
		t.Errorf("eval says:\n%s", r.Stderr)
	}
}

// A prior is handed on: it names the file of its backbone, but not the folder.
func TestPriorDoesNotSayWhere(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 3, "ant", "bee")
	backbone, file := l.Path("own.onnx"), l.Path("p.prior")
	l.Write(backbone, l.Read(commandtest.Network()))
	l.Must("prior", "--images", photos, "--backbone", backbone, "--out", file)
	if made := string(l.Read(file)); !strings.Contains(made, "own.onnx") || strings.Contains(made, l.Dir) {
		t.Errorf("the prior of %s has %.600q", backbone, made)
	}
}

// The prior of a network is of that network and no other, and must be asked for.
func TestPriorOfANetwork(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), 40, 1, "ant", "bee", "cat")
	says := func(flags ...string) string {
		l.Must(append([]string{"train", "--images", images, "--out", l.Path("m.model"), "--backbone", testenv.Small(t)},
			flags...)...)
		return l.Must("inspect", l.Path("m.model")).Stdout
	}
	folder := filepath.Join(testenv.ModuleRoot(t), "models")
	file := filepath.Join(folder, "default.prior")
	if out := says("--prior", file); !strings.Contains(out,
		"of 29999 other images, 60 classes in 1 folder; for the spread") || !strings.Contains(out, "; the prior's)") {
		t.Errorf("inspect says:\n%s", out)
	}
	if out := says(); strings.Contains(out, "prior ") {
		t.Errorf("a prior that nobody asked for:\n%s", out)
	}
	l.Refused(command.ExitFailed, []string{"prior", "backbone"}, "train", "--images", images, "--backbone",
		filepath.Join(folder, "resnet18.onnx"), "--prior", file, "--out", l.Path("x"))
}

func TestPriorRefuses(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), 40, 2, "ant", "bee")
	alone := l.Photos(l.Path("alone"), 40, 1, "cat", "dog")
	file := l.Path("p.prior")
	l.Must("prior", "--images", images, "--out", file)
	l.Refused(command.ExitUsage, []string{"--images or --features"}, "prior", "--out", l.Path("x"))
	l.Refused(command.ExitFailed, []string{alone, "no class has two images"}, "prior", "--images", alone, "--out",
		l.Path("x"))
	l.Refused(command.ExitFailed, []string{"not a prior"}, "prior", "--images", images, "--out",
		l.Path("images", "ant", "000.jpg"))
	l.Refused(command.ExitFailed, []string{"gptree does not start from one", "plda+"}, "train", "--images", alone,
		"--classifier", "gptree", "--prior", file, "--out", l.Path("x"))
	l.Refused(command.ExitUsage, []string{"classifier.prior", "fscil"}, "fscil", "--images", images, "--out",
		l.Path("x"), "--set", "classifier.prior="+file)
}

// TestPriorKnowsItsRows: a prior recognises its images by content, as photos, as what
// pipeline embed made of them, and as rows of a FEATDIR without photos, whatever their
// names and folders.
func TestPriorKnowsItsRows(t *testing.T) {
	l := commandtest.New(t)
	const refusal = "prior must come from other images"
	photos, embedded := l.Photos(l.Path("photos"), 40, 3, "ant", "bee"), l.Path("embedded")
	l.Must("embed", "--images", photos, "--out", embedded)
	l.Must("prior", "--images", photos, "--out", l.Path("photos.prior"))
	l.Must("prior", "--features", embedded, "--out", l.Path("embedded.prior"))
	for _, file := range []string{"photos.prior", "embedded.prior"} {
		l.Refused(command.ExitFailed, []string{refusal}, "train", "--images", photos, "--prior", l.Path(file), "--out",
			l.Path("x"))
		l.Refused(command.ExitFailed, []string{refusal}, "train", "--features", embedded, "--prior", l.Path(file),
			"--out", l.Path("x"))
	}

	rows := l.Features("rows")
	l.Must("prior", "--features", rows, "--out", l.Path("rows.prior"))
	renamed := l.Features("renamed")
	table := strings.ReplaceAll(string(l.Read(filepath.Join(renamed, "samples.csv"))), ".jpg", ".png")
	l.Write(filepath.Join(renamed, "samples.csv"), []byte(table))
	for _, name := range []string{"plda", "plda+"} {
		l.Refused(command.ExitFailed, []string{refusal}, "train", "--features", renamed, "--classifier", name,
			"--prior", l.Path("rows.prior"), "--out", l.Path("x"))
	}
}
