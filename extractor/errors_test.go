package extractor

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// TestOpenErrors: each error names the file and what to do.
func TestOpenErrors(t *testing.T) {
	cases := []struct {
		model  string
		change func(*Config)
		says   string
	}{
		{"two", nil, "set extractor.output to one of them"},
		{"two", output("c"), "a float32[?,4], b float32[?,4]"},
		{"two", output(Penultimate), "not from a linear layer"},
		{"two_inputs", nil, "export the image encoder alone"},
		{"grey", nil, "no axis of size 3"},
		{"oblong", nil, "4×8, but only square"},
		{"any_axis", nil, "set extractor.layout"},
		{"any_axis", all(layout(LayoutNHWC), side(4), output("input")), "computes no tensor"},
		{"nchw", layout(LayoutNHWC), "correct extractor.layout"},
		{"nhwc", layout(LayoutNCHW), "correct extractor.layout"},
		{"nchw", input("pixels"), "correct extractor.input"},
		{"nchw", side(8), "takes 4 pixels a side, but 8 are given"},
		{"batch4", batch(2), "set it to 0 or 4"},
		{"tokens", token(16), "16 tokens, 0…15"},
		{"external", nil, "save_as_external_data=False"},
		{"future", nil, "lower opset"},
		{"no_operator", nil, "standard operators"},
		{"nchw", provider("abacus"), "extractor.provider \"abacus\": not one of"},
		{"nchw", layout("chwn"), "extractor.layout \"chwn\": not one of"},
		{"nchw", pool("median"), "extractor.pool \"median\": not one of"},
		{"nchw", token(-1), "extractor.token -1"},
		{"nchw", all(token(1), pool(PoolMean)), "only pool auto picks a token"},
		{"nchw", batch(5000), "extractor.batch 5000"},
		{"nchw", side(-4), "extractor.side -4"},
	}
	for _, c := range cases {
		e, err := tryTiny(t, c.model, c.change)
		if err == nil {
			t.Errorf("%s opens, want %q", c.model, c.says)
			_ = e.Close()
			continue
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.model, err, c.says)
		}
		configError := strings.HasPrefix(err.Error(), "extractor.")
		if !configError && !strings.Contains(err.Error(), c.model+".onnx") {
			t.Errorf("%s: the file is not named: %v", c.model, err)
		}
	}
}

func TestOpenWrongBytes(t *testing.T) {
	rt := orttest.Open(t)
	whole := modelBytes(t, "nchw")
	for name, b := range map[string][]byte{"empty": nil, "photo": []byte("\xff\xd8\xff\xe0JFIF"),
		"cut": whole[:len(whole)-20]} {
		if _, err := Open(rt, b, "x.onnx", DefaultConfig()); !errors.Is(err, onnx.ErrNotONNX) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(nil, whole, "x.onnx", DefaultConfig()); !errors.Is(err, ort.ErrNoLibrary) ||
		!strings.Contains(err.Error(), "pipeline setup") {
		t.Errorf("no library: %v", err)
	}
}

func TestExtractChecksShapes(t *testing.T) {
	e := openTiny(t, "batch4", nil)
	free := openTiny(t, "free_side", nil)
	cases := []struct {
		e      *Extractor
		dst    blas32.General
		pixels int
		says   string
	}{
		{e, newMatrix(0, 4), 0, "not in 1…4"},
		{e, newMatrix(5, 4), 5 * 48, "not in 1…4"},
		{e, newMatrix(1, 3), 48, "not 1×4"},
		{e, blas32.General{Rows: 2, Cols: 4, Stride: 4, Data: make([]float32, 7)}, 96, "not 2×4"},
		{e, blas32.General{Rows: 2, Cols: 4, Stride: 3, Data: make([]float32, 8)}, 96, "not 2×4"},
		{e, newMatrix(2, 4), 48, "expected 2×3×4×4 = 96"},
		{e, newMatrix(1, 4), 3 * 8 * 8, "photos of side 8, but the model takes side 4"},
		{e, newMatrix(1, 4), 0, "expected 1×3×4×4"},
		{free, newMatrix(1, 4), 50, "not 1 square photos"},
		{free, newMatrix(1, 4), 0, "not 1 square photos"},
	}
	for _, c := range cases {
		err := c.e.Extract(c.dst, make([]float32, c.pixels))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), ".onnx") {
			t.Errorf("%d×%d, %d pixels: %v, want %q", c.dst.Rows, c.dst.Cols, c.pixels, err, c.says)
		}
	}
}

// TestSideThatChangesTheDimension: a flattened map is longer for larger photos.
func TestSideThatChangesTheDimension(t *testing.T) {
	e := openTiny(t, "free_side", all(output("map"), pool(PoolNone)))
	err := e.Extract(newMatrix(1, e.Dim()), rampPhoto(4, 1))
	if err == nil || !strings.Contains(err.Error(), "set extractor.pool to mean, or extractor.side") {
		t.Error(err)
	}
}

// TestNonFinite: the bad row is named, the others are right.
func TestNonFinite(t *testing.T) {
	e := openTiny(t, "log", batch(3)) // log of the colours' means
	pixels := make([]float32, 3*48)
	for i := range pixels {
		pixels[i] = 1
	}
	pixels[48] = -100
	dst := newMatrix(3, 3)
	err := e.Extract(dst, pixels)
	var bad *NonFiniteError
	if !errors.As(err, &bad) || bad.Row != 1 || !strings.Contains(err.Error(), "log.onnx") {
		t.Errorf("%v", err)
	}
	for _, i := range []int{0, 1, 2, 6, 7, 8} {
		if dst.Data[i] != 0 {
			t.Errorf("value %d of the good rows: %v", i, dst.Data[i])
		}
	}
	nan := newMatrix(1, 4)
	inputNaN := rampPhoto(4, float32(math.NaN()))
	if err := openTiny(t, "map", pool(PoolMax)).Extract(nan, inputNaN); !errors.As(err, &bad) {
		t.Errorf("NaN through the maximum: %v", err)
	}
}

func TestClose(t *testing.T) {
	e := must.Get(tryTiny(t, "nchw", nil))(t)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := e.Extract(newMatrix(1, 4), rampPhoto(4, 1)); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

// TestFingerprint: every setting that changes values changes it, and nothing
// else does.
func TestFingerprint(t *testing.T) {
	base := openTiny(t, "tokens", nil).Fingerprint()
	if len(base) != 64 {
		t.Errorf("%q is not a hex SHA-256", base)
	}
	seen := map[string]string{base: "default"}
	for name, change := range map[string]func(*Config){
		"token": token(3), "pool": pool(PoolMean), "pool none": pool(PoolNone), "batch": batch(2),
		"output": output("columns"),
	} {
		f := openTiny(t, "tokens", change).Fingerprint()
		if seen[f] != "" {
			t.Errorf("%s has the fingerprint of %s", name, seen[f])
		}
		seen[f] = name
	}
	if f := openTiny(t, "map", nil).Fingerprint(); seen[f] != "" {
		t.Error("another model has the same fingerprint")
	}
	for name, change := range map[string]func(*Config){
		"nothing": nil, "output by name": output("tokens"), "input by name": input("input"),
		"layout": layout(LayoutNCHW), "batch": batch(1), "side": side(4),
	} {
		if f := openTiny(t, "tokens", change).Fingerprint(); f != base {
			t.Errorf("%s: changes the fingerprint but no value", name)
		}
	}
}
