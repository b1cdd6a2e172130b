package models_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/models"
)

// A golden is what testdata/efficientnet/make.py found about a network.
type golden struct {
	Folded   string
	Features []float32
}

func readGolden(t *testing.T, name string) (g golden) {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", "efficientnet", name)))(t)
	must.Do(t, json.Unmarshal(data, &g))
	return g
}

// convert runs the script's conversion of weights to the tiny network of make.py.
func convert(t *testing.T, weights string) (network []byte, err error) {
	t.Helper()
	python := testenv.Python(t, "numpy")
	out := filepath.Join(t.TempDir(), "tiny.onnx")
	const program = `import sys, pathlib, convert_efficientnet_lite as c
weights = c.state(pathlib.Path(sys.argv[1]).read_bytes())
pathlib.Path(sys.argv[2]).write_bytes(c.convert(weights, 0.09, 0.6, 48))`
	cmd := exec.Command(python, "-c", program, weights, out)
	cmd.Env = append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	if said, err := cmd.CombinedOutput(); err != nil {
		return said, err
	}
	network, err = os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return network, nil
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

// TestConvert: the folded kernels and biases of a converted network are those of make.py, bit
// for bit, and ONNX Runtime computes with it what PyTorch computes with the original one.
func TestConvert(t *testing.T) {
	network, err := convert(t, "testdata/efficientnet/tiny.pth")
	if err != nil {
		t.Fatalf("%v: %s", err, network)
	}
	want := readGolden(t, "tiny.json")
	const graph, initializer, raw, bounds = 7, 5, 9, 2 // the bounds of ReLU6 come first
	sum := sha256.New()
	for _, constant := range fields(fields(network, graph)[0], initializer)[bounds:] {
		sum.Write(fields(constant, raw)[0])
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.Folded {
		t.Errorf("SHA-256 of the folded weights %s, want %s", got, want.Folded)
	}
	compare(t, network, 48, want)
}

// TestPublished: the network of new models computes what PyTorch does with the published one.
func TestPublished(t *testing.T) {
	compare(t, models.EfficientNetLite0(), 224, readGolden(t, "lite0.json"))
}

func compare(t *testing.T, network []byte, side int, want golden) {
	t.Helper()
	e := must.Get(extractor.Open(orttest.Open(t), network, "network", extractor.DefaultConfig()))(t)
	defer e.Close()
	got := make([]float32, len(want.Features))
	pixels := make([]float32, 3*side*side)
	for i := range pixels { // the picture of make.py
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

// TestConvertRefuses: a pickle runs nothing, and other weights are not taken for the network's.
func TestConvertRefuses(t *testing.T) {
	tiny := must.Get(os.ReadFile("testdata/efficientnet/tiny.pth"))(t)
	for name, c := range map[string]struct{ weights, want string }{
		"a program": {"cposix\nsystem\n(X\x02\x00\x00\x00idtR.", "posix.system is not read"},
		"another":   {strings.ReplaceAll(string(tiny), "_bn1.bias", "_bn1.base"), "KeyError: '_blocks.0._bn1.bias'"},
		"cut":       {string(tiny[:len(tiny)/2]), "Error"},
	} {
		file := filepath.Join(t.TempDir(), "weights.pth")
		must.Do(t, os.WriteFile(file, []byte(c.weights), 0o644))
		if said, err := convert(t, file); err == nil || !strings.Contains(string(said), c.want) {
			t.Errorf("%s: %v, want %q: %s", name, err, c.want, said)
		}
	}
}
