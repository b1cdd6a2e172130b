package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/shared"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// graphRun feeds one tensor to an exported file and returns its only output.
func graphRun(t *testing.T, file []byte, input []float32, classes int, shape ...int64) []float32 {
	t.Helper()
	rt := orttest.Open(t)
	m, err := onnx.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Inputs) != 1 || len(m.Outputs) != 1 || m.Outputs[0].Name != exportOutput {
		t.Fatalf("inputs %s, outputs %s", onnx.Names(m.Inputs), onnx.Names(m.Outputs))
	}
	s, err := rt.NewSession(file, []string{m.Inputs[0].Name}, []string{exportOutput}, ort.CPU)
	if err != nil {
		t.Fatal(err)
	}
	in, err := rt.WrapTensor(input, shape...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := rt.NewTensor(shape[0], int64(classes))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run([]*ort.Tensor{in}, []*ort.Tensor{out}); err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(out.Data())
	if err := errors.Join(in.Close(), out.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return got
}

func sameProbabilities(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	worst, worstLog := 0.0, 0.0
	for i, l := range want {
		worst = max(worst, math.Abs(math.Exp(l)-math.Exp(float64(got[i]))))
		worstLog = max(worstLog, math.Abs(l-float64(got[i]))/(1+math.Abs(l)))
	}
	t.Logf("%s: largest difference in probability %.1e, relative in log-probability %.1e", what, worst, worstLog)
	if !(worst <= 1e-5 && worstLog <= 1e-4) {
		t.Errorf("%s: probabilities differ by %.1e, their logarithms by %.1e of them", what, worst, worstLog)
	}
}

// pixelsOf prepares the samples as the metadata of an exported file say.
func pixelsOf(t *testing.T, m *onnx.Model, images string, samples []dataset.Sample, l *testbed) (pixels []float32, side int) {
	t.Helper()
	var spec preprocess.Spec
	if err := json.Unmarshal([]byte(m.Metadata[onnx.MetadataPreprocess]), &spec); err != nil {
		t.Fatal(err)
	}
	var native preprocess.JPEGDecoder
	if spec.JPEG != "" {
		decoder, err := turbojpeg.Find()
		if err != nil {
			t.Fatal(err)
		}
		native = decoder
	}
	p, err := preprocess.NewNative(spec, preprocess.DefaultBudget(), native)
	if err != nil {
		t.Fatal(err)
	}
	side = spec.Side()
	pixels = make([]float32, len(samples)*3*side*side)
	for i, s := range samples {
		if err := p.Tensor(t.Context(), pixels[i*3*side*side:(i+1)*3*side*side], l.read(images, s.Path)); err != nil {
			t.Fatal(err)
		}
	}
	return pixels, side
}

// checkExport compares an exported head and an exported whole with the model.
func (l *testbed) checkExport(t *testing.T, modelFile, images string, args ...string) {
	t.Helper()
	m, err := model.Load(modelFile)
	if err != nil {
		t.Fatal(err)
	}
	features := l.path("features")
	l.must(append([]string{"embed", "--images", images, "--out", features}, args...)...)
	f, err := featdir.Read(features)
	if err != nil {
		t.Fatal(err)
	}
	n, C := f.X.Rows, len(m.Classes())
	want := blas64.General{Rows: n, Cols: C, Stride: C, Data: make([]float64, n*C)}
	if err := m.Predictor.Score(want, nil, f.X); err != nil {
		t.Fatal(err)
	}
	head, whole := l.path("head.onnx"), l.path("whole.onnx")
	l.must("export", modelFile, "--onnx", head)
	l.must(append([]string{"export", modelFile, "--onnx", whole, "--with-backbone"}, args...)...)
	sameProbabilities(t, "head", graphRun(t, l.read(head), contiguous(f.X), C, int64(n), int64(f.X.Cols)), want.Data)
	parsed, err := onnx.Parse(l.read(whole))
	if err != nil {
		t.Fatal(err)
	}
	var classes []string
	if err := json.Unmarshal([]byte(parsed.Metadata[metadataClasses]), &classes); err != nil || !slices.Equal(classes, m.Classes()) {
		t.Errorf("classes %q, %v", classes, err)
	}
	if parsed.Metadata[metadataModel] != m.SHA256() || parsed.Metadata[metadataMethod] != m.Method || len(parsed.Metadata[metadataBackbone]) != 64 {
		t.Errorf("metadata %q", parsed.Metadata)
	}
	pixels, side := pixelsOf(t, parsed, images, f.Samples, l)
	sameProbabilities(t, "whole", graphRun(t, l.read(whole), pixels, C, int64(n), 3, int64(side), int64(side)), want.Data)
}

func contiguous(x blas32.General) []float32 {
	var all []float32
	for i := range x.Rows {
		all = append(all, x.Data[i*x.Stride:i*x.Stride+x.Cols]...)
	}
	return all
}

func TestExport(t *testing.T) {
	if testing.Short() {
		t.Skip("exports every method with a backbone")
	}
	for _, method := range methodsWith[classifier.Exporter]() {
		t.Run(method, func(t *testing.T) {
			l := newTestbed(t)
			modelFile, images := l.trained("--classifier", method, "--set", "classifier.temperature=2.5")
			l.checkExport(t, modelFile, images)
		})
	}
}

// TestExportWithRealBackbones: photos through MobileNetV2 (opset 13) and
// ViT-Tiny.
func TestExportWithRealBackbones(t *testing.T) {
	photos := shared.Path(t, "data", "caltech101_10")
	for _, name := range []string{"mobilenetv2_features", "vit_tiny_patch16_224"} {
		t.Run(name, func(t *testing.T) {
			l := newTestbed(t)
			file := shared.Path(t, "models", name+".onnx")
			for _, class := range []string{"lotus", "camera", "ferry"} {
				paths, err := filepath.Glob(filepath.Join(photos, class, "*"))
				if err != nil || len(paths) < 4 {
					t.Fatal(class, err)
				}
				for _, path := range paths[:4] {
					l.write(l.path("photos", class, filepath.Base(path)), l.read(path))
				}
			}
			modelFile := l.path("real.model")
			l.must("train", "--images", l.path("photos"), "--backbone", file, "--classifier", "ppca", "--out", modelFile)
			l.checkExport(t, modelFile, l.path("photos"), "--backbone", file)
		})
	}
}

func TestExportRefuses(t *testing.T) {
	l := newTestbed(t)
	modelFile, images := l.trained("--classifier", "ncm")
	l.refused(exitUsage, []string{"--onnx"}, "export", modelFile)
	l.refused(exitFailed, []string{"not a pipeline model"}, "export", filepath.Join(images, "kiwi", "000.jpg"), "--onnx", l.path("x.onnx"))
	if l.exists(l.path("x.onnx")) {
		t.Error("a failed export leaves a file")
	}
	if got := strings.Join(methodsWith[classifier.Exporter](), " "); !strings.Contains(got, "lda ncm plda plda+ ppca ppca-eb ppca-online") {
		t.Errorf("exportable: %s", got)
	}
	features := l.path("foreign")
	l.must("embed", "--images", images, "--out", features)
	if err := os.Remove(filepath.Join(features, "meta.json")); err != nil {
		t.Fatal(err)
	}
	l.must("train", "--features", features, "--out", l.path("foreign.model"))
	l.refused(exitUsage, []string{"--backbone"}, "export", l.path("foreign.model"), "--onnx", l.path("x.onnx"), "--with-backbone")
	l.must("export", l.path("foreign.model"), "--onnx", l.path("x.onnx"))
}
