package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
)

const smallSide = 48 // pixels; enough for a contract

// trained writes a base folder of three classes and trains a model on it.
func (l *testbed) trained(args ...string) (model, images string) {
	l.Helper()
	images = l.photos(l.path("base"), smallSide, 8, "kiwi", "lime", "plum")
	model = l.path("base.model")
	l.must(append([]string{"train", "--images", images, "--out", model}, args...)...)
	return model, images
}

// TestEmbedFolder: the class is the first-level folder, the folder is readable
// by the library, and a bad image gives exit code 3 and one row.
func TestEmbedFolder(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("images"), smallSide, 3, "kiwi", "lime")
	l.write(l.path("images", "loose.jpg"), photo("loose", 0, smallSide))
	l.write(l.path("images", "lime", "notes.txt"), []byte("no image"))
	out := l.path("features")
	l.must("embed", "--images", images, "--out", out)
	f, err := featdir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range f.Samples {
		got = append(got, s.Label+" "+s.Path)
	}
	want := []string{
		"kiwi kiwi/000.jpg", "kiwi kiwi/001.jpg", "kiwi kiwi/002.jpg",
		"lime lime/000.jpg", "lime lime/001.jpg", "lime lime/002.jpg", " loose.jpg",
	}
	if !slices.Equal(got, want) {
		t.Errorf("samples %q", got)
	}
	if f.Provenance.Dim != f.X.Cols || len(f.Provenance.Backbone.SHA256) != 64 || f.X.Rows != 7 {
		t.Errorf("meta %+v, %d×%d", f.Provenance, f.X.Rows, f.X.Cols)
	}
	l.write(l.path("images", "lime", "bad.jpg"), []byte("no JPEG"))
	l.expect(exitPartial, "embed", "--images", images, "--out", out)
	if rows := l.table(out, "errors.csv"); len(rows) != 2 || rows[1][0] != "lime/bad.jpg" {
		t.Errorf("errors.csv: %q", rows)
	}
}

// TestFeaturesAreTheImages: training on a folder and on its embeddings gives
// the same answers, and the model finds its backbone again.
func TestFeaturesAreTheImages(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.must("embed", "--images", images, "--out", l.path("features"))
	l.must("train", "--features", l.path("features"), "--out", l.path("f.model"))
	l.must("label", model, "--images", images, "--out", l.path("a"))
	l.must("label", l.path("f.model"), "--images", images, "--out", l.path("b"))
	if !bytes.Equal(l.read(l.path("a", "labels.csv")), l.read(l.path("b", "labels.csv"))) {
		t.Error("the labels differ")
	}
	l.must("eval", model, "--features", l.path("features"), "--json", l.path("a.json"))
	l.must("eval", model, "--images", images, "--json", l.path("b.json"))
	if !bytes.Equal(l.read(l.path("a.json")), l.read(l.path("b.json"))) {
		t.Error("the evaluations differ")
	}
}

// TestSessions trains a model, adds and removes classes and images, with every
// method.
func TestSessions(t *testing.T) {
	for _, method := range []string{"gptree", "hppca", "ncm", "plda", "ppca"} {
		t.Run(method, func(t *testing.T) { sessions(t, method) })
	}
}

// TestRefresh: new classes join existing super-classes until learn refreshes them,
// with or without new images; it does not matter when.
func TestRefresh(t *testing.T) {
	l := newTestbed(t)
	model, _ := l.trained("--classifier", "hppca", "--set", "classifier.statistics=false")
	base := l.read(model)
	more := l.photos(l.path("more"), smallSide, 5, "fig", "pear")
	refresh := []string{"--images", more, "--set", "classifier.hppca.refresh=true"}

	l.must(append([]string{"learn", model}, refresh...)...)
	at := l.read(model)
	l.write(l.path("late.model"), base)
	l.must("learn", l.path("late.model"), "--images", more)
	if bytes.Equal(l.read(l.path("late.model")), at) {
		t.Error("the super-classes were rebuilt without being asked to")
	}
	l.must(append([]string{"learn", l.path("late.model")}, refresh...)...)
	l.same("refreshing later", at, l.path("late.model"))
}

func sessions(t *testing.T, method string) {
	l := newTestbed(t)
	model, images := l.trained("--classifier", method)
	base := l.read(model)
	more := l.photos(l.path("more"), smallSide, 5, "fig", "pear")

	l.must("learn", model, "--images", images) // nothing new
	l.same("learning the base session again", base, model)

	l.must("learn", model, "--images", more)
	taught := l.read(model)
	if bytes.Equal(taught, base) {
		t.Fatal("learning new classes left the model as it was")
	}
	if again := l.must("learn", model, "--images", more); !strings.Contains(again.stdout, "10 samples known already") {
		t.Errorf("learning again says %q", again.stdout)
	}
	l.same("learning the second session again", taught, model)

	forgetAndRelearn(l, model, more)
}

