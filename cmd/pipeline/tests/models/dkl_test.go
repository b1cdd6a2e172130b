package models

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Every method learns behind a projection: the same bytes at any number of
// threads, more classes after that, and an ONNX file.
func TestTrainBehindAProjection(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("features"))
	for _, method := range []string{"gptree", "plda", "plda+", "ppca", "gpr"} {
		model := l.Path(method + ".model")
		l.Must(commandtest.Quickly("train", "--features", features, "--classifier", method, "--out", model, "--set",
			"classifier.gpr.max_per_class=100", "--set", "classifier.gptree.max_per_class=100")...)
		again := l.Path(method + ".again")
		l.Must(commandtest.Quickly("train", "--features", features, "--classifier", method, "--out", again, "--set",
			"classifier.gpr.max_per_class=100", "--set", "classifier.gptree.max_per_class=100", "--threads", "1",
			"--resume=false")...)
		l.Same(method, l.Read(l.Path(method+".model")), again)
		if r := l.Must("inspect", model); !strings.Contains(r.Stdout, "projection 8 values to 10, linear") {
			t.Errorf("%s: inspect says %s", method, r.Stdout)
		}
		l.Must("eval", model, "--features", features, "--json", l.Path("eval.json"))
		if a := l.Object(l.Path("eval.json"))["accuracy"].(float64); a < 0.7 {
			t.Errorf("%s: accuracy %g", method, a)
		}
		l.Must("learn", model, "--features", l.Relabelled(features))
		if method != "gptree" && method != "gpr" {
			l.Must("export", model, "--onnx", l.Path(method+".onnx"))
		}
	}
	for _, name := range []string{"training.csv", "training.png", "loss.svg"} {
		if !l.Exists(l.Path("plda.model.dkl", name)) {
			t.Errorf("no %s", name)
		}
	}
	if l.Exists(l.Path("plda.model.dkl", "checkpoint.safetensors")) {
		t.Error("the checkpoint stays after the model is written")
	}
}

// By default the projection is compared with none: the model says how, and leaves nothing of
// the trainings that this took.
func TestComparedTrainings(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("features"))
	args := append(commandtest.Quickly("train", "--features", features, "--classifier", "ncm", "--out",
		l.Path("a.model")), "--set", "classifier.dkl.keep=evidence")
	r := l.Must(args...)
	if !strings.Contains(r.Stderr, "held-out images") || strings.Count(r.Stderr, "to compare") != 1 {
		t.Errorf("it does not say why the projection stays or not, from one training: %s", r.Stderr)
	}
	if l.Exists(l.Path("a.model.dkl", "compared")) {
		t.Error("the training of the comparison stays after the model is written")
	}
	if r := l.Must("inspect", l.Path("a.model")); !strings.Contains(r.Stdout, "held-out images") {
		t.Errorf("inspect says %s", r.Stdout)
	}
}

func TestViewsOfPhotos(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 6, "cat", "dog", "owl")
	args := commandtest.Quickly("train", "--images", photos, "--out", l.Path("a.model"), "--set",
		"classifier.dkl.views=2")
	r := l.Must(args...)
	if strings.Count(r.Stderr, "embedded views") != 2 || !strings.Contains(r.Stderr, "inferred=18") {
		t.Errorf("views: %s", r.Stderr)
	}
	first := l.Read(l.Path("a.model"))
	r = l.Must(append(args, "--resume=false")...)
	if !strings.Contains(r.Stderr, "cached=18") {
		t.Errorf("views are not cached: %s", r.Stderr)
	}
	l.Same("model", first, l.Path("a.model"))
}

// TestForgetBehindViews: without the images it says that they are needed; with
// them the model is the one that never saw what was forgotten.
func TestForgetBehindViews(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 6, "cat", "dog", "owl")
	train := func(out string) []string {
		return commandtest.Quickly("train", "--images", photos, "--out", l.Path(out), "--set", "classifier.dkl.views=2")
	}
	l.Must(train("a.model")...)
	before := l.Read(l.Path("a.model"))
	l.Refused(command.ExitFailed, []string{"2 augmented views", "--images"}, "forget", l.Path("a.model"), "--class",
		"owl")
	l.Same("a refused forget", before, l.Path("a.model"))
	l.Must("forget", l.Path("a.model"), "--class", "owl", "--images", photos)
	must.Do(t, os.RemoveAll(l.Path("photos", "owl")))
	l.Must(train("never.model")...)
	l.Same("forget", l.Read(l.Path("never.model")), l.Path("a.model"))
}

// TestForgetListBehindViews: the columns of a list of images to forget are not those of
// the folder that views are made from.
func TestForgetListBehindViews(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 32, 4, "owl", "fox", "hen")
	model := l.Path("m.model")
	l.Must(commandtest.Quickly("train", "--images", photos, "--out", model, "--set", "classifier.dkl.views=1")...)
	l.Write(l.Path("wrong.csv"), []byte("file\nowl/000.jpg\n"))
	r := l.Must("forget", model, "--images", photos, "--samples", l.Path("wrong.csv"), "--path-column", "file")
	if !strings.Contains(r.Stdout, "forgot 1 sample; left: 11 in 3 classes") {
		t.Error(r.Stdout)
	}
}

func TestDKLUsage(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("features"))
	l.Refused(command.ExitUsage, []string{"--stats"}, "train", "--dkl", "--stats", l.Path("no.stats"), "--out",
		l.Path("m"))
	l.Refused(command.ExitUsage, []string{"classifier.dkl.preset", "cub"}, "train", "--dkl", "--features", features,
		"--out", l.Path("m"), "--set", "classifier.dkl.preset=mini")
	l.Refused(1, []string{"views", "images"}, commandtest.Quickly("train", "--features", features, "--out", l.Path("m"),
		"--set", "classifier.dkl.views=1")...)
}

// fscil shares a projection among methods, and names it in the rows of its tables.
func TestFSCILBehindAProjection(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("features"))
	r := l.Must(commandtest.Quickly("fscil", "--features", features, "--classifier", "ncm,gptree", "--out",
		l.Path("out"))...)
	if n := strings.Count(r.Stderr, "msg=trained"); n != 4 {
		t.Errorf("%d epochs for two methods", n)
	}
	if name := l.Object(l.Path("out", "dkl-gptree", "results.json"))["method"]; name != "dkl-gptree" {
		t.Errorf("method %v", name)
	}
	if !strings.Contains(string(l.Read(l.Path("out", "table.md"))), "dkl-ncm") {
		t.Error("the table does not tell")
	}
}
