package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/shared"
)

// TestCaltech embeds Caltech-101 with ViT-Tiny once, and measures on it. The backbone
// is recognised by its hash, so nothing says how photos are prepared.
func TestCaltech(t *testing.T) {
	if testing.Short() {
		t.Skip("embeds 1000 photos with ViT-Tiny")
	}
	photos := shared.Path(t, "data", "caltech101_10")
	vit := shared.Path(t, "models", "vit_tiny_patch16_224.onnx")
	l := newTestbed(t)
	t.Run("reference figures", func(t *testing.T) { l.with(t).referenceFigures(t, photos, vit) })
	t.Run("unknown classes", func(t *testing.T) { l.with(t).unknownClasses(t, photos, vit) })
}

// referenceFigures trains on the first five photos of each class and tests on the
// last five.
func (l *testbed) referenceFigures(t *testing.T, photos, vit string) {
	train, test := l.firstAndLast(photos, 5)
	for _, c := range []struct {
		name     string
		accuracy float64 // of the reference, ± 0.008
		settings []string
	}{
		{"ncm", 0.866, []string{"--classifier", "ncm"}},
		// The reference is for L2 and λ = 0.01 without the log-determinant; with
		// it, as by default, the accuracy must be the same.
		{"ppca without log-determinant", 0.856, []string{"--classifier", "ppca", "--set", "classifier.ppca.logdet=false"}},
		{"ppca", 0.856, []string{"--classifier", "ppca"}},
		{"plda, ε = 0.3 and lengths of means as in the reference", 0.848, []string{"--classifier", "plda", "--set", "classifier.plda.leave_out=false", "--set", "classifier.plda.mean_length=0"}},
	} {
		model, file := l.path("caltech.model"), l.path("caltech.json")
		l.must(append([]string{"train", "--images", photos, "--list", train, "--backbone", vit, "--out", model}, c.settings...)...)
		l.must("eval", model, "--images", photos, "--list", test, "--json", file)
		e := l.object(file)
		accuracy := e["accuracy"].(float64)
		t.Logf("%s: accuracy %.1f %% of %v, NLL %.3f, ECE %.3f", c.name, 100*accuracy, e["n"], e["nll"], e["ece"])
		if accuracy < c.accuracy-0.008 || accuracy > c.accuracy+0.008 {
			t.Errorf("%s: accuracy %.4f, reference %.3f", c.name, accuracy, c.accuracy)
		}
	}
}

// firstAndLast lists the first and the last n files of each class by name.
func (l *testbed) firstAndLast(root string, n int) (first, last string) {
	l.Helper()
	var firsts, lasts strings.Builder
	classes, err := os.ReadDir(root)
	if err != nil {
		l.Fatal(err)
	}
	for _, class := range classes {
		if !class.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(root, class.Name()))
		if err != nil {
			l.Fatal(err)
		}
		for i, f := range files {
			if i < n {
				fmt.Fprintf(&firsts, "%s/%s\n", class.Name(), f.Name())
			}
			if i >= len(files)-n {
				fmt.Fprintf(&lasts, "%s/%s\n", class.Name(), f.Name())
			}
		}
	}
	l.write(l.path("first.txt"), []byte(firsts.String()))
	l.write(l.path("last.txt"), []byte(lasts.String()))
	return l.path("first.txt"), l.path("last.txt")
}

// TestExports runs the whole pipeline with every network that
// models/verify_exports.sh made. The weights are random: what counts is that each
// command works, with no setting other than the file.
func TestExports(t *testing.T) {
	if wanted.exports == "" {
		t.Skipf("%s names no folder of exported networks", exportsDir)
	}
	networks, err := filepath.Glob(filepath.Join(wanted.exports, "*.onnx"))
	if err != nil || len(networks) == 0 {
		t.Fatalf("no networks in %s (%v)", wanted.exports, err)
	}
	for _, network := range networks {
		t.Run(filepath.Base(network), func(t *testing.T) { wholePipeline(t, network) })
	}
}

func wholePipeline(t *testing.T, network string) {
	l := newTestbed(t)
	base := l.photos(l.path("base"), 256, 3, "kiwi", "lime")
	more := l.photos(l.path("more"), 256, 2, "plum")
	features, model, out := l.path("features"), l.path("m"), l.path("out")
	r := l.must("backbones", "inspect", network)
	if !strings.Contains(r.stdout, "from metadata") {
		t.Errorf("the export does not say how images are prepared:\n%s", r.stdout)
	}
	r = l.must("embed", "--images", base, "--backbone", network, "--out", features)
	if r.stderr != "" {
		t.Errorf("warnings: %s", r.stderr)
	}
	l.must("train", "--images", base, "--backbone", network, "--out", model)
	l.must("learn", model, "--images", more)
	l.must("label", model, "--images", base, "--out", out)
	if rows := l.table(out, "labels.csv"); len(rows) != 7 {
		t.Errorf("%d rows", len(rows)-1)
	}
	if inferred := l.timing(out, "inferred"); inferred != 0 {
		t.Errorf("%d were inferred again", inferred)
	}
	l.must("eval", model, "--features", features)
	t.Log(strings.TrimSpace(l.must("inspect", model).stdout))
}