func forgetAndRelearn(l *testbed, model, more string) {
	l.Helper()
	shows := func(class string, samples int) bool {
		for line := range strings.Lines(l.must("inspect", model).stdout) {
			if words := strings.Fields(line); len(words) == 3 && words[0] == class && words[1] == fmt.Sprint(samples) {
				return true
			}
		}
		return false
	}
	l.must("forget", model, "--class", "fig")
	if shows("fig", 5) || !shows("pear", 5) {
		l.Error("forget --class fig did not forget fig alone")
	}
	l.refused(exitFailed, []string{"fig"}, "forget", model, "--class", "fig")
	l.write(l.path("gone.txt"), []byte("pear/000.jpg\npear/003.jpg\n"))
	l.must("forget", model, "--samples", l.path("gone.txt"), "--images", more)
	if !shows("pear", 3) {
		l.Error("forget --samples did not leave three pears")
	}
	before := l.read(model)
	l.refused(exitFailed, []string{"pear/000.jpg"}, "forget", model, "--samples", l.path("gone.txt"), "--images", more)
	l.same("a refused forget", before, model)
	l.must("learn", model, "--images", more)
	if !shows("fig", 5) || !shows("pear", 5) {
		l.Error("what was forgotten is not learned again")
	}
}

func (l *testbed) same(what string, want []byte, file string) {
	l.Helper()
	if !bytes.Equal(want, l.read(file)) {
		l.Errorf("%s changed %s", what, filepath.Base(file))
	}
}

// TestLearnElsewhere: with --out the model itself does not change.
func TestLearnElsewhere(t *testing.T) {
	l := newTestbed(t)
	model, _ := l.trained()
	base := l.read(model)
	l.must("learn", model, "--images", l.photos(l.path("more"), smallSide, 2, "fig"), "--out", l.path("next.model"))
	l.same("learn --out", base, model)
	if shown := l.must("inspect", l.path("next.model")).stdout; !strings.Contains(shown, "4 classes from 26 samples") {
		t.Errorf("the new model: %s", shown)
	}
}

// foreign writes a feature folder of two files as another program would.
func (l *testbed) foreign(dim int) string {
	l.Helper()
	w, err := featdir.NewWriter(l.path("foreign"), embed.Provenance{Dim: dim})
	if err != nil {
		l.Fatal(err)
	}
	defer w.Abort()
	for i := range 12 {
		row := make([]float32, dim)
		for j := range row {
			row[j] = float32(math.Sin(float64(i%3*7+j)) + 0.1*math.Cos(float64(i*31+j)))
		}
		if err := w.Write(dataset.Sample{Path: fmt.Sprint(i), Label: []string{"a", "b", "c"}[i%3]}, row); err != nil {
			l.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		l.Fatal(err)
	}
	if err := os.Remove(l.path("foreign", "meta.json")); err != nil {
		l.Fatal(err)
	}
	return l.path("foreign")
}

// TestForeignFeatures: two files are enough to train and evaluate; to label images
// the backbone must be given.
func TestForeignFeatures(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("images"), smallSide, 2, "kiwi")
	l.must("embed", "--images", images, "--out", l.path("own"))
	own, err := featdir.Read(l.path("own"))
	if err != nil {
		t.Fatal(err)
	}
	features, model := l.foreign(own.X.Cols), l.path("foreign.model")
	l.must("train", "--features", features, "--out", model)
	l.must("eval", model, "--features", features, "--json", l.path("e.json"))
	if accuracy := l.object(l.path("e.json"))["accuracy"]; accuracy != 1.0 {
		t.Errorf("accuracy %v on its own well-separated data", accuracy)
	}
	l.refused(exitUsage, []string{"--backbone"}, "label", model, "--images", images, "--out", l.path("out"))
	l.must("label", model, "--images", images, "--out", l.path("out"), "--backbone", "default")

	l.must("train", "--features", l.foreign(own.X.Cols+1), "--out", model)
	l.refused(exitFailed, []string{fmt.Sprint(own.X.Cols), fmt.Sprint(own.X.Cols + 1)}, "label", model, "--images", images, "--out", l.path("out"), "--backbone", "default")
}

// TestFeaturesOfAnotherSize are refused, naming both sizes.
func TestFeaturesOfAnotherSize(t *testing.T) {
	l := newTestbed(t)
	model, _ := l.trained()
	l.refused(exitFailed, []string{"7"}, "learn", model, "--features", l.foreign(7))
	l.refused(exitFailed, []string{"7"}, "eval", model, "--features", l.path("foreign"))
}

