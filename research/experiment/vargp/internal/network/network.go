package network

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Network is a perceptron.
type Network struct {
	// Sizes are the numbers of inputs, of hidden units and of classes.
	Sizes []int `json:"sizes"`
	// Mean are the weights, LogVar their log-variances; nil for point weights.
	Mean   []float64 `json:"mean"`
	LogVar []float64 `json:"log_var,omitempty"`
}

// firstLogVar is the log-variance of weights before training, as in Nguyen et al.
const firstLogVar = -6

// New draws weights as in He et al. 2015; drawn says whether they have variances.
func New(sizes []int, drawn bool, rng *rand.Rand) *Network {
	n := &Network{Sizes: slices.Clone(sizes)}
	for i := range len(sizes) - 1 {
		sd := math.Sqrt(2 / float64(sizes[i]))
		for range sizes[i] * sizes[i+1] {
			n.Mean = append(n.Mean, sd*rng.NormFloat64())
		}
		n.Mean = append(n.Mean, make([]float64, sizes[i+1])...)
	}
	if drawn {
		n.LogVar = slices.Repeat([]float64{firstLogVar}, len(n.Mean))
	}
	return n
}

// Clone returns a copy.
func (n *Network) Clone() *Network {
	return &Network{slices.Clone(n.Sizes), slices.Clone(n.Mean), slices.Clone(n.LogVar)}
}

// A layer is a part of a vector of weights.
type layer struct {
	w blas64.General // in×out
	b []float64
}

// layers returns the layers of a vector, sharing its memory.
func (n *Network) layers(v []float64) []layer {
	var out []layer
	for i := range len(n.Sizes) - 1 {
		rows, cols := n.Sizes[i], n.Sizes[i+1]
		out = append(out, layer{blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: v[:rows*cols]},
			v[rows*cols : rows*cols+cols]})
		v = v[rows*cols+cols:]
	}
	return out
}

// affine returns x·w + b.
func (l layer) affine(x blas64.General) blas64.General {
	z := dense.New(x.Rows, l.w.Cols)
	for i := range z.Rows {
		copy(dense.Row(z, i), l.b)
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, x, l.w, 1, z)
	return z
}

// mapped returns f of every element.
func mapped(x blas64.General, f func(float64) float64) blas64.General {
	y := dense.New(x.Rows, x.Cols)
	for i := range x.Rows {
		to := dense.Row(y, i)
		for j, v := range dense.Row(x, i) {
			to[j] = f(v)
		}
	}
	return y
}

func squared(x blas64.General) blas64.General {
	return mapped(x, func(v float64) float64 { return v * v })
}

func exps(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Exp(x)
	}
	return out
}

// A pass is a computation of the logits, with what its derivatives need: the inputs of
// each layer, and with variances the draws ε and the standard deviations of activations.
type pass struct {
	x, eps, sd []blas64.General
	vars       []float64 // e^LogVar
	logits     blas64.General
}

// forward computes the logits of x, with new draws from rng if weights have variances.
func (n *Network) forward(x blas64.General, rng *rand.Rand) pass {
	p := pass{vars: exps(n.LogVar)}
	var spreads []layer
	if n.LogVar != nil {
		spreads = n.layers(p.vars)
	}
	last := len(n.Sizes) - 2
	for i, l := range n.layers(n.Mean) {
		p.x = append(p.x, x)
		z := l.affine(x)
		if spreads != nil {
			sd := mapped(spreads[i].affine(squared(x)), math.Sqrt)
			eps := mapped(z, func(float64) float64 { return rng.NormFloat64() })
			for k, s := range sd.Data {
				z.Data[k] += s * eps.Data[k]
			}
			p.sd, p.eps = append(p.sd, sd), append(p.eps, eps)
		}
		if x = z; i < last {
			x = mapped(z, func(v float64) float64 { return max(v, 0) })
		}
	}
	p.logits = x
	return p
}

// A gradient holds the derivatives of Mean and LogVar.
type gradient struct{ mean, logVar []float64 }

