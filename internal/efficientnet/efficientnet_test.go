package efficientnet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/models"
)

// tiny is the network of testdata/make.py.
var tiny = Network{width: 0.09, depth: 0.6, side: 48}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A golden is what testdata/make.py found about a network.
type golden struct {
	Folded   string
	Features []float32
}

func readGolden(t *testing.T, name string) (g golden) {
	t.Helper()
	if err := json.Unmarshal(read(t, name), &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// convert returns the tiny network.
func convert(t *testing.T) []byte {
	t.Helper()
	converted, err := tiny.Convert(read(t, "tiny.pth"))
	if err != nil {
		t.Fatal(err)
	}
	return converted
}

// fields returns the fields of a message with that number.
func fields(message []byte, number protowire.Number) (found [][]byte) {
	for len(message) > 0 {
		id, kind, n := protowire.ConsumeTag(message)
		size := protowire.ConsumeFieldValue(id, kind, message[n:])
		if value, length := protowire.ConsumeBytes(message[n:]); id == number && kind == protowire.BytesType &&
			length > 0 {
			found = append(found, value)
		}
		message = message[n+size:]
	}
	return found
}

// TestFold: the folded kernels and biases are those of NumPy, bit for bit.
func TestFold(t *testing.T) {
	converted, want := convert(t), readGolden(t, "tiny.json")
	const graph, initializer, raw, bounds = 7, 5, 9, 2 // the bounds of ReLU6 come first
	sum := sha256.New()
	for _, constant := range fields(fields(converted, graph)[0], initializer)[bounds:] {
		sum.Write(fields(constant, raw)[0])
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.Folded {
		t.Errorf("SHA-256 of the folded weights %s, want %s", got, want.Folded)
	}
}

// TestFeatures: ONNX Runtime computes with the converted network what PyTorch computes
// with the original one.
func TestFeatures(t *testing.T) {
	compare(t, convert(t), tiny.side, readGolden(t, "tiny.json"))
}

// TestPublished: so it does with the published network.
func TestPublished(t *testing.T) {
	compare(t, models.EfficientNetLite0(), 224, readGolden(t, "lite0.json"))
}

func compare(t *testing.T, network []byte, side int, want golden) {
	t.Helper()
	e, err := extractor.Open(orttest.Open(t), network, "network", extractor.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got := make([]float32, headChannels)
	pixels := make([]float32, 3*side*side)
	for i := range pixels { // the picture of testdata/make.py
		pixels[i] = float32(uint32(i)*2654435761>>8)/(1<<23) - 1
	}
	dst := blas32.General{Rows: 1, Cols: len(got), Stride: len(got), Data: got}
	if err := e.Extract(dst, pixels); err != nil || e.Side() != side {
		t.Fatal(err, e.Side())
	}
	for i, w := range want.Features {
		if d := math.Abs(float64(got[i] - w)); d > 2e-5 {
			t.Fatalf("feature %d is %v, PyTorch has %v", i, got[i], w)
		}
	}
}

// TestRefused: weights that are not those of the network are refused with what is wrong.
func TestRefused(t *testing.T) {
	weights := read(t, "tiny.pth")
	lite0, err := Lite(0)
	if err != nil {
		t.Fatal(err)
	}
	notFinite := bytes.Clone(weights) // the last numbers are of one of the storages
	copy(notFinite[len(notFinite)-16:], bytes.Repeat([]byte("\x00\x00\xc0\x7f"), 4))
	for name, c := range map[string]struct {
		network Network
		weights []byte
		want    string
	}{
		"other network": {lite0, weights, `"_blocks.0._project_conv.weight" has the shape`},
		"cut":           {tiny, weights[:len(weights)-1], "ends too early"},
		"renamed": {tiny, bytes.ReplaceAll(weights, []byte("_bn1.bias"), []byte("_bn1.base")),
			`no tensor "_blocks.0.`},
		"not a number": {tiny, notFinite, "not all finite"},
	} {
		if _, err := c.network.Convert(c.weights); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Lite(3); err == nil {
		t.Error("a network that is not there")
	}
}
