package method_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/method"
)

// exportCases holds heads by their settings.
func exportCases() map[string]struct {
	m      string
	change func(*method.Config)
} {
	cases := map[string]struct {
		m      string
		change func(*method.Config)
	}{
		"lda":                {"lda", func(*method.Config) {}},
		"plda":               {"plda", func(*method.Config) {}},
		"plda+":              {"plda+", func(*method.Config) {}},
		"plda+, nu=3":        {"plda+", setting("plda_plus.nu", 3)},
		"ppca-eb, nu=3":      {"ppca-eb", setting("ppca_eb.nu", 3)},
		"ncm cosine":         {"ncm", func(*method.Config) {}},
		"ncm euclidean":      {"ncm", setting("ncm.metric", "euclidean")},
		"ppca":               {"ppca", func(*method.Config) {}},
		"ppca paper":         {"ppca", setting("ppca.preset", "paper")},
		"ppca q=0":           {"ppca", setting("ppca.q", 0)},
		"ppca q=d":           {"ppca", setting("ppca.q", 1000)},
		"ppca lambda=1e-4":   {"ppca", setting("ppca.lambda", 1e-4)},
		"ppca raw, logdet":   {"ppca", setting("ppca.normalize", false, "ppca.logdet", true)},
		"ppca unit, without": {"ppca", setting("ppca.logdet", false)},
	}
	return cases
}

// crowd returns labelled rows of d values: classes with many examples, one with
// two and one with a single example, overlapping, scaled.
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

// TestExportEqualsLogProb checks that ONNX Runtime gives the probabilities of
// the head to 1e-5, for queries near and far and for a row of zeros.
func TestExportEqualsLogProb(t *testing.T) {
	const d = 24
	for name, c := range exportCases() {
		for _, scale := range []float64{1, 30} {
			t.Run(fmt.Sprintf("%s, scale %g", name, scale), func(t *testing.T) {
				x, y := crowd(200, d, scale, 1)
				q, _ := crowd(100, d, scale, 2)
				clear(q.Data[5*d : 6*d])
				compareExport(t, c.m, c.change, x, y, q)
			})
		}
	}
}

// TestExportOfOneClass exports a head with one class and one example.
func TestExportOfOneClass(t *testing.T) {
	for _, m := range []string{"lda", "ncm", "plda", "plda+", "ppca", "ppca-eb"} {
		x, y := crowd(1, 5, 1, 1)
		q, _ := crowd(7, 5, 1, 2)
		compareExport(t, m, func(*method.Config) {}, x, y, q)
	}
}

func compareExport(t *testing.T, m string, change func(*method.Config), x blas32.General, y []string,
	q blas32.General) {
	t.Helper()
	cfg := method.DefaultConfig()
	change(&cfg)
	head := must.Get(method.New(m, cfg))(t)
	must.Do(t, head.Learn(context.Background(), x, y))
	classifiertest.CheckExport(t, head, q)
}

// TestExportsPassTheChecker runs onnx.checker on all exports.
func TestExportsPassTheChecker(t *testing.T) {
	python := testenv.Python(t, "onnx")
	dir := t.TempDir()
	x, y := crowd(60, 8, 1, 1)
	for name, c := range exportCases() {
		cfg := method.DefaultConfig()
		c.change(&cfg)
		head := must.Get(method.New(c.m, cfg))(t)
		must.Do(t, head.Learn(context.Background(), x, y))
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".onnx"), classifiertest.Exported(t, head), 0o644))
	}
	const code = `
import faulthandler, glob, sys
faulthandler.dump_traceback_later(120, exit=True)  # says where it hangs
import onnx
for f in glob.glob(sys.argv[1] + '/*.onnx'):
    onnx.checker.check_model(f, full_check=True)
`
	if out, err := exec.Command(python, "-c", code, dir).CombinedOutput(); err != nil {
		t.Errorf("onnx.checker: %v\n%s", err, out)
	}
}