// TestFeaturesOfAnotherOrigin with the same number of columns are refused if their
// meta.json says so; without one, the command says that it cannot tell.
func TestFeaturesOfAnotherOrigin(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	builtIn, err := backbone.Resolve(backbone.Default, backbone.Dirs{})
	if err != nil {
		t.Fatal(err)
	}
	l.write(l.path("other.onnx"), append(slices.Clone(builtIn.Bytes()), 0x32, 0x00)) // an empty doc_string
	for word, setting := range map[string][]string{
		"another backbone":      {"--backbone", l.path("other.onnx")},
		"extractor settings":    {"--set", "extractor.pool=max"},
		"another preprocessing": {"--set", "preprocess.orientation=false"},
	} {
		features := l.path(word)
		l.must(append([]string{"embed", "--images", images, "--out", features}, setting...)...)
		l.refused(exitFailed, []string{word}, "learn", model, "--features", features, "--out", l.path("x.model"))
		l.refused(exitFailed, []string{word}, "eval", model, "--features", features)
	}
	own := l.path("own")
	l.must("embed", "--images", images, "--out", own)
	if r := l.must("learn", model, "--features", own, "--out", l.path("x.model")); r.stderr != "" {
		t.Errorf("the model's own features: %s", r.stderr)
	}
	if err := os.Remove(filepath.Join(own, "meta.json")); err != nil {
		t.Fatal(err)
	}
	if r := l.must("learn", model, "--features", own, "--out", l.path("x.model")); !strings.Contains(r.stderr, "do not say which backbone") {
		t.Errorf("features of unknown origin: %q", r.stderr)
	}
}

// TestAnotherBackbone is an error that names both hashes.
func TestAnotherBackbone(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	builtIn, err := backbone.Resolve(backbone.Default, backbone.Dirs{})
	if err != nil {
		t.Fatal(err)
	}
	other := l.path("other.onnx")
	altered := append(slices.Clone(builtIn.Bytes()), 0x32, 0x00) // an empty doc_string
	l.write(other, altered)
	otherHash := fmt.Sprintf("%x", sha256.Sum256(altered))
	for _, args := range [][]string{
		{"label", model, "--images", images, "--out", l.path("out")},
		{"learn", model, "--images", images},
		{"eval", model, "--images", images},
	} {
		words := []string{builtIn.SHA256[:8], otherHash[:8], "other.onnx"}
		l.refused(exitFailed, words, append(args, "--backbone", other)...)
	}
	l.refused(exitFailed, []string{"nowhere.onnx"}, "train", "--images", images, "--out", l.path("x"), "--backbone", "nowhere.onnx")
}

// TestOtherPixels: settings that would change the embeddings under a model are
// refused; those that only change how they are computed are not.
func TestOtherPixels(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.refused(exitFailed, []string{"preprocessing"}, "label", model, "--images", images, "--out", l.path("out"), "--set", "preprocess.orientation=false")
	l.refused(exitUsage, []string{"extractor"}, "label", model, "--images", images, "--out", l.path("out"), "--set", "extractor.pool=max")
	l.must("label", model, "--images", images, "--out", l.path("out"), "--set", "extractor.batch=3")
}

// TestDamagedModel: every command that reads models refuses a truncated or altered
// one.
func TestDamagedModel(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	whole := l.read(model)
	altered := slices.Clone(whole)
	altered[len(altered)/2] ^= 1
	for name, data := range map[string][]byte{"cut": whole[:len(whole)/2], "altered": altered, "empty": nil, "text": []byte("hello")} {
		file := l.path(name + ".model")
		l.write(file, data)
		for _, args := range [][]string{
			{"inspect", file}, {"label", file, "--images", images, "--out", l.path("out")},
			{"eval", file, "--images", images}, {"learn", file, "--images", images}, {"forget", file, "--class", "kiwi"},
		} {
			l.refused(exitFailed, []string{name + ".model"}, args...)
		}
		l.same("a refused command", data, file)
	}
	l.refused(exitFailed, []string{"nothing.model"}, "inspect", l.path("nothing.model"))
}

// TestEvalJSON: the keys are those documented, results are fractions, and classes
// that the model does not know give the AUROC of novelty.
func TestEvalJSON(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	file := l.path("eval.json")
	l.must("eval", model, "--images", images, "--json", file)
	e := l.object(file)
	for _, key := range []string{"n", "accuracy", "balanced_accuracy", "nll", "ece", "novelty_auroc", "per_class", "confusion"} {
		if _, ok := e[key]; !ok {
			t.Errorf("no key %s in %q", key, slices.Sorted(maps.Keys(e)))
		}
	}
	if e["n"] != 24.0 || e["novelty_auroc"] != nil {
		t.Errorf("n = %v, novelty_auroc = %v", e["n"], e["novelty_auroc"])
	}
	for _, key := range []string{"accuracy", "balanced_accuracy", "ece"} {
		if x, ok := e[key].(float64); !ok || x < 0 || x > 1 {
			t.Errorf("%s = %v is no fraction", key, e[key])
		}
	}
	checkConfusion(t, e)
	l.photos(images, smallSide, 4, "unheard-of")
	l.must("eval", model, "--images", images, "--json", file)
	e = l.object(file)
	if x, ok := e["novelty_auroc"].(float64); !ok || x < 0 || x > 1 || e["n"] != 24.0 {
		t.Errorf("with unknown classes: n = %v, novelty_auroc = %v", e["n"], e["novelty_auroc"])
	}
}

