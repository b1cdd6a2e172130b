package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// logBackbone writes a backbone whose embedding is log(1−x) of an 8×8 image in
// 0…1, averaged over 4×4 squares: infinite for a white one.
func (l *testbed) logBackbone() string {
	l.Helper()
	g := onnx.NewGraph("")
	x := g.Input("x", onnx.Float32, onnx.Free, 3, 8, 8)
	pooled := g.Node("AveragePool", []string{x}, onnx.Ints("kernel_shape", 4, 4), onnx.Ints("strides", 4, 4))
	flat := g.Op("Reshape", pooled, g.Int64s(-1, 12))
	g.Output("y", g.Op("Log", g.Op("Sub", g.Float32s([]float32{1}, 1), flat)), onnx.Float32, onnx.Free, 12)
	spec, err := json.Marshal(preprocess.Spec{
		Resize: preprocess.ResizeExact, Size: 8, Interpolation: preprocess.Bilinear, Std: [3]float64{1, 1, 1},
	})
	if err != nil {
		l.Fatal(err)
	}
	file, err := g.Model("test", map[string]string{onnx.MetadataPreprocess: string(spec)})
	if err != nil {
		l.Fatal(err)
	}
	l.write(l.path("log.onnx"), file)
	return l.path("log.onnx")
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
	l := newTestbed(t)
	backbone := l.logBackbone()
	of := func(args ...string) []string { return append(args, "--backbone", backbone) }
	good := l.photos(l.path("good"), smallSide, 5, "kiwi", "lime", "plum")
	model := l.path("good.model")
	l.must(of("train", "--images", good, "--out", model)...)
	images := l.photos(l.path("images"), smallSide, 3, "kiwi", "lime", "plum")
	const bad = "lime/white.jpg"
	l.write(filepath.Join(images, bad), whitePhoto(smallSide))
	errorsOf := map[string][]string{
		l.path("features", "errors.csv"):     of("embed", "--images", images, "--out", l.path("features")),
		l.path("new.model.errors.csv"):       of("train", "--images", images, "--out", l.path("new.model")),
		l.path("learned.model.errors.csv"):   of("learn", model, "--images", images, "--out", l.path("learned.model")),
		l.path("labels", "errors.csv"):       of("label", model, "--images", images, "--out", l.path("labels")),
		l.path("rank.csv.errors.csv"):        of("rank", model, "--images", images, "--out", l.path("rank.csv")),
		l.path("eval.json.errors.csv"):       of("eval", model, "--images", images, "--json", l.path("eval.json")),
		l.path("collected.stats.errors.csv"): of("stats", "collect", "--images", images, "--out", l.path("collected.stats")),
	}
	for file, args := range errorsOf {
		for range 2 {
			l.expect(exitPartial, args...)
			if rows := l.table(file); len(rows) != 2 || rows[1][0] != bad || !strings.Contains(rows[1][1], "NaN or Inf") {
				t.Errorf("%q: %q", args, rows)
			}
		}
	}
	if rows := l.table(l.path("labels"), "labels.csv"); len(rows) != 10 {
		t.Errorf("%d rows of labels.csv, want a header and 9", len(rows))
	}
	l.refused(exitFailed, []string{bad, "NaN or Inf"}, of("fscil", "--images", images, "--out", l.path("fscil"), "--set", "fscil.protocol=few-shot", "--set", "fscil.base_classes=1", "--set", "fscil.ways=1", "--set", "fscil.shots=1")...)
	for _, args := range [][]string{of("embed", "--stdin"), of("label", model, "--stdin")} {
		cmd, stderr := l.process(l.path("cache"), append(args, "--images", images)...)
		cmd.Stdin = strings.NewReader("kiwi/000.jpg\n" + bad + "\nplum/000.jpg\n")
		stdout, _ := cmd.Output() // the exit code says how it ended
		answers := strings.Split(strings.TrimSpace(string(stdout)), "\n")
		if cmd.ProcessState.ExitCode() != exitPartial || len(answers) != 3 || !strings.Contains(answers[1], "NaN or Inf") || strings.Contains(answers[0]+answers[2], "error") {
			t.Errorf("%q: exit code %d, %q\n%s", args, cmd.ProcessState.ExitCode(), answers, stderr)
		}
	}
}
