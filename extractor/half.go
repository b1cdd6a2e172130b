package extractor

import "math"

// halfBits rounds to IEEE 754 binary16, ties to even; overflow gives infinity.
func halfBits(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	magnitude := b & 0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN, quiet
		return sign | 0x7e00
	case magnitude >= 0x477ff000: // rounds to 65536 or more
		return sign | 0x7c00
	case magnitude < 0x38800000: // below 2⁻¹⁴: a multiple of 2⁻²⁴
		// Adding ½ aligns the value so that the float unit rounds it.
		aligned := math.Float32frombits(magnitude) + 0.5
		return sign | uint16(math.Float32bits(aligned)-0x3f000000)
	}
	rounded := magnitude + 0xfff + magnitude>>13&1
	return sign | uint16((rounded-0x38000000)>>13)
}
