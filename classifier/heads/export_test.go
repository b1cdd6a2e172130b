package heads_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/heads"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
)

// exportCases are heads by their settings.
func exportCases() map[string]struct {
	method string
	change func(*heads.Config)
} {
	cases := map[string]struct {
		method string
		change func(*heads.Config)
	}{
		"plda":               {"plda", func(*heads.Config) {}},
		"ncm cosine":         {"ncm", func(*heads.Config) {}},
		"ncm euclidean":      {"ncm", func(c *heads.Config) { c.NCM.Metric = "euclidean" }},
		"ppca":               {"ppca", func(*heads.Config) {}},
		"ppca paper":         {"ppca", func(c *heads.Config) { c.PPCA.Preset = "paper" }},
		"ppca q=0":           {"ppca", func(c *heads.Config) { c.PPCA.Q = 0 }},
		"ppca q=d":           {"ppca", func(c *heads.Config) { c.PPCA.Q = 1000 }},
		"ppca lambda=1e-4":   {"ppca", func(c *heads.Config) { c.PPCA.Lambda = 1e-4 }},
		"ppca raw, logdet":   {"ppca", func(c *heads.Config) { c.PPCA.Normalize, c.PPCA.LogDet = new(false), new(true) }},
		"ppca unit, without": {"ppca", func(c *heads.Config) { c.PPCA.LogDet = new(false) }},
	}
	return cases
}

// crowd is labelled rows of d values: classes with many examples, one with two
// and one with a single example, overlapping, scaled.
func crowd(n, d int, scale float64, seed uint64) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	y := make([]string, n)
	for i := range n {
		class := i % 6
		if i == 0 {
			class = 6
		} else if i == 1 || i == 2 {
			class = 7
		}
		y[i] = fmt.Sprint("c", class)
		own := rand.New(rand.NewPCG(uint64(class), 9))
		for j := range d {
			x.Data[i*d+j] = float32(scale * (1 + 0.4*own.NormFloat64() + rng.NormFloat64()/math.Sqrt(float64(j+1))))
		}
	}
	return x, y
}

// TestExportEqualsLogProb: ONNX Runtime gives the probabilities of the head to
// 1e-5, for queries near and far and for a row of zeros.
func TestExportEqualsLogProb(t *testing.T) {
	const d = 24
	for name, c := range exportCases() {
		for _, scale := range []float64{1, 30} {
			t.Run(fmt.Sprintf("%s, scale %g", name, scale), func(t *testing.T) {
				x, y := crowd(200, d, scale, 1)
				q, _ := crowd(100, d, scale, 2)
				clear(q.Data[5*d : 6*d])
				compareExport(t, c.method, c.change, x, y, q)
			})
		}
	}
}

// TestExportOfOneClass: one class, one example.
func TestExportOfOneClass(t *testing.T) {
	for _, method := range []string{"ncm", "plda", "ppca"} {
		x, y := crowd(1, 5, 1, 1)
		q, _ := crowd(7, 5, 1, 2)
		compareExport(t, method, func(*heads.Config) {}, x, y, q)
	}
}

func TestExportUnfitted(t *testing.T) {
	for _, method := range []string{"ncm", "plda", "ppca"} {
		head, err := heads.New(method, heads.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := head.(classifier.Exporter).Export(onnx.NewGraph(""), "x"); !errors.Is(err, classifier.ErrNotFitted) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func compareExport(t *testing.T, method string, change func(*heads.Config), x blas32.General, y []string, q blas32.General) {
	t.Helper()
	cfg := heads.DefaultConfig()
	change(&cfg)
	head, err := heads.New(method, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := head.Learn(context.Background(), x, y); err != nil {
		t.Fatal(err)
	}
	model := exported(t, head)
	C := len(head.Classes())
	got := runGraph(t, model, q, C)
	want := blas64.General{Rows: q.Rows, Cols: C, Stride: C, Data: make([]float64, q.Rows*C)}
	if err := head.LogProb(want, q); err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i, l := range want.Data {
		worst = max(worst, math.Abs(math.Exp(l)-math.Exp(float64(got[i]))))
	}
	t.Logf("largest difference in probability %.1e", worst)
	if !(worst <= 1e-5) {
		t.Errorf("probabilities differ by %.1e", worst)
	}
}

func exported(t *testing.T, head classifier.Classifier) []byte {
	t.Helper()
	g := onnx.NewGraph("")
	out, err := head.(classifier.Exporter).Export(g, g.Input("x", onnx.Float32, onnx.Free, int64(head.Dim())))
	if err != nil {
		t.Fatal(err)
	}
	g.Output("y", out, onnx.Float32, onnx.Free, int64(len(head.Classes())))
	model, err := g.Model("test", map[string]string{"key": "value"})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := onnx.Parse(model)
	if err != nil || parsed.Opset != onnx.WriteOpset || parsed.Metadata["key"] != "value" || len(parsed.Inputs) != 1 || len(parsed.Outputs) != 1 {
		t.Fatalf("our own parser: %+v, %v", parsed, err)
	}
	return model
}

func runGraph(t *testing.T, model []byte, q blas32.General, classes int) []float32 {
	t.Helper()
	rt := orttest.Open(t)
	s, err := rt.NewSession(model, []string{"x"}, []string{"y"}, ort.CPU)
	if err != nil {
		t.Fatal(err)
	}
	in, err := rt.WrapTensor(q.Data, int64(q.Rows), int64(q.Cols))
	if err != nil {
		t.Fatal(err)
	}
	out, err := rt.NewTensor(int64(q.Rows), int64(classes))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run([]*ort.Tensor{in}, []*ort.Tensor{out}); err != nil {
		t.Fatal(err)
	}
	got := append([]float32(nil), out.Data()...)
	if err := errors.Join(in.Close(), out.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestExportsPassTheChecker runs onnx.checker on all of them where
// $PIPELINE_PYTHON has it.
func TestExportsPassTheChecker(t *testing.T) {
	python := os.Getenv("PIPELINE_PYTHON")
	if python == "" {
		t.Skip("set PIPELINE_PYTHON to a Python with onnx")
	}
	dir := t.TempDir()
	x, y := crowd(60, 8, 1, 1)
	for name, c := range exportCases() {
		cfg := heads.DefaultConfig()
		c.change(&cfg)
		head, err := heads.New(c.method, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := head.Learn(context.Background(), x, y); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".onnx"), exported(t, head), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const code = "import glob, sys\ntry:\n import onnx\nexcept ImportError:\n sys.exit()\nfor f in glob.glob(sys.argv[1] + '/*.onnx'):\n onnx.checker.check_model(f, full_check=True)"
	if out, err := exec.Command(python, "-c", code, dir).CombinedOutput(); err != nil {
		t.Errorf("onnx.checker: %v\n%s", err, out)
	}
}
