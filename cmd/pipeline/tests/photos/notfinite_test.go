package photos

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// logBackbone writes a backbone whose embedding is log(1−x) of an 8×8 image in
// 0…1, averaged over 4×4 squares: infinite for a white one.
func logBackbone(l *commandtest.Bed) string {
	l.Helper()
	g := onnx.NewGraph("")
	x := g.Input("x", onnx.Float32, onnx.Free, 3, 8, 8)
	pooled := g.Node("AveragePool", []string{x}, onnx.Ints("kernel_shape", 4, 4), onnx.Ints("strides", 4, 4))
	flat := g.Op("Reshape", pooled, g.Int64s(-1, 12))
	g.Output("y", g.Op("Log", g.Op("Sub", g.Float32s([]float32{1}, 1), flat)), onnx.Float32, onnx.Free, 12)
	spec := must.Get(json.Marshal(preprocess.Spec{
		Resize: preprocess.ResizeExact, Size: 8, Interpolation: preprocess.Bilinear, Std: [3]float64{1, 1, 1},
	}))(l)
	file := must.Get(g.Model("test", map[string]string{onnx.MetadataPreprocess: string(spec)}))(l)
	l.Write(l.Path("log.onnx"), file)
	return l.Path("log.onnx")
}

func whitePhoto(side int) []byte {
	img := image.NewGray(image.Rect(0, 0, side, side))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, nil); err != nil {
		panic(err) // into memory it cannot fail
	}
	return buf.Bytes()
}

// TestEmbeddingIsNotFinite: every command does with such a photo what it does
// with one that it cannot read, and the rest is done; again on a second run.
func TestEmbeddingIsNotFinite(t *testing.T) {
	l := commandtest.New(t)
	backbone := logBackbone(l)
	of := func(args ...string) []string { return append(args, "--backbone", backbone) }
	good := l.Photos(l.Path("good"), commandtest.SmallSide, 5, "kiwi", "lime", "plum")
	model := l.Path("good.model")
	l.Must(of("train", "--images", good, "--out", model)...)
	images := l.Photos(l.Path("images"), commandtest.SmallSide, 3, "kiwi", "lime", "plum")
	const bad = "lime/white.jpg"
	l.Write(filepath.Join(images, bad), whitePhoto(commandtest.SmallSide))
	errorsOf := map[string][]string{
		l.Path("features", "errors.csv"):   of("embed", "--images", images, "--out", l.Path("features")),
		l.Path("new.model.errors.csv"):     of("train", "--images", images, "--out", l.Path("new.model")),
		l.Path("learned.model.errors.csv"): of("learn", model, "--images", images, "--out", l.Path("learned.model")),
		l.Path("labels", "errors.csv"):     of("label", model, "--images", images, "--out", l.Path("labels")),
		l.Path("rank.csv.errors.csv"):      of("rank", model, "--images", images, "--out", l.Path("rank.csv")),
		l.Path("eval.json.errors.csv"):     of("eval", model, "--images", images, "--json", l.Path("eval.json")),
		l.Path("collected.stats.errors.csv"): of("stats", "collect", "--images", images, "--out",
			l.Path("collected.stats")),
	}
	for file, args := range errorsOf {
		for range 2 {
			l.Expect(command.ExitPartial, args...)
			if rows := l.Table(file); len(rows) != 2 || rows[1][0] != bad ||
				!strings.Contains(rows[1][1], "NaN or Inf") {
				t.Errorf("%q: %q", args, rows)
			}
		}
	}
	if rows := l.Table(l.Path("labels"), "labels.csv"); len(rows) != 10 {
		t.Errorf("%d rows of labels.csv, want a header and 9", len(rows))
	}
	l.Refused(command.ExitFailed, []string{bad, "NaN or Inf"},
		of("fscil", "--images", images, "--out", l.Path("fscil"), "--set", "fscil.protocol=few-shot", "--set",
			"fscil.base_classes=1", "--set", "fscil.ways=1", "--set", "fscil.shots=1")...)
	for _, args := range [][]string{of("embed", "--stdin"), of("label", model, "--stdin")} {
		cmd, stderr := l.Process(l.Path("cache"), append(args, "--images", images)...)
		cmd.Stdin = strings.NewReader("kiwi/000.jpg\n" + bad + "\nplum/000.jpg\n")
		stdout, _ := cmd.Output() // the exit code says how it ended
		answers := strings.Split(strings.TrimSpace(string(stdout)), "\n")
		if cmd.ProcessState.ExitCode() != command.ExitPartial || len(answers) != 3 ||
			!strings.Contains(answers[1], "NaN or Inf") || strings.Contains(answers[0]+answers[2], "error") {
			t.Errorf("%q: exit code %d, %q\n%s", args, cmd.ProcessState.ExitCode(), answers, stderr)
		}
	}
}
