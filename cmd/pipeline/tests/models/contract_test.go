package models

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

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestEmbedFolder: the class is the first-level folder, the folder is readable
// by the library, and a bad image gives exit code 3 and one row.
func TestEmbedFolder(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), commandtest.SmallSide, 3, "kiwi", "lime")
	l.Write(l.Path("images", "loose.jpg"), commandtest.Photo("loose", 0, commandtest.SmallSide))
	l.Write(l.Path("images", "lime", "notes.txt"), []byte("no image"))
	out := l.Path("features")
	l.Must("embed", "--images", images, "--out", out)
	f := must.Get(featdir.Read(out))(t)
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
	l.Write(l.Path("images", "lime", "bad.jpg"), []byte("no JPEG"))
	l.Expect(command.ExitPartial, "embed", "--images", images, "--out", out)
	if rows := l.Table(out, "errors.csv"); len(rows) != 2 || rows[1][0] != "lime/bad.jpg" {
		t.Errorf("errors.csv: %q", rows)
	}
}

// TestFeaturesAreTheImages: training on a folder and on its embeddings gives
// the same answers, and the model finds its backbone again.
func TestFeaturesAreTheImages(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Must("embed", "--images", images, "--out", l.Path("features"))
	l.Must("train", "--features", l.Path("features"), "--out", l.Path("f.model"))
	l.Must("label", model, "--images", images, "--out", l.Path("a"))
	l.Must("label", l.Path("f.model"), "--images", images, "--out", l.Path("b"))
	if !bytes.Equal(l.Read(l.Path("a", "labels.csv")), l.Read(l.Path("b", "labels.csv"))) {
		t.Error("the labels differ")
	}
	l.Must("eval", model, "--features", l.Path("features"), "--json", l.Path("a.json"))
	l.Must("eval", model, "--images", images, "--json", l.Path("b.json"))
	// Features do not name the photos of their rows, so which of them were learned is not known: the account, which
	// comes last, counts these apart.
	known := bytes.Replace(l.Read(l.Path("b.json")), []byte(`,"n_learned":24`), nil, 1)
	of, _, _ := bytes.Cut(l.Read(l.Path("a.json")), []byte(`,"account":`))
	if known, _, _ = bytes.Cut(known, []byte(`,"account":`)); !bytes.Equal(of, known) {
		t.Errorf("the evaluations differ: %s, %s", of, known)
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
	l := commandtest.New(t)
	model, _ := l.Trained("--classifier", "hppca", "--set", "classifier.statistics=false")
	base := l.Read(model)
	more := l.Photos(l.Path("more"), commandtest.SmallSide, 5, "fig", "pear")
	refresh := []string{"--images", more, "--set", "classifier.hppca.refresh=true"}

	l.Must(append([]string{"learn", model}, refresh...)...)
	at := l.Read(model)
	l.Write(l.Path("late.model"), base)
	l.Must("learn", l.Path("late.model"), "--images", more)
	if bytes.Equal(l.Read(l.Path("late.model")), at) {
		t.Error("the super-classes were rebuilt without being asked to")
	}
	l.Must(append([]string{"learn", l.Path("late.model")}, refresh...)...)
	l.Same("refreshing later", at, l.Path("late.model"))
}

func sessions(t *testing.T, method string) {
	l := commandtest.New(t)
	model, images := l.Trained("--classifier", method)
	base := l.Read(model)
	more := l.Photos(l.Path("more"), commandtest.SmallSide, 5, "fig", "pear")

	l.Must("learn", model, "--images", images) // nothing new
	l.Same("learning the base session again", base, model)

	l.Must("learn", model, "--images", more)
	taught := l.Read(model)
	if bytes.Equal(taught, base) {
		t.Fatal("learning new classes left the model as it was")
	}
	if again := l.Must("learn", model, "--images", more); !strings.Contains(again.Stdout, "10 samples known already") {
		t.Errorf("learning again says %q", again.Stdout)
	}
	l.Same("learning the second session again", taught, model)

	forgetAndRelearn(l, model, more)
}

func forgetAndRelearn(l *commandtest.Bed, model, more string) {
	l.Helper()
	shows := func(class string, samples int) bool {
		for line := range strings.Lines(l.Must("inspect", model).Stdout) {
			if words := strings.Fields(line); len(words) == 3 && words[0] == class && words[1] == fmt.Sprint(samples) {
				return true
			}
		}
		return false
	}
	l.Must("forget", model, "--class", "fig")
	if shows("fig", 5) || !shows("pear", 5) {
		l.Error("forget --class fig did not forget fig alone")
	}
	l.Refused(command.ExitFailed, []string{"fig"}, "forget", model, "--class", "fig")
	l.Write(l.Path("gone.txt"), []byte("pear/000.jpg\npear/003.jpg\n"))
	l.Must("forget", model, "--samples", l.Path("gone.txt"), "--images", more)
	if !shows("pear", 3) {
		l.Error("forget --samples did not leave three pears")
	}
	before := l.Read(model)
	l.Refused(command.ExitFailed, []string{"pear/000.jpg"}, "forget", model, "--samples", l.Path("gone.txt"),
		"--images", more)
	l.Same("a refused forget", before, model)
	l.Must("learn", model, "--images", more)
	if !shows("fig", 5) || !shows("pear", 5) {
		l.Error("what was forgotten is not learned again")
	}
}

// TestLearnElsewhere: with --out the model itself does not change.
func TestLearnElsewhere(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	base := l.Read(model)
	l.Must("learn", model, "--images", l.Photos(l.Path("more"), commandtest.SmallSide, 2, "fig"), "--out",
		l.Path("next.model"))
	l.Same("learn --out", base, model)
	if shown := l.Must("inspect", l.Path("next.model")).Stdout; !strings.Contains(shown, "4 classes from 26 samples") {
		t.Errorf("the new model: %s", shown)
	}
}

// TestForeignFeatures: two files are enough to train and evaluate; to label images
// the backbone must be given.
func TestForeignFeatures(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), commandtest.SmallSide, 2, "kiwi")
	l.Must("embed", "--images", images, "--out", l.Path("own"))
	own := must.Get(featdir.Read(l.Path("own")))(t)
	features, model := l.Foreign(own.X.Cols), l.Path("foreign.model")
	l.Must("train", "--features", features, "--out", model)
	l.Must("eval", model, "--features", features, "--json", l.Path("e.json"))
	if accuracy := l.Object(l.Path("e.json"))["accuracy"]; accuracy != 1.0 {
		t.Errorf("accuracy %v on its own well-separated data", accuracy)
	}
	l.Refused(command.ExitUsage, []string{"--backbone"}, "label", model, "--images", images, "--out", l.Path("out"))
	l.Must("label", model, "--images", images, "--out", l.Path("out"), "--backbone", commandtest.Network())

	l.Must("train", "--features", l.Foreign(own.X.Cols+1), "--out", model)
	l.Refused(command.ExitFailed, []string{fmt.Sprint(own.X.Cols), fmt.Sprint(own.X.Cols + 1)}, "label", model,
		"--images", images, "--out", l.Path("out"), "--backbone", commandtest.Network())
}

