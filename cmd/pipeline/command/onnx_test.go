package command_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// graphRun feeds one tensor to an exported file and returns an output, a number of values for each row.
func graphRun(t *testing.T, file []byte, input []float32, output string, values int, shape ...int64) []float32 {
	t.Helper()
	rt := orttest.Open(t)
	m := must.Get(onnx.Parse(file))(t)
	if len(m.Inputs) != 1 || !slices.ContainsFunc(m.Outputs, func(v onnx.Value) bool { return v.Name == output }) {
		t.Fatalf("inputs %s, outputs %s", onnx.Names(m.Inputs), onnx.Names(m.Outputs))
	}
	s := must.Get(rt.NewSession(file, []string{m.Inputs[0].Name}, []string{output}, ort.CPU))(t)
	in := must.Get(rt.WrapTensor(input, shape...))(t)
	of := []int64{shape[0]}
	if values > 1 {
		of = append(of, int64(values))
	}
	out := must.Get(rt.NewTensor(of...))(t)
	must.Do(t, s.Run([]*ort.Tensor{in}, []*ort.Tensor{out}))
	got := slices.Clone(out.Data())
	must.Do(t, errors.Join(in.Close(), out.Close(), s.Close()))
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

// sameNovelties compares novelties and the probabilities that rest on them.
func sameNovelties(t *testing.T, novelty, unseen []float32, want []model.Judgement) {
	t.Helper()
	for i, j := range want {
		if math.Abs(float64(novelty[i])-j.Novelty) > 1e-4*(1+math.Abs(j.Novelty)) {
			t.Errorf("row %d: novelty %v, want %v", i, novelty[i], j.Novelty)
		}
		p := float64(unseen[i])
		if j.New == nil && !math.IsNaN(p) || j.New != nil && !(math.Abs(p-*j.New) <= 1e-4) {
			t.Errorf("row %d: p_new is %v, want %v (NaN for nil)", i, p, j.New)
		}
	}
}

// pixelsOf prepares the samples as the metadata of an exported file say.
func pixelsOf(t *testing.T, m *onnx.Model, images string, samples []dataset.Sample,
	l *commandtest.Bed) (pixels []float32, side int) {
	t.Helper()
	var spec preprocess.Spec
	must.Do(t, json.Unmarshal([]byte(m.Metadata[onnx.MetadataPreprocess]), &spec))
	p := must.Get(preprocess.New(spec, preprocess.DefaultBudget()))(t)
	side = spec.Side()
	pixels = make([]float32, len(samples)*3*side*side)
	for i, s := range samples {
		must.Do(t, p.Tensor(t.Context(), pixels[i*3*side*side:(i+1)*3*side*side], l.Read(images, s.Path)))
	}
	return pixels, side
}

// checkExport compares an exported head and an exported whole with the model.
func checkExport(l *commandtest.Bed, t *testing.T, modelFile, images string, args ...string) {
	t.Helper()
	m := must.Get(model.Load(modelFile))(t)
	features := l.Path("features")
	l.Must(append([]string{"embed", "--images", images, "--out", features}, args...)...)
	f := must.Get(featdir.Read(features))(t)
	n, C := f.X.Rows, len(m.Classes())
	want := blas64.General{Rows: n, Cols: C, Stride: C, Data: make([]float64, n*C)}
	judged := must.Get(m.Predictor.Judge(f.X, 1, m.UsualThreshold()))(t)
	must.Do(t, m.Predictor.Score(want, nil, f.X))
	head, whole := l.Path("head.onnx"), l.Path("whole.onnx")
	l.Must("export", modelFile, "--onnx", head)
	l.Must(append([]string{"export", modelFile, "--onnx", whole, "--with-backbone"}, args...)...)
	onHead := func(output string, values int) []float32 {
		return graphRun(t, l.Read(head), contiguous(f.X), output, values, int64(n), int64(f.X.Cols))
	}
	sameProbabilities(t, "head", onHead(pipeline.ExportOutput, C), want.Data)
	sameNovelties(t, onHead(pipeline.ExportNovelty, 1), onHead(pipeline.ExportNew, 1), judged)
	parsed := must.Get(onnx.Parse(l.Read(whole)))(t)
	var classes []string
	if err := json.Unmarshal([]byte(parsed.Metadata[pipeline.MetadataClasses]), &classes); err != nil ||
		!slices.Equal(classes, m.Classes()) {
		t.Errorf("classes %q, %v", classes, err)
	}
	if parsed.Metadata[pipeline.MetadataModel] != m.SHA256() || parsed.Metadata[pipeline.MetadataMethod] != m.Method ||
		len(parsed.Metadata[pipeline.MetadataBackbone]) != 64 ||
		parsed.Metadata[pipeline.MetadataT] != fmt.Sprint(m.Predictor.Temperature.T) ||
		cmp.Or(parsed.Metadata[pipeline.MetadataThreshold], "+Inf") != fmt.Sprint(m.UsualThreshold()) {
		t.Errorf("metadata %q", parsed.Metadata)
	}
	pixels, side := pixelsOf(t, parsed, images, f.Samples, l)
	sameProbabilities(t, "whole", graphRun(t, l.Read(whole), pixels, pipeline.ExportOutput, C, int64(n), 3,
		int64(side), int64(side)), want.Data)
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
	for _, method := range pipeline.MethodsWith[classifier.Exporter]() {
		t.Run(method, func(t *testing.T) {
			l := commandtest.New(t)
			modelFile, images := l.Trained("--classifier", method, "--set", "classifier.temperature=2.5")
			checkExport(l, t, modelFile, images)
		})
	}
}

// TestExportWithRealBackbones: photos through MobileNetV2 (opset 13) and
// ViT-Tiny.
func TestExportWithRealBackbones(t *testing.T) {
	photos := shared.Path(t, "data", "caltech101_10")
	for _, name := range []string{"mobilenetv2_features", "vit_tiny_patch16_224"} {
		t.Run(name, func(t *testing.T) {
			l := commandtest.New(t)
			file := shared.Path(t, "models", name+".onnx")
			for _, class := range []string{"lotus", "camera", "ferry"} {
				paths, err := filepath.Glob(filepath.Join(photos, class, "*"))
				if err != nil || len(paths) < 4 {
					t.Fatal(class, err)
				}
				for _, path := range paths[:4] {
					l.Write(l.Path("photos", class, filepath.Base(path)), l.Read(path))
				}
			}
			modelFile := l.Path("real.model")
			l.Must("train", "--images", l.Path("photos"), "--backbone", file, "--classifier", "ppca", "--out",
				modelFile)
			checkExport(l, t, modelFile, l.Path("photos"), "--backbone", file)
		})
	}
}

func TestExportRefuses(t *testing.T) {
	l := commandtest.New(t)
	modelFile, images := l.Trained("--classifier", "ncm")
	l.Refused(command.ExitUsage, []string{"--onnx"}, "export", modelFile)
	l.Refused(command.ExitFailed, []string{"not a pipeline model"}, "export", filepath.Join(images, "kiwi", "000.jpg"),
		"--onnx", l.Path("x.onnx"))
	if l.Exists(l.Path("x.onnx")) {
		t.Error("a failed export leaves a file")
	}
	if got := strings.Join(pipeline.MethodsWith[classifier.Exporter](), " "); !strings.Contains(got,
		"lda ncm plda plda+ ppca ppca-eb ppca-online") {
		t.Errorf("exportable: %s", got)
	}
	features := l.Path("foreign")
	l.Must("embed", "--images", images, "--out", features)
	must.Do(t, os.Remove(filepath.Join(features, "meta.json")))
	l.Must("train", "--features", features, "--out", l.Path("foreign.model"))
	l.Refused(command.ExitUsage, []string{"--backbone"}, "export", l.Path("foreign.model"), "--onnx", l.Path("x.onnx"),
		"--with-backbone")
	l.Must("export", l.Path("foreign.model"), "--onnx", l.Path("x.onnx"))
}