// checkConfusion: rows sum to the class sizes, the diagonal is the accuracy.
func checkConfusion(t *testing.T, e map[string]any) {
	t.Helper()
	var right, all float64
	for i, class := range e["per_class"].([]any) {
		c := class.(map[string]any)
		var sum float64
		row := e["confusion"].([]any)[i].([]any)
		for _, x := range row {
			sum += x.(float64)
		}
		diagonal := row[i].(float64)
		if sum != c["n"] || math.Abs(diagonal/sum-c["accuracy"].(float64)) > 1e-12 {
			t.Errorf("class %v: row %v of the confusion matrix, accuracy %v", c["class"], row, c["accuracy"])
		}
		right, all = right+diagonal, all+sum
	}
	if math.Abs(right/all-e["accuracy"].(float64)) > 1e-12 {
		t.Errorf("accuracy %v, the confusion matrix says %g", e["accuracy"], right/all)
	}
}

// TestEvalReport: eval writes a report, with broken images in errors.csv next to
// it.
func TestEvalReport(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.write(filepath.Join(images, "kiwi", "bad.jpg"), []byte("no JPEG"))
	l.expect(exitPartial, "eval", model, "--images", images, "--report", l.path("report"))
	if page := l.read(l.path("report", "report.html")); !bytes.Contains(page, []byte("kiwi/bad.jpg")) || !bytes.Contains(page, []byte("data:image/jpeg")) {
		t.Error("the page lacks the failure or the pictures")
	}
	if rows := l.table(l.path("report", "errors.csv")); len(rows) != 2 || rows[1][0] != "kiwi/bad.jpg" {
		t.Errorf("errors.csv: %q", rows)
	}
}

// TestTrainReports: broken images are listed in a file next to the model, which is
// removed when there are none.
func TestTrainReports(t *testing.T) {
	l := newTestbed(t)
	_, images := l.trained()
	l.write(filepath.Join(images, "lime", "bad.jpg"), nil)
	model := l.path("m")
	l.expect(exitPartial, "train", "--images", images, "--out", model)
	rows, err := csv.NewReader(bytes.NewReader(l.read(model + ".errors.csv"))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][0] != "lime/bad.jpg" {
		t.Errorf("errors.csv: %q, %v", rows, err)
	}
	if err := os.Remove(filepath.Join(images, "lime", "bad.jpg")); err != nil {
		t.Fatal(err)
	}
	l.must("train", "--images", images, "--out", model)
	if l.exists(model + ".errors.csv") {
		t.Error("the list of failures outlived them")
	}
}

// TestNothingToDo: folders that have no images or no classes, or do not exist.
func TestNothingToDo(t *testing.T) {
	l := newTestbed(t)
	l.write(l.path("loose", "a.jpg"), photo("a", 0, smallSide))
	l.write(l.path("texts", "a", "a.txt"), []byte("hello"))
	l.refused(exitFailed, []string{"nowhere"}, "train", "--images", l.path("nowhere"), "--out", l.path("m"))
	l.refused(exitFailed, []string{"no images"}, "train", "--images", l.path("texts"), "--out", l.path("m"))
	l.refused(exitFailed, []string{"<class>"}, "train", "--images", l.path("loose"), "--out", l.path("m"))
	if l.exists(l.path("m")) {
		t.Error("a model of nothing")
	}
}

func TestInformation(t *testing.T) {
	l := newTestbed(t)
	if r := l.must("doctor"); !strings.Contains(r.stdout, "✓ ONNX Runtime") || strings.Contains(r.stdout, "✗") {
		t.Errorf("doctor: %s", r.stdout)
	}
	if r := l.must("backbones", "list"); !strings.Contains(r.stdout, "built in") {
		t.Errorf("backbones list: %s", r.stdout)
	}
	if r := l.must("backbones", "inspect", "default"); !strings.Contains(r.stdout, "SHA-256") {
		t.Errorf("backbones inspect: %s", r.stdout)
	}
	t.Setenv("ONNXRUNTIME_LIB", l.path("nothing.so"))
	r := l.expect(exitFailed, "doctor")
	if !strings.Contains(r.stdout, "✗ ONNX Runtime") || !strings.Contains(r.stdout, "nothing.so") {
		t.Errorf("doctor without the library: %s", r.stdout)
	}
}
