package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// quickly adds settings that train a projection in no time.
func quickly(args ...string) []string {
	return append(args, "--dkl", "--set", "classifier.dkl.dim=10", "--set", "classifier.dkl.epochs=4", "--set", "classifier.dkl.pretrain=2",
		"--set", "classifier.dkl.keep=always", "--set", "classifier.dkl.steps=0", "--set", "classifier.dkl.batch=16", "--set", "classifier.dkl.inducing=2", "--set", "classifier.temperature=1")
}

// Every method learns behind a projection: the same bytes at any number of
// threads, more classes after that, and an ONNX file.
func TestTrainBehindAProjection(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("features"))
	for _, method := range []string{"gptree", "plda", "plda+", "ppca", "gpr"} {
		model := l.path(method + ".model")
		l.must(quickly("train", "--features", features, "--classifier", method, "--out", model, "--set", "classifier.gpr.max_per_class=100", "--set", "classifier.gptree.max_per_class=100")...)
		again := l.path(method + ".again")
		l.must(quickly("train", "--features", features, "--classifier", method, "--out", again, "--set", "classifier.gpr.max_per_class=100", "--set", "classifier.gptree.max_per_class=100", "--threads", "1", "--resume=false")...)
		l.same(method, l.read(l.path(method+".model")), again)
		if r := l.must("inspect", model); !strings.Contains(r.stdout, "projection 8 values to 10, linear") {
			t.Errorf("%s: inspect says %s", method, r.stdout)
		}
		l.must("eval", model, "--features", features, "--json", l.path("eval.json"))
		if a := l.object(l.path("eval.json"))["accuracy"].(float64); a < 0.7 {
			t.Errorf("%s: accuracy %g", method, a)
		}
		l.must("learn", model, "--features", l.relabelled(features))
		if method != "gptree" && method != "gpr" {
			l.must("export", model, "--onnx", l.path(method+".onnx"))
		}
	}
	for _, name := range []string{"checkpoint.safetensors", "training.csv", "training.png", "loss.svg"} {
		if !l.exists(l.path("plda.model.dkl", name)) {
			t.Errorf("no %s", name)
		}
	}
}

// relabelled returns a feature folder of two rows of a new class.
func (l *testbed) relabelled(features string) string {
	l.Helper()
	dir := l.path("more")
	if l.exists(l.path("more")) {
		return dir
	}
	rows := strings.SplitAfter(string(l.read(l.path("features", "samples.csv"))), "\n")
	var b bytes.Buffer
	for _, r := range rows {
		b.WriteString(strings.ReplaceAll(r, ",c0,", ",another,"))
	}
	l.copyFolder(features, dir)
	l.write(l.path("more", "samples.csv"), b.Bytes())
	return dir
}

func (l *testbed) copyFolder(from, to string) {
	l.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		l.Fatal(err)
	}
}

// The same command resumes after any epoch, and ends with the bytes of an
// uninterrupted run.
func TestTrainingGoesOn(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("features"))
	args := func(model string, epochs string) []string {
		return append(quickly("train", "--features", features, "--out", l.path(model)), "--set", "classifier.dkl.epochs="+epochs)
	}
	l.must(args("whole.model", "4")...)
	l.must(args("cut.model", "4")...)
	// What is left of a run that was killed: a checkpoint and half a file.
	if err := os.Remove(l.path("cut.model")); err != nil {
		t.Fatal(err)
	}
	l.write(l.path("cut.model.dkl", ".checkpoint.safetensors.tmp-pipeline-1"), []byte("half"))
	if r := l.must(args("cut.model", "4")...); !strings.Contains(r.stderr, "training goes on") {
		t.Errorf("it does not say that it resumes: %s", r.stderr)
	}
	l.same("model", l.read(l.path("whole.model")), l.path("cut.model"))
	if r := l.must(args("cut.model", "3")...); !strings.Contains(r.stderr, "other settings") {
		t.Errorf("it does not say that the settings are others: %s", r.stderr)
	}
}

