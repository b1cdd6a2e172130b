package commandtest

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// Side of the network's photos, and the length of an embedding.
const (
	networkSide = 84
	networkDim  = 64
)

// Network returns the file of the network that new models use.
func Network() string { return os.Getenv(small) }

// TrainedNetwork makes new models of a test use a network that was trained: it is sure of its answers, and takes
// long enough for a command to be caught at work. It comes before New.
func TrainedNetwork(t *testing.T) { t.Setenv(small, testenv.Small(t)) }

// network returns a network of two drawn convolutions, which takes a hundredth of the time of a
// trained one and tells the photos of this package apart.
func network() ([]byte, error) {
	rng := rand.New(rand.NewPCG(1, 3))
	g := onnx.NewGraph("t:")
	conv := func(in string, from, to, side, stride int) string {
		weights := make([]float32, to*from*side*side)
		for i := range weights {
			weights[i] = float32(4 * rng.NormFloat64() / math.Sqrt(float64(from*side*side)))
		}
		return g.Op("Tanh", g.Node("Conv", []string{in, g.Float32s(weights, to, from, side, side)},
			onnx.Ints("strides", int64(stride), int64(stride))))
	}
	photos := g.Input("input", onnx.Float32, onnx.Free, 3, networkSide, networkSide)
	last := conv(conv(photos, 3, 24, 6, 4), 24, networkDim, 5, 3)
	features := g.Op("Reshape", g.Op("GlobalAveragePool", last), g.Int64s(-1, networkDim))
	g.Output("features", features, onnx.Float32, onnx.Free, networkDim)
	return g.Model("commandtest", map[string]string{onnx.MetadataPreprocess: `{"resize": "shorter", "size": 84, ` +
		`"crop": 84, "interpolation": "bicubic", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], ` +
		`"orientation": true}`})
}
