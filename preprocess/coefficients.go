package preprocess

import "math"

// precisionBits is Pillow's PRECISION_BITS: 32 − 8 for the pixel − 2 for the
// overshoot of negative lobes.
const precisionBits = 32 - 8 - 2

// A filter is an interpolation kernel and half its width, at scale one.
type filter struct {
	support float64
	at      func(x float64) float64
}

func filterOf(interpolation string) filter {
	if interpolation == Bilinear {
		return filter{support: 1, at: triangle}
	}
	return filter{support: 2, at: cubic}
}

// cubic is Keys' kernel with a = −0.5. The conversions to float64 prevent fused
// multiply-add, which would differ from Pillow in the last bit.
func cubic(x float64) float64 {
	const a = -0.5
	x = math.Abs(x)
	switch {
	case x < 1:
		return float64(float64((float64((a+2)*x)-(a+3))*x)*x) + 1
	case x < 2:
		return (float64((float64((x-5)*x)+8)*x) - 4) * a
	}
	return 0
}

func triangle(x float64) float64 {
	x = math.Abs(x)
	if x < 1 {
		return 1 - x
	}
	return 0
}

// taps are the input samples and weights of a run of output samples along one
// axis.
type taps struct {
	size   int     // weights allocated per output sample
	start  []int   // first input sample of each output sample
	count  []int   // number of input samples
	weight []int64 // fixed point, precisionBits; size of them per output sample
	real   []float64
}

// span returns the range of input samples that are needed.
func (t *taps) span() (lo, hi int) {
	last := len(t.start) - 1
	return t.start[0], t.start[last] + t.count[last]
}

// of returns the first input sample and the weights of output sample i.
func (t *taps) of(i int) (start int, weight []int64) {
	return t.start[i], t.weight[i*t.size : i*t.size+t.count[i]]
}

// inOrder reports whether every output sample has taps, all of them in the span.
func (t *taps) inOrder() bool {
	lo, hi := t.span()
	for i, first := range t.start {
		if first < lo || t.count[i] < 1 || t.count[i] > t.size || first+t.count[i] > hi {
			return false
		}
	}
	return true
}

// compute fills t for output samples lo ≤ i < lo+n of an axis that is resized
// from a part of in samples to out samples: precompute_coeffs and
// normalize_coeffs_8bpc of Pillow's Resample.c, which treat every output sample
// independently.
func (t *taps) compute(f filter, in int, part extent, out, lo, n int) {
	if part.length == 0 {
		part.length = float64(in)
	}
	scale := part.length / float64(out)
	filterScale := math.Max(scale, 1)
	inverse := 1 / filterScale
	support := f.support * filterScale
	t.size = int(math.Ceil(support))*2 + 1
	t.start, t.count = grow(t.start, n), grow(t.count, n)
	t.weight, t.real = grow(t.weight, n*t.size), grow(t.real, t.size)
	for i := range n {
		center := part.start + float64((float64(lo+i)+0.5)*scale)
		first := max(0, int(center-support+0.5))
		count := min(in, int(center+support+0.5)) - first
		t.start[i], t.count[i] = first, count
		sum := 0.0
		for j := range count {
			w := f.at(float64((float64(first+j) - center + 0.5) * inverse))
			t.real[j] = w
			sum += w
		}
		fixedPoint(t.weight[i*t.size:], t.real[:count], sum)
	}
}

// fixedPoint normalises weights and rounds them half away from zero.
func fixedPoint(dst []int64, weight []float64, sum float64) {
	for j, w := range weight {
		if sum != 0 {
			w /= sum
		}
		dst[j] = int64(math.Copysign(0.5, w) + float64(w*(1<<precisionBits)))
	}
}