// TestFeaturesOfAnotherSize are refused, naming both sizes.
func TestFeaturesOfAnotherSize(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	l.Refused(command.ExitFailed, []string{"7"}, "learn", model, "--features", l.Foreign(7))
	l.Refused(command.ExitFailed, []string{"7"}, "eval", model, "--features", l.Path("foreign"))
}

// TestFeaturesOfAnotherOrigin with the same number of columns are refused if their
// meta.json says so; without one, the command says that it cannot tell.
func TestFeaturesOfAnotherOrigin(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	builtIn := must.Get(backbone.Resolve(commandtest.Network(), backbone.Dirs{}))(t)
	l.Write(l.Path("other.onnx"), append(slices.Clone(builtIn.Bytes()), 0x32, 0x00)) // an empty doc_string
	for word, setting := range map[string][]string{
		"another backbone":      {"--backbone", l.Path("other.onnx")},
		"extractor settings":    {"--set", "extractor.pool=max"},
		"another preprocessing": {"--set", "preprocess.orientation=false"},
	} {
		features := l.Path(word)
		l.Must(append([]string{"embed", "--images", images, "--out", features}, setting...)...)
		l.Refused(command.ExitFailed, []string{word}, "learn", model, "--features", features, "--out",
			l.Path("x.model"))
		l.Refused(command.ExitFailed, []string{word}, "eval", model, "--features", features)
	}
	own := l.Path("own")
	l.Must("embed", "--images", images, "--out", own)
	if r := l.Must("learn", model, "--features", own, "--out", l.Path("x.model")); r.Stderr != "" {
		t.Errorf("the model's own features: %s", r.Stderr)
	}
	must.Do(t, os.Remove(filepath.Join(own, "meta.json")))
	if r := l.Must("learn", model, "--features", own, "--out", l.Path("x.model")); !strings.Contains(r.Stderr,
		"do not say which backbone") {
		t.Errorf("features of unknown origin: %q", r.Stderr)
	}
}

