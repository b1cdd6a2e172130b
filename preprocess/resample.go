package preprocess

import (
	"encoding/binary"
	"math"
)

// half is one half in fixed point, for rounding, in both lanes.
const half = 1<<(precisionBits-1) | 1<<(precisionBits-1+32)

// wordBytes is the size of a filtered sample: pairs of them are read back as
// one uint64 with two lanes.
const wordBytes = 4

// groupSamples is how many samples the vertical pass handles at once.
const groupSamples = 8

// A resampler repeats Pillow's 8-bit ImagingResample: a pass along each axis,
// rounded to bytes in between. It computes only the rows and columns that the
// crop keeps, and stores only the rows that the next output row needs.
//
// Both passes use vector instructions where there are any. Elsewhere two samples
// share one 64-bit multiplication: (a + b·2³²)·w = a·w + (b·w)·2³², and since every
// signed sum fits 32 bits, lanes can separate the two. The horizontal pass pairs two
// rows, the vertical one two neighbours. The results are the same.
type resampler struct {
	across, down taps
	portable     bool      // use no vector instructions, as on processors without them; for tests
	vectors      bool      // use them if the processor has them
	rgb          [2][]byte // two input rows
	paired       []uint64  // the same, interleaved: lane 0 is the upper row
	ring         []byte    // input of the vertical pass, wordBytes per sample
	ringRows     int
	rowBytes     int
	offset       []int  // where the rows of one output row's taps begin in ring
	out          []byte // output of the vertical pass, one row
	filtered     [2][]byte
}

// run resizes src to g.width×g.height and calls emit with each row, packed
// RGB, of the window that g keeps.
func (r *resampler) run(src raster, f filter, g geometry, emit func(y int, rgb []byte)) {
	w, h := src.size()
	r.across.compute(f, w, g.across, g.width, g.left, g.side)
	r.down.compute(f, h, g.down, g.height, g.top, g.side)
	r.vectors = !r.portable && r.across.inOrder() && r.down.inOrder()
	if g.verticalFirst(w, h) {
		r.verticalFirst(src, g.side, emit)
	} else {
		r.horizontalFirst(src, g.side, emit)
	}
}

func (r *resampler) horizontalFirst(src raster, side int, emit func(y int, rgb []byte)) {
	r.prepare(3 * side)
	next, rows := r.down.span()
	for y := range side {
		start, weight := r.down.of(y)
		for next < min(start+len(weight), rows) {
			r.filterPair(src, next, rows)
			next += 2
		}
		r.combine(start, weight)
		emit(y, r.out[:3*side])
	}
}

// verticalFirst resizes tall pictures; see geometry.verticalFirst.
func (r *resampler) verticalFirst(src raster, side int, emit func(y int, rgb []byte)) {
	lo, hi := r.across.span()
	r.prepare(3 * (hi - lo))
	for i := range r.filtered {
		r.filtered[i] = grow(r.filtered[i], (3*side+1)*wordBytes)
	}
	next, _ := r.down.span()
	for y := range side {
		start, weight := r.down.of(y)
		for ; next < start+len(weight); next++ {
			src.row(r.rgb[0], next, lo, hi)
			widen(r.ringRow(next), r.rgb[0])
		}
		r.combine(start, weight)
		r.filter(r.filtered[0], r.filtered[1], r.out, r.out)
		emit(y, narrow(r.filtered[0][:3*side*wordBytes]))
	}
}

// bytes bounds what a resampler allocates for a resize of w×h pixels, or of a
// part of them, to g.
func (g geometry) bytes(f filter, w, h int) int64 {
	across, spanX := f.reach(w, g.width, g.side)
	down, _ := f.reach(h, g.height, g.side)
	row := int64(3*max(g.side, spanX) + groupSamples)
	const perTap, perSpan = 8, 2 + 8                     // weights; two rows and both in lanes
	return int64(g.side+1)*perTap*int64(across+down+2) + // taps
		int64(down+2)*(row*wordBytes+8) + row + // the ring and one row
		3*perSpan*int64(spanX) + 2*wordBytes*int64(3*g.side+1)
}

// reach returns the taps of one output sample, and the most input samples that
// n neighbouring ones need, when in samples are resized to out.
func (f filter) reach(in, out, n int) (size, span int) {
	scale := float64(in) / float64(out)
	support := f.support * math.Max(scale, 1)
	return int(math.Ceil(support))*2 + 1, min(in, int(math.Ceil(float64(n)*scale+2*support))+2)
}

// prepare allocates the rows between the passes, of the given number of
// samples. Rows have room for another sample, because vectors handle four at once.
func (r *resampler) prepare(samples int) {
	samples = (samples + groupSamples) / groupSamples * groupSamples
	r.rowBytes = samples * wordBytes
	r.ringRows = r.down.size + 2
	r.ring = grow(r.ring, r.ringRows*r.rowBytes)
	r.offset = grow(r.offset, r.down.size)
	r.out = grow(r.out, samples)
	lo, hi := r.across.span()
	for i := range r.rgb {
		r.rgb[i] = grow(r.rgb[i], 3*(hi-lo)+1)[:3*(hi-lo)]
	}
}

