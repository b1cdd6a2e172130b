package research

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// TestCaltech embeds Caltech-101 with ViT-Tiny once, and measures on it. The backbone
// is recognised by its hash, so nothing says how photos are prepared.
func TestCaltech(t *testing.T) {
	if testing.Short() {
		t.Skip("embeds 1000 photos with ViT-Tiny")
	}
	photos := shared.Path(t, "data", "caltech101_10")
	vit := shared.Path(t, "models", "vit_tiny_patch16_224.onnx")
	l := commandtest.New(t)
	t.Run("reference figures", func(t *testing.T) { referenceFigures(l.With(t), t, photos, vit) })
	t.Run("unknown classes", func(t *testing.T) { unknownClasses(l.With(t), t, photos, vit) })
}

// referenceFigures trains on the first five photos of each class and tests on the
// last five.
func referenceFigures(l *commandtest.Bed, t *testing.T, photos, vit string) {
	train, test := firstAndLast(l, photos, 5)
	for _, c := range []struct {
		name     string
		accuracy float64 // of the reference, ± 0.008
		settings []string
	}{
		{"ncm", 0.866, []string{"--classifier", "ncm"}},
		// The reference is for L2 and λ = 0.01 without the log-determinant; with
		// it, as by default, the accuracy must be the same.
		{"ppca without log-determinant", 0.856,
			[]string{"--classifier", "ppca", "--set", "classifier.ppca.logdet=false"}},
		{"ppca", 0.856, []string{"--classifier", "ppca"}},
		{"plda, ε = 0.3 and lengths of means as in the reference", 0.848, []string{"--classifier", "plda", "--set",
			"classifier.plda.leave_out=false", "--set", "classifier.plda.mean_length=0"}},
	} {
		model, file := l.Path("caltech.model"), l.Path("caltech.json")
		l.Must(append([]string{"train", "--images", photos, "--list", train, "--backbone", vit, "--out", model},
			c.settings...)...)
		l.Must("eval", model, "--images", photos, "--list", test, "--json", file)
		e := l.Object(file)
		accuracy := e["accuracy"].(float64)
		t.Logf("%s: accuracy %.1f %% of %v, NLL %.3f, ECE %.3f", c.name, 100*accuracy, e["n"], e["nll"], e["ece"])
		if accuracy < c.accuracy-0.008 || accuracy > c.accuracy+0.008 {
			t.Errorf("%s: accuracy %.4f, reference %.3f", c.name, accuracy, c.accuracy)
		}
	}
}

// firstAndLast lists the first and the last n files of each class by name.
func firstAndLast(l *commandtest.Bed, root string, n int) (first, last string) {
	l.Helper()
	var firsts, lasts strings.Builder
	classes := must.Get(os.ReadDir(root))(l)
	for _, class := range classes {
		if !class.IsDir() {
			continue
		}
		files := must.Get(os.ReadDir(filepath.Join(root, class.Name())))(l)
		for i, f := range files {
			if i < n {
				fmt.Fprintf(&firsts, "%s/%s\n", class.Name(), f.Name())
			}
			if i >= len(files)-n {
				fmt.Fprintf(&lasts, "%s/%s\n", class.Name(), f.Name())
			}
		}
	}
	l.Write(l.Path("first.txt"), []byte(firsts.String()))
	l.Write(l.Path("last.txt"), []byte(lasts.String()))
	return l.Path("first.txt"), l.Path("last.txt")
}

// TestExports runs the whole pipeline with every network that
// models/verify_exports.sh made. The weights are random: what counts is that each
// command works, with no setting other than the file.
func TestExports(t *testing.T) {
	if commandtest.Wanted.Exports == "" {
		t.Skipf("%s names no folder of exported networks", "PIPELINE_EXPORTS")
	}
	networks, err := filepath.Glob(filepath.Join(commandtest.Wanted.Exports, "*.onnx"))
	if err != nil || len(networks) == 0 {
		t.Fatalf("no networks in %s (%v)", commandtest.Wanted.Exports, err)
	}
	for _, network := range networks {
		t.Run(filepath.Base(network), func(t *testing.T) { wholePipeline(t, network) })
	}
}

func wholePipeline(t *testing.T, network string) {
	l := commandtest.New(t)
	base := l.Photos(l.Path("base"), 256, 3, "kiwi", "lime")
	more := l.Photos(l.Path("more"), 256, 2, "plum")
	features, model, out := l.Path("features"), l.Path("m"), l.Path("out")
	r := l.Must("backbones", "inspect", network)
	if !strings.Contains(r.Stdout, "from metadata") {
		t.Errorf("the export does not say how images are prepared:\n%s", r.Stdout)
	}
	r = l.Must("embed", "--images", base, "--backbone", network, "--out", features)
	if r.Stderr != "" {
		t.Errorf("warnings: %s", r.Stderr)
	}
	l.Must("train", "--images", base, "--backbone", network, "--out", model)
	l.Must("learn", model, "--images", more)
	l.Must("label", model, "--images", base, "--out", out)
	if rows := l.Table(out, "labels.csv"); len(rows) != 7 {
		t.Errorf("%d rows", len(rows)-1)
	}
	if inferred := l.Timing(out, "inferred"); inferred != 0 {
		t.Errorf("%d were inferred again", inferred)
	}
	l.Must("eval", model, "--features", features)
	t.Log(strings.TrimSpace(l.Must("inspect", model).Stdout))
}