// TestAnotherBackbone is an error that names both hashes.
func TestAnotherBackbone(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	builtIn := must.Get(backbone.Resolve(commandtest.Network(), backbone.Dirs{}))(t)
	other := l.Path("other.onnx")
	altered := append(slices.Clone(builtIn.Bytes()), 0x32, 0x00) // an empty doc_string
	l.Write(other, altered)
	otherHash := fmt.Sprintf("%x", sha256.Sum256(altered))
	for _, args := range [][]string{
		{"label", model, "--images", images, "--out", l.Path("out")},
		{"learn", model, "--images", images},
		{"eval", model, "--images", images},
	} {
		words := []string{builtIn.SHA256[:8], otherHash[:8], "other.onnx"}
		l.Refused(command.ExitFailed, words, append(args, "--backbone", other)...)
	}
	l.Refused(command.ExitFailed, []string{"nowhere.onnx"}, "train", "--images", images, "--out", l.Path("x"),
		"--backbone", "nowhere.onnx")
}

// TestOtherPixels: settings that would change the embeddings under a model are
// refused; those that only change how they are computed are not.
func TestOtherPixels(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Refused(command.ExitFailed, []string{"preprocessing"}, "label", model, "--images", images, "--out", l.Path("out"),
		"--set", "preprocess.orientation=false")
	l.Refused(command.ExitUsage, []string{"extractor"}, "label", model, "--images", images, "--out", l.Path("out"),
		"--set", "extractor.pool=max")
	l.Must("label", model, "--images", images, "--out", l.Path("out"), "--set", "extractor.batch=3")
}

// TestDamagedModel: every command that reads models refuses a truncated or altered
// one.
func TestDamagedModel(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	whole := l.Read(model)
	altered := slices.Clone(whole)
	altered[len(altered)/2] ^= 1
	for name, data := range map[string][]byte{"cut": whole[:len(whole)/2], "altered": altered, "empty": nil,
		"text": []byte("hello")} {
		file := l.Path(name + ".model")
		l.Write(file, data)
		for _, args := range [][]string{
			{"inspect", file}, {"label", file, "--images", images, "--out", l.Path("out")},
			{"eval", file, "--images", images}, {"learn", file, "--images", images},
			{"forget", file, "--class", "kiwi"},
		} {
			l.Refused(command.ExitFailed, []string{name + ".model"}, args...)
		}
		l.Same("a refused command", data, file)
	}
	l.Refused(command.ExitFailed, []string{"nothing.model"}, "inspect", l.Path("nothing.model"))
}