// widen turns bytes into words, narrow words into bytes, in place.
func widen(words, bytes []byte) {
	for i, b := range bytes {
		binary.LittleEndian.PutUint32(words[wordBytes*i:], uint32(b))
	}
}

func narrow(words []byte) []byte {
	n := len(words) / wordBytes
	for i := range n {
		words[i] = words[wordBytes*i]
	}
	return words[:n]
}

// filterPair runs the horizontal pass over rows y and y+1 of src. A last odd
// row is paired with itself.
func (r *resampler) filterPair(src raster, y, rows int) {
	lo, hi := r.across.span()
	upper, lower := r.rgb[0], r.rgb[1]
	src.row(upper, y, lo, hi)
	if y+1 < rows {
		src.row(lower, y+1, lo, hi)
	} else {
		copy(lower, upper)
	}
	r.filter(r.ringRow(y), r.ringRow(y+1), upper, lower)
}

func (r *resampler) ringRow(y int) []byte {
	at := y % r.ringRows * r.rowBytes
	return r.ring[at : at+r.rowBytes]
}

func pair(dst []uint64, upper, lower []byte) {
	upper, lower = upper[:len(dst)], lower[:len(dst)]
	for i := range dst {
		dst[i] = uint64(upper[i]) | uint64(lower[i])<<32
	}
}

// filter writes one filtered sample per channel and output column of two rows of
// pixels.
func (r *resampler) filter(upper, lower, upperRGB, lowerRGB []byte) {
	if r.vectors && r.across.filterVectors(upper, lower, upperRGB, lowerRGB) {
		return
	}
	lo, hi := r.across.span()
	r.paired = grow(r.paired, 3*(hi-lo))
	pair(r.paired, upperRGB, lowerRGB)
	for x := range r.across.start {
		start, weight := r.across.of(x)
		p := r.paired[3*(start-lo) : 3*(start-lo+len(weight))]
		red, green, blue := uint64(half), uint64(half), uint64(half)
		for _, w := range weight {
			if len(p) < 3 {
				break
			}
			red += p[0] * uint64(w)
			green += p[1] * uint64(w)
			blue += p[2] * uint64(w)
			p = p[3:]
		}
		u, l := upper[3*wordBytes*x:][:3*wordBytes], lower[3*wordBytes*x:][:3*wordBytes]
		putLanes(u, l, red)
		putLanes(u[wordBytes:], l[wordBytes:], green)
		putLanes(u[2*wordBytes:], l[2*wordBytes:], blue)
	}
}

func putLanes(upper, lower []byte, sum uint64) {
	a, b := lanes(sum)
	binary.LittleEndian.PutUint32(upper, uint32(a))
	binary.LittleEndian.PutUint32(lower, uint32(b))
}

// lanes separates the two signed sums and rounds them to bytes. A negative
// lower sum has borrowed from the upper one.
func lanes(sum uint64) (a, b byte) {
	low := int32(sum)
	high := int32((sum - uint64(int64(low))) >> 32)
	return clip8(low >> precisionBits), clip8(high >> precisionBits)
}

// combine runs the vertical pass for one output row.
func (r *resampler) combine(start int, weight []int64) {
	offset := r.offset[:len(weight)]
	for i := range offset {
		offset[i] = (start + i) % r.ringRows * r.rowBytes
	}
	if r.vectors && combineVectors(r.out, r.ring, offset, weight) {
		return
	}
	for at := 0; at+groupSamples <= len(r.out); at += groupSamples {
		r.combineGroup(r.out[at:at+groupSamples], at*wordBytes, offset, weight)
	}
}

// combineGroup handles eight neighbouring samples, in four words of two lanes.
func (r *resampler) combineGroup(dst []byte, at int, offset []int, weight []int64) {
	s0, s1, s2, s3 := uint64(half), uint64(half), uint64(half), uint64(half)
	for i, w := range weight {
		p := r.ring[offset[i]+at:][:groupSamples*wordBytes]
		s0 += binary.LittleEndian.Uint64(p) * uint64(w)
		s1 += binary.LittleEndian.Uint64(p[8:]) * uint64(w)
		s2 += binary.LittleEndian.Uint64(p[16:]) * uint64(w)
		s3 += binary.LittleEndian.Uint64(p[24:]) * uint64(w)
	}
	dst = dst[:8]
	dst[0], dst[1] = lanes(s0)
	dst[2], dst[3] = lanes(s1)
	dst[4], dst[5] = lanes(s2)
	dst[6], dst[7] = lanes(s3)
}