// By default the projection is compared with none: the model says how, and a run
// resumes the trainings of the comparison.
func TestComparedTrainings(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("features"))
	args := append(quickly("train", "--features", features, "--classifier", "ncm", "--out", l.path("a.model")), "--set", "classifier.dkl.keep=evidence")
	if r := l.must(args...); !strings.Contains(r.stderr, "held-out images") {
		t.Errorf("it does not say why the projection stays or not: %s", r.stderr)
	}
	first := l.read(l.path("a.model"))
	tried, err := filepath.Glob(l.path("a.model.dkl", "compared", "*", "checkpoint.safetensors"))
	if err != nil || len(tried) == 0 {
		t.Fatalf("trainings %v, %v", tried, err)
	}
	l.write(tried[0], []byte("half"))
	l.must(args...)
	l.same("model", first, l.path("a.model"))
	if r := l.must("inspect", l.path("a.model")); !strings.Contains(r.stdout, "held-out images") {
		t.Errorf("inspect says %s", r.stdout)
	}
}

func TestViewsOfPhotos(t *testing.T) {
	l := newTestbed(t)
	photos := l.photos(l.path("photos"), 40, 6, "cat", "dog", "owl")
	args := quickly("train", "--images", photos, "--out", l.path("a.model"), "--set", "classifier.dkl.views=2")
	r := l.must(args...)
	if strings.Count(r.stderr, "embedded views") != 2 || !strings.Contains(r.stderr, "inferred=18") {
		t.Errorf("views: %s", r.stderr)
	}
	first := l.read(l.path("a.model"))
	r = l.must(append(args, "--resume=false")...)
	if !strings.Contains(r.stderr, "cached=18") {
		t.Errorf("views are not cached: %s", r.stderr)
	}
	l.same("model", first, l.path("a.model"))
}

// TestForgetBehindViews: without the images it says that they are needed; with
// them the model is the one that never saw what was forgotten.
func TestForgetBehindViews(t *testing.T) {
	l := newTestbed(t)
	photos := l.photos(l.path("photos"), 40, 6, "cat", "dog", "owl")
	train := func(out string) []string {
		return quickly("train", "--images", photos, "--out", l.path(out), "--set", "classifier.dkl.views=2")
	}
	l.must(train("a.model")...)
	before := l.read(l.path("a.model"))
	l.refused(exitFailed, []string{"2 augmented views", "--images"}, "forget", l.path("a.model"), "--class", "owl")
	l.same("a refused forget", before, l.path("a.model"))
	l.must("forget", l.path("a.model"), "--class", "owl", "--images", photos)
	if err := os.RemoveAll(l.path("photos", "owl")); err != nil {
		t.Fatal(err)
	}
	l.must(train("never.model")...)
	l.same("forget", l.read(l.path("never.model")), l.path("a.model"))
}

func TestDKLUsage(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("features"))
	l.refused(exitUsage, []string{"--stats"}, "train", "--dkl", "--stats", l.path("no.stats"), "--out", l.path("m"))
	l.refused(exitUsage, []string{"classifier.dkl.preset", "cub"}, "train", "--dkl", "--features", features, "--out", l.path("m"), "--set", "classifier.dkl.preset=mini")
	l.refused(1, []string{"views", "images"}, quickly("train", "--features", features, "--out", l.path("m"), "--set", "classifier.dkl.views=1")...)
}

// fscil shares a projection among methods, and names it in the rows of its tables.
func TestFSCILBehindAProjection(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("features"))
	r := l.must(quickly("fscil", "--features", features, "--classifier", "ncm,gptree", "--out", l.path("out"))...)
	if n := strings.Count(r.stderr, "msg=trained"); n != 4 {
		t.Errorf("%d epochs for two methods", n)
	}
	if name := l.object(l.path("out", "dkl-gptree", "results.json"))["method"]; name != "dkl-gptree" {
		t.Errorf("method %v", name)
	}
	if !strings.Contains(string(l.read(l.path("out", "table.md"))), "dkl-ncm") {
		t.Error("the table does not tell")
	}
}
