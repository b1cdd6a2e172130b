package efficientnet

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/onnx"
	"github.com/seed-90d10d51/pipeline/internal/torchpickle"
)

// The first and the last convolution of all networks, and the groups of eight by which
// the number of channels grows.
const (
	stemChannels = 32
	headChannels = 1280
	channelGroup = 8
)

// A Network is a member of the family: the width and depth of Lite0 scaled.
type Network struct {
	width, depth float64
	side         int
}

// Lite returns the network of that number, 0, 1 or 2.
func Lite(number int) (Network, error) {
	networks := []Network{{1, 1, 224}, {1, 1.1, 240}, {1.1, 1.2, 260}}
	if number < 0 || number >= len(networks) {
		return Network{}, fmt.Errorf("there is no EfficientNet-Lite%d here: choose 0 to %d", number, len(networks)-1)
	}
	return networks[number], nil
}

// A stage is a run of blocks; only the first has the stride.
type stage struct{ blocks, kernel, stride, expansion, channels int }

// stages returns the stages of the network: those of Lite0, scaled. The number of blocks
// of the first and the last stage is fixed.
func (n Network) stages() []stage {
	stages := []stage{
		{1, 3, 1, 1, 16}, {2, 3, 2, 6, 24}, {2, 5, 2, 6, 40}, {3, 3, 2, 6, 80},
		{3, 5, 1, 6, 112}, {4, 5, 2, 6, 192}, {1, 3, 1, 6, 320},
	}
	for i := range stages {
		s := &stages[i]
		s.channels = n.channels(s.channels)
		if i > 0 && i < len(stages)-1 {
			s.blocks = int(math.Ceil(n.depth * float64(s.blocks)))
		}
	}
	return stages
}

// channels scales a number of channels to a multiple of channelGroup that is not more
// than a tenth smaller.
func (n Network) channels(base int) int {
	exact := n.width * float64(base)
	rounded := max(channelGroup, int(exact+channelGroup/2)/channelGroup*channelGroup)
	if float64(rounded) < 0.9*exact {
		rounded += channelGroup
	}
	return rounded
}

// Convert returns the network as an ONNX file. The weights are a file of PyTorch's legacy
// format.
func (n Network) Convert(weights []byte) ([]byte, error) {
	file, err := torchpickle.Read(weights)
	if err != nil {
		return nil, err
	}
	g := onnx.NewGraph("")
	b := &builder{graph: g, weights: file, side: n.side}
	b.zero, b.six = g.Float32s([]float32{0}), g.Float32s([]float32{6})
	x := g.Input("pixels", onnx.Float32, onnx.Free, 3, int64(n.side), int64(n.side))
	x = b.relu6(b.convolve(x, "_conv_stem", "_bn0", convolution{3, stemChannels, 3, 2, false}))
	in, number := stemChannels, 0
	for _, s := range n.stages() {
		for i := range s.blocks {
			if i > 0 {
				s.stride = 1
			}
			x = b.block(x, fmt.Sprintf("_blocks.%d.", number), in, s)
			in, number = s.channels, number+1
		}
	}
	x = b.relu6(b.convolve(x, "_conv_head", "_bn1", convolution{in, headChannels, 1, 1, false}))
	if b.err != nil {
		return nil, b.err
	}
	g.Output("features", g.Op("Flatten", g.Op("GlobalAveragePool", x)), onnx.Float32, onnx.Free, headChannels)
	return g.Model("pipeline", nil)
}