// TestEvalJSON: the keys are those documented, results are fractions, and classes
// that the model does not know give the AUROC of novelty.
func TestEvalJSON(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	file := l.Path("eval.json")
	l.Must("eval", model, "--images", images, "--json", file)
	e := l.Object(file)
	for _, key := range []string{"n", "accuracy", "balanced_accuracy", "nll", "ece", "novelty_auroc", "per_class",
		"confusion"} {
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
	l.Photos(images, commandtest.SmallSide, 4, "unheard-of")
	l.Must("eval", model, "--images", images, "--json", file)
	e = l.Object(file)
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
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Write(filepath.Join(images, "kiwi", "bad.jpg"), []byte("no JPEG"))
	l.Expect(command.ExitPartial, "eval", model, "--images", images, "--report", l.Path("report"))
	if page := l.Read(l.Path("report", "report.html")); !bytes.Contains(page, []byte("kiwi/bad.jpg")) ||
		!bytes.Contains(page, []byte("data:image/jpeg")) {
		t.Error("the page lacks the failure or the pictures")
	}
	if rows := l.Table(l.Path("report", "errors.csv")); len(rows) != 2 || rows[1][0] != "kiwi/bad.jpg" {
		t.Errorf("errors.csv: %q", rows)
	}
}

// TestTrainReports: broken images are listed in a file next to the model, which is
// removed when there are none.
func TestTrainReports(t *testing.T) {
	l := commandtest.New(t)
	_, images := l.Trained()
	l.Write(filepath.Join(images, "lime", "bad.jpg"), nil)
	model := l.Path("m")
	l.Expect(command.ExitPartial, "train", "--images", images, "--out", model)
	rows, err := csv.NewReader(bytes.NewReader(l.Read(model + ".errors.csv"))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][0] != "lime/bad.jpg" {
		t.Errorf("errors.csv: %q, %v", rows, err)
	}
	must.Do(t, os.Remove(filepath.Join(images, "lime", "bad.jpg")))
	l.Must("train", "--images", images, "--out", model)
	if l.Exists(model + ".errors.csv") {
		t.Error("the list of failures outlived them")
	}
}

// TestNothingToDo: folders that have no images or no classes, or do not exist.
func TestNothingToDo(t *testing.T) {
	l := commandtest.New(t)
	l.Write(l.Path("loose", "a.jpg"), commandtest.Photo("a", 0, commandtest.SmallSide))
	l.Write(l.Path("texts", "a", "a.txt"), []byte("hello"))
	l.Refused(command.ExitFailed, []string{"nowhere"}, "train", "--images", l.Path("nowhere"), "--out", l.Path("m"))
	l.Refused(command.ExitFailed, []string{"no images"}, "train", "--images", l.Path("texts"), "--out", l.Path("m"))
	l.Refused(command.ExitFailed, []string{"<class>"}, "train", "--images", l.Path("loose"), "--out", l.Path("m"))
	if l.Exists(l.Path("m")) {
		t.Error("a model of nothing")
	}
}

func TestInformation(t *testing.T) {
	l := commandtest.New(t)
	if r := l.Must("doctor"); !strings.Contains(r.Stdout, "✓ ONNX Runtime") || strings.Contains(r.Stdout, "✗") {
		t.Errorf("doctor: %s", r.Stdout)
	}
	if r := l.Must("backbones", "list"); !strings.Contains(r.Stdout, "built in") {
		t.Errorf("backbones list: %s", r.Stdout)
	}
	if r := l.Must("backbones", "inspect", commandtest.Network()); !strings.Contains(r.Stdout, "SHA-256") {
		t.Errorf("backbones inspect: %s", r.Stdout)
	}
	t.Setenv("ONNXRUNTIME_LIB", l.Path("nothing.so"))
	r := l.Expect(command.ExitFailed, "doctor")
	if !strings.Contains(r.Stdout, "✗ ONNX Runtime") || !strings.Contains(r.Stdout, "nothing.so") {
		t.Errorf("doctor without the library: %s", r.Stdout)
	}
}
