package preprocess

import "golang.org/x/sys/cpu"

// filterVectors is resampler.filter for taps that are inOrder, if the processor has
// AVX2. It reads one byte after the last pixel and writes one word after the last
// sample.
func (t *taps) filterVectors(upper, lower, upperRGB, lowerRGB []byte) bool {
	if !cpu.X86.HasAVX2 {
		return false
	}
	lo, hi := t.span()
	n, read := len(t.start), 3*(hi-lo)+1
	written := (3*n + 1) * wordBytes
	upper, lower, upperRGB, lowerRGB = upper[:written], lower[:written], upperRGB[:read], lowerRGB[:read]
	filterAVX2(&upper[0], &lower[0], &upperRGB[0], &lowerRGB[0], &t.start[0], &t.count[0], &t.weight[0], t.size, n, lo)
	return true
}

// combineVectors writes whole groups of samples, as resampler.combine does, if the
// processor has AVX2. There is at least one weight.
func combineVectors(out, ring []byte, offset []int, weight []int64) bool {
	if !cpu.X86.HasAVX2 {
		return false
	}
	for _, at := range offset {
		_ = ring[at : at+len(out)*wordBytes]
	}
	combineAVX2(&out[0], &ring[0], len(out)/groupSamples, &offset[0], &weight[0], len(offset))
	return true
}

// filterAVX2 filters n pixels of two rows; taps start at pixel lo of the picture.
//
//go:noescape
func filterAVX2(upper, lower, upperRGB, lowerRGB *byte, start, count *int, weight *int64, size, n, lo int)

//go:noescape
func combineAVX2(out, ring *byte, groups int, offset *int, weight *int64, count int)
