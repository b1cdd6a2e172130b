package efficientnet

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/onnx"
	"github.com/seed-90d10d51/pipeline/internal/torchpickle"
)

// normEpsilon is added to the variances of batch normalisation.
const normEpsilon = 1e-3

// A builder writes the graph from front to back; err keeps the first error.
type builder struct {
	graph   *onnx.Graph
	weights *torchpickle.File
	// side is that of the map that was written last.
	side      int
	zero, six string
	err       error
}

// A convolution is one of square kernels. A depthwise one has a kernel per channel.
type convolution struct {
	in, out, kernel, stride int
	depthwise               bool
}

// block writes an inverted residual block: it expands the channels, convolves each,
// reduces them, and adds its input where the shape allows it.
func (b *builder) block(x, name string, in int, s stage) string {
	input, wide := x, in*s.expansion
	if s.expansion > 1 {
		x = b.relu6(b.convolve(x, name+"_expand_conv", name+"_bn0", convolution{in, wide, 1, 1, false}))
	}
	x = b.relu6(b.convolve(x, name+"_depthwise_conv", name+"_bn1", convolution{wide, wide, s.kernel, s.stride, true}))
	x = b.convolve(x, name+"_project_conv", name+"_bn2", convolution{wide, s.channels, 1, 1, false})
	if s.stride == 1 && in == s.channels {
		x = b.graph.Op("Add", x, input)
	}
	return x
}

func (b *builder) relu6(x string) string { return b.graph.Op("Clip", x, b.zero, b.six) }

// convolve writes a convolution with its batch normalisation.
func (b *builder) convolve(x, layer, norm string, c convolution) string {
	shape, groups := []int{c.out, c.in, c.kernel, c.kernel}, 1
	if c.depthwise {
		shape[1], groups = 1, c.in
	}
	kernels, bias := b.fold(layer, norm, shape)
	before, after := b.pad(c)
	return b.graph.Node("Conv", []string{x, b.graph.Float32s(kernels, shape...), b.graph.Float32s(bias, c.out)},
		onnx.Ints("kernel_shape", int64(c.kernel), int64(c.kernel)),
		onnx.Ints("strides", int64(c.stride), int64(c.stride)),
		onnx.Ints("pads", before, before, after, after),
		onnx.Int("group", int64(groups)))
}

// pad returns the padding of TensorFlow's SAME on the near and the far sides of the map,
// and goes on to the map that follows.
func (b *builder) pad(c convolution) (before, after int64) {
	next := (b.side + c.stride - 1) / c.stride
	both := max((next-1)*c.stride+c.kernel-b.side, 0)
	b.side = next
	return int64(both / 2), int64(both - both/2)
}

// fold returns the kernels and the bias of a convolution that is followed by batch
// normalisation. No product may be fused with a sum: the bits would depend on the processor.
func (b *builder) fold(layer, norm string, shape []int) (kernels, bias []float32) {
	out := shape[0]
	kernels = b.read(layer+".weight", shape...)
	gamma, beta := b.read(norm+".weight", out), b.read(norm+".bias", out)
	mean, variance := b.read(norm+".running_mean", out), b.read(norm+".running_var", out)
	if b.err != nil {
		return nil, nil
	}
	bias = make([]float32, out)
	per := len(kernels) / out
	for i := range out {
		scale := float64(gamma[i]) / math.Sqrt(float64(variance[i])+normEpsilon)
		shift := float64(float64(mean[i]) * scale)
		bias[i] = float32(float64(beta[i]) - shift)
		for j := i * per; j < (i+1)*per; j++ {
			kernels[j] = float32(float64(kernels[j]) * scale)
		}
	}
	if !finite(kernels) || !finite(bias) {
		b.err = fmt.Errorf("the weights of %s are not all finite numbers", layer)
	}
	return kernels, bias
}

// read returns the numbers of a tensor, which must have this shape.
func (b *builder) read(name string, shape ...int) []float32 {
	if b.err != nil {
		return nil
	}
	t, err := b.weights.Tensor(name)
	if err != nil {
		b.err = err
		return nil
	}
	if got := t.Shape(); !slices.Equal(got, shape) {
		b.err = fmt.Errorf("tensor %q has the shape %d, not %d", name, got, shape)
		return nil
	}
	values, err := t.Float32s()
	if err != nil {
		b.err = fmt.Errorf("tensor %q: %w", name, err)
	}
	return values
}

func finite(values []float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool {
		return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)
	})
}
