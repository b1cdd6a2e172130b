package preprocess

// chromaMask selects the two 8-bit halves of a packed chroma sample.
const chromaMask = 0x00ff00ff

// An upsampler fills dst, one full row at luma resolution, from two chroma
// planes. A sample is cb | cr<<16, so that every sum below (at most 16·255+8)
// filters both channels at once.
type upsampler func(dst []uint32, cb, cr plane, y int)

// libjpegUpsampler chooses as libjpeg-turbo's jinit_upsampler does with
// do_fancy_upsampling, Pillow's setting: triangle filters for ratios of two,
// replication for the rest and for planes of up to two columns.
func libjpegUpsampler(across, down, chromaWidth int) upsampler {
	switch {
	case across == 2 && down == 1 && chromaWidth > 2:
		return upsampleAcross
	case across == 2 && down == 2 && chromaWidth > 2:
		return upsampleBoth
	case across == 1 && down == 2:
		return upsampleDown
	}
	return replicate(across, down)
}

// replicate repeats every sample (int_upsample, h2v1_upsample, …).
func replicate(across, down int) upsampler {
	return func(dst []uint32, cb, cr plane, y int) {
		b, r := cb.line(y/down), cr.line(y/down)
		r = r[:len(b)]
		for i := range b {
			v := uint32(b[i]) | uint32(r[i])<<16
			for j := range across {
				dst[i*across+j] = v
			}
		}
	}
}

// upsampleDown is h1v2_fancy_upsample: ¾ of the nearer row, ¼ of the farther,
// rounded down in upper rows and up in lower ones.
func upsampleDown(dst []uint32, cb, cr plane, y int) {
	bias := uint32(0x00010001 << (y & 1))
	b0, b1, r0, r1 := twoLines(cb, cr, y)
	dst, b1, r0, r1 = dst[:len(b0)], b1[:len(b0)], r0[:len(b0)], r1[:len(b0)]
	for i := range b0 {
		dst[i] = (columnSum(b0, b1, r0, r1, i) + bias) >> 2 & chromaMask
	}
}

// twoLines returns the nearer and the farther row of each plane, of half height,
// at row y of the picture.
func twoLines(cb, cr plane, y int) (b0, b1, r0, r1 []byte) {
	near, far := y>>1, y>>1-1
	if y&1 == 1 {
		far = near + 1
	}
	return cb.line(near), cb.line(far), cr.line(near), cr.line(far)
}

// columnSum returns three times the nearer row plus the farther one.
func columnSum(b0, b1, r0, r1 []byte, i int) uint32 {
	return 3*(uint32(b0[i])|uint32(r0[i])<<16) + (uint32(b1[i]) | uint32(r1[i])<<16)
}

// upsampleAcross is h2v1_fancy_upsample.
func upsampleAcross(dst []uint32, cb, cr plane, y int) {
	b, r := cb.line(y), cr.line(y)
	n := len(b)
	dst, r = dst[:2*n], r[:n]
	this := uint32(b[0]) | uint32(r[0])<<16
	out := dst[1:]
	dst[0] = this
	for i := 1; i < n && len(out) >= 2; i++ {
		next := uint32(b[i]) | uint32(r[i])<<16
		out[0] = (3*this + next + 0x00020002) >> 2 & chromaMask
		out[1] = (3*next + this + 0x00010001) >> 2 & chromaMask
		out = out[2:]
		this = next
	}
	dst[2*n-1] = this
}

// upsampleBoth is h2v2_fancy_upsample: rows are merged ¾ : ¼ first, without
// rounding, then columns.
func upsampleBoth(dst []uint32, cb, cr plane, y int) {
	b0, b1, r0, r1 := twoLines(cb, cr, y)
	n := len(b0)
	dst, b1, r0, r1 = dst[:2*n], b1[:n], r0[:n], r1[:n]
	this := columnSum(b0, b1, r0, r1, 0)
	out := dst[1:]
	dst[0] = (4*this + 0x00080008) >> 4 & chromaMask
	for i := 1; i < n && len(out) >= 2; i++ {
		next := columnSum(b0, b1, r0, r1, i)
		out[0] = (3*this + next + 0x00070007) >> 4 & chromaMask
		out[1] = (3*next + this + 0x00080008) >> 4 & chromaMask
		out = out[2:]
		this = next
	}
	dst[2*n-1] = (4*this + 0x00070007) >> 4 & chromaMask
}

// Fixed-point factors of libjpeg's jdcolor.c, 16 bits: FIX(1.40200) and so on.
const (
	crToRed   = 91881
	cbToBlue  = 116130
	crToGreen = -46802
	cbToGreen = -22554
	halfUnit  = 1 << 15
)

// ycbcrRow is ycc_rgb_convert; libjpeg's tables hold these same products.
func ycbcrRow(dst, luma []byte, chroma []uint32) {
	chroma = chroma[:len(luma)]
	for i, l := range luma {
		uv := chroma[i]
		y := int32(l)
		cb, cr := int32(uv&0xff)-128, int32(uv>>16)-128
		red := y + (crToRed*cr+halfUnit)>>16
		green := y + (cbToGreen*cb+crToGreen*cr+halfUnit)>>16
		blue := y + (cbToBlue*cb+halfUnit)>>16
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0], d[1], d[2] = clip8(red), clip8(green), clip8(blue)
	}
}

// rgbRow copies channels that are stored as RGB.
func rgbRow(dst, first []byte, rest []uint32) {
	rest = rest[:len(first)]
	for i, v := range first {
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0], d[1], d[2] = v, byte(rest[i]), byte(rest[i]>>16)
	}
}
