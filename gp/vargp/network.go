package vargp

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A network is g_φ of appendix B.3, applied to inputs before the kernel: layers
// z = relu(W·x + b), the last without relu. Without layers it is the identity.
type network struct{ layers []layer }

// A layer is W (out×in) and b (1×out).
type layer struct{ w, b blas64.General }

// Bounds of a network.
const (
	maxWidth  = 1 << 12
	maxLayers = 8
)

// newNetwork draws W as in He et al. 2015 for layers before a ReLU, with half
// that variance for the last layer; b is 0.
func newNetwork(dim int, widths []int, seed uint64) network {
	var n network
	for i, width := range widths {
		rng := random.Stream(seed, "gp/vargp/network", i)
		l := layer{dense.New(width, dim), dense.New(1, width)}
		sd := math.Sqrt(2 / float64(dim))
		if i == len(widths)-1 {
			sd = math.Sqrt(1 / float64(dim))
		}
		for k := range l.w.Data {
			l.w.Data[k] = sd * rng.NormFloat64()
		}
		n.layers, dim = append(n.layers, l), width
	}
	return n
}

// Parameters returns the number of parameters of the network for inputs of dim
// values.
func (c Config) Parameters(dim int) (n int) {
	for _, width := range c.Network {
		n += width * (dim + 1)
		dim = width
	}
	return n
}

// parts returns the parameters, sharing memory with the network.
func (n network) parts() [][]float64 {
	var out [][]float64
	for _, l := range n.layers {
		out = append(out, l.w.Data, l.b.Data)
	}
	return out
}

func (n network) clone() network {
	var c network
	for _, l := range n.layers {
		c.layers = append(c.layers, layer{dense.Clone(l.w), dense.Clone(l.b)})
	}
	return c
}

// restore sets the parameters; p has the right length.
func (n network) restore(p []float64) error {
	if slices.ContainsFunc(p, func(v float64) bool { return v-v != 0 }) {
		return errors.New("the network holds a NaN or an infinity")
	}
	for _, part := range n.parts() {
		p = p[copy(part, p):]
	}
	return nil
}

// apply returns g_φ of the rows of x. Each row is independent of the others.
func (n network) apply(on linalg.Backend, x blas64.General) (blas64.General, error) {
	for i, l := range n.layers {
		y := dense.New(x.Rows, l.w.Rows)
		if err := on.MulTrans64(y, x, l.w); err != nil {
			return y, err
		}
		l.finish(y, i < len(n.layers)-1)
		x = y
	}
	return x, nil
}

// finish adds b to W·x and applies the relu, if any.
func (l layer) finish(y blas64.General, relu bool) {
	for i := range y.Rows {
		r := dense.Row(y, i)
		for j, b := range l.b.Data {
			if r[j] += b; relu {
				r[j] = max(r[j], 0)
			}
		}
	}
}

// inGraph is a network whose parameters have derivatives.
type inGraph struct {
	network
	w, b []*autodiff.Var
}

func (n network) inGraph() inGraph {
	o := inGraph{network: n}
	for _, l := range n.layers {
		o.w, o.b = append(o.w, autodiff.Variable(l.w)), append(o.b, autodiff.Variable(l.b))
	}
	return o
}

// of returns g_φ(x).
func (o inGraph) of(gr *autodiff.Graph, x *autodiff.Var) *autodiff.Var {
	for i := range o.layers {
		x = o.layer(gr, i, x)
	}
	return x
}

func (o inGraph) layer(gr *autodiff.Graph, i int, x *autodiff.Var) *autodiff.Var {
	relu, w, b := i < len(o.layers)-1, o.w[i], o.b[i]
	y := gr.Product(x.Value, blas.NoTrans, w.Value, blas.Trans)
	o.layers[i].finish(y, relu)
	return gr.Op(y, func(g blas64.General) {
		g = dense.Clone(g)
		for k, v := range y.Data {
			if relu && v == 0 {
				g.Data[k] = 0
			}
		}
		for r := range g.Rows {
			accumulate(b.Grad().Data, 1, dense.Row(g, r))
		}
		gr.AddProduct(w.Grad(), 1, g, blas.Trans, x.Value, blas.NoTrans)
		if x.Needs() {
			gr.AddProduct(x.Grad(), 1, g, blas.NoTrans, w.Value, blas.NoTrans)
		}
	}, x, w, b)
}

// A view holds the inputs of the kernel in a step, the same for every θ: the
// batch and the inducing inputs, passed through the network if there is one.
type view struct {
	gr  *autodiff.Graph
	net inGraph
	x   *autodiff.Var
	// of each group and block: inducing inputs, and the network's outputs for
	// them (the same if there is no network)
	inputs, z [][]*autodiff.Var
}

func (p *problem) view(x blas64.General) *view {
	v := &view{gr: p.m.graph(), net: p.m.net.inGraph()}
	v.x = v.net.of(v.gr, autodiff.Constant(x))
	for _, group := range p.m.groups {
		var inputs, z []*autodiff.Var
		for t, b := range group.blocks {
			in := autodiff.Constant(b.z)
			if t >= p.first {
				in = autodiff.Variable(b.z)
			}
			inputs, z = append(inputs, in), append(z, v.net.of(v.gr, in))
		}
		v.inputs, v.z = append(v.inputs, inputs), append(v.z, z)
	}
	return v
}

// again returns a separate variable with the same value.
func again(v *autodiff.Var) *autodiff.Var {
	if v.Needs() {
		return autodiff.Variable(v.Value)
	}
	return autodiff.Constant(v.Value)
}

// back propagates the mean derivatives of the samples through the network.
func (v *view) back(samples []sample) {
	w := 1 / float64(len(samples))
	add := func(to, from *autodiff.Var) {
		if to.Needs() {
			accumulate(to.Grad().Data, w, from.Grad().Data)
		}
	}
	for _, s := range samples {
		for g, share := range s.shares {
			add(v.x, share.x.Var)
			for t, l := range share.leaves {
				add(v.z[g][t], l.z)
			}
		}
	}
	v.gr.Backward(autodiff.Number(0)) // the derivatives of the outputs are already set
}

// appendTo writes the derivatives with respect to φ in the order of parts.
func (v *view) appendTo(p []float64) []float64 {
	for i := range v.net.layers {
		p = append(append(p, v.net.w[i].Grad().Data...), v.net.b[i].Grad().Data...)
	}
	return p
}