// eachLayer calls do from the last layer to the first with the derivative of a loss with
// respect to the layer's outputs, given that with respect to the logits.
func (n *Network) eachLayer(p pass, d blas64.General, do func(layer int, d blas64.General)) {
	means := n.layers(n.Mean)
	for i := len(means) - 1; i >= 0; i-- {
		do(i, d)
		if i == 0 {
			return
		}
		x := p.x[i]
		dx := dense.New(x.Rows, x.Cols)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, d, means[i].w, 0, dx)
		if n.LogVar != nil {
			through := dense.New(x.Rows, x.Cols)
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, p.toVariance(i, d), n.layers(p.vars)[i].w, 0, through)
			for k, v := range x.Data {
				dx.Data[k] += 2 * v * through.Data[k]
			}
		}
		for k, v := range x.Data {
			if v <= 0 {
				dx.Data[k] = 0
			}
		}
		d = dx
	}
}

// toVariance returns the derivative with respect to the variances of a layer's outputs.
func (p pass) toVariance(layer int, d blas64.General) blas64.General {
	out := dense.New(d.Rows, d.Cols)
	for k, v := range d.Data {
		out.Data[k] = v * p.eps[layer].Data[k] / (2 * p.sd[layer].Data[k])
	}
	return out
}

// addTo adds xᵀ·d and the column sums of d to a layer.
func (l layer) addTo(x, d blas64.General) {
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, x, d, 1, l.w)
	for i := range d.Rows {
		for j, v := range dense.Row(d, i) {
			l.b[j] += v
		}
	}
}

// backward returns the derivatives of a loss, given those with respect to the logits.
func (n *Network) backward(p pass, d blas64.General) gradient {
	g := gradient{mean: make([]float64, len(n.Mean))}
	means := n.layers(g.mean)
	var spreads []layer
	if n.LogVar != nil {
		g.logVar = make([]float64, len(n.LogVar))
		spreads = n.layers(g.logVar)
	}
	n.eachLayer(p, d, func(i int, d blas64.General) {
		means[i].addTo(p.x[i], d)
		if spreads != nil {
			spreads[i].addTo(squared(p.x[i]), p.toVariance(i, d))
		}
	})
	for k := range g.logVar {
		g.logVar[k] *= p.vars[k] // chain rule through e^LogVar
	}
	return g
}

// fisher adds the diagonal of the Fisher information of point weights at x, with
// labels drawn from the network's own probabilities, to sum.
func (n *Network) fisher(sum []float64, x blas64.General, rng *rand.Rand) {
	p := n.forward(x, rng)
	d := p.logits
	for i := range d.Rows {
		row := dense.Row(d, i)
		softmax(row)
		row[drawn(row, rng)]--
	}
	layers := n.layers(sum)
	n.eachLayer(p, d, func(i int, d blas64.General) { layers[i].addTo(squared(p.x[i]), squared(d)) })
}

// drawn draws an index by probabilities.
func drawn(p []float64, rng *rand.Rand) int {
	u := rng.Float64()
	for k, v := range p {
		if u -= v; u < 0 {
			return k
		}
	}
	return len(p) - 1
}

// softmax replaces logits by probabilities and returns the logarithm of the sum of
// their exponentials.
func softmax(row []float64) float64 {
	most, sum := slices.Max(row), 0.0
	for k, v := range row {
		row[k] = math.Exp(v - most)
		sum += row[k]
	}
	for k := range row {
		row[k] /= sum
	}
	return most + math.Log(sum)
}

// LogProb writes the logarithm of the mean softmax of the given number of draws (one for
// point weights) of the rows of x into dst.
func (n *Network) LogProb(dst, x blas64.General, draws int, rng *rand.Rand) {
	if n.LogVar == nil {
		draws = 1
	}
	clear(dst.Data)
	for range draws {
		p := n.forward(x, rng).logits
		for i := range p.Rows {
			row := dense.Row(p, i)
			softmax(row)
			for k, v := range row {
				dense.Row(dst, i)[k] += v / float64(draws)
			}
		}
	}
	for k, v := range dst.Data {
		dst.Data[k] = math.Log(max(v, leastProb))
	}
}

// leastProb keeps logarithms finite.
const leastProb = 1e-300
