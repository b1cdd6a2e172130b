package heif

import "bytes"

// A sequence is what a sequence parameter set says (ITU-T H.265, 7.3.2.2).
type sequence struct {
	chroma        int   // 0 is grey, 1 is 4:2:0, 2 is 4:2:2, 3 is 4:4:4
	coded         int64 // pixels of the picture with its margins
	width, height int   // without them
	depth         int   // bits per sample
	colour        Colour
}

// A bitReader reads bits. Past the end it reads zeros and is short.
type bitReader struct {
	b     []byte
	at    int // bits
	short bool
}

func (r *bitReader) bits(n int) (v uint32) {
	for range n {
		if r.at >= 8*len(r.b) {
			r.short = true
			return 0
		}
		v = v<<1 | uint32(r.b[r.at/8]>>(7-r.at%8)&1)
		r.at++
	}
	return v
}

func (r *bitReader) flag() bool { return r.bits(1) == 1 }

func (r *bitReader) skip(n int) {
	r.at += n
	r.short = r.short || r.at > 8*len(r.b)
}

// golomb reads ue(v); se(v) takes the same bits.
func (r *bitReader) golomb() uint32 {
	zeros := 0
	for !r.flag() {
		if zeros++; zeros > 31 || r.short {
			r.short = true
			return 0
		}
	}
	return 1<<zeros - 1 + r.bits(zeros)
}

func (r *bitReader) golombs(n int) {
	for range n {
		r.golomb()
	}
}

// readSequence reads a parameter set up to its colours.
func readSequence(nal []byte) (s sequence, err error) {
	if len(nal) < 2 {
		return s, damaged("an empty sequence parameter set")
	}
	r := &bitReader{b: bytes.ReplaceAll(nal[2:], []byte{0, 0, 3}, []byte{0, 0})}
	r.skip(4)
	layers := int(r.bits(3))
	r.skip(1)
	r.skipProfile(layers)
	r.golomb()
	chroma := r.golomb()
	if chroma == 3 {
		r.skip(1)
	}
	width, height := r.golomb(), r.golomb()
	const mostSide, mostDepth = 1 << 16, 16
	if r.short || chroma > 3 || width > mostSide || height > mostSide {
		return s, damaged("a sequence parameter set for %d×%d pixels", width, height)
	}
	s = sequence{chroma: int(chroma), coded: int64(width+63) * int64(height+63)}
	s.width, s.height = int(width), int(height)
	if r.flag() { // margins
		p := newPlanes(0, 0, s.chroma)
		s.width -= p.Across * int(min(r.golomb(), mostSide)+min(r.golomb(), mostSide))
		s.height -= p.Down * int(min(r.golomb(), mostSide)+min(r.golomb(), mostSide))
	}
	s.depth = 8 + int(r.golomb())
	r.golomb()
	if s.width < 1 || s.height < 1 || s.depth > mostDepth {
		return s, damaged("a sequence parameter set for %d×%d pixels of %d bits", s.width, s.height, s.depth)
	}
	s.colour = r.colour(layers)
	if r.short {
		return s, damaged("a sequence parameter set that ends too early")
	}
	return s, nil
}

func (r *bitReader) skipProfile(layers int) {
	const profile, level = 88, 8
	r.skip(profile + level)
	var present [8][2]bool
	for i := range layers {
		present[i] = [2]bool{r.flag(), r.flag()}
	}
	if layers > 0 {
		r.skip(2 * (8 - layers))
	}
	for i := range layers {
		if present[i][0] {
			r.skip(profile)
		}
		if present[i][1] {
			r.skip(level)
		}
	}
}

// colour skips to the video usability information, and reads its colours.
func (r *bitReader) colour(layers int) (c Colour) {
	c.Matrix = MatrixUnspecified
	poc := int(r.golomb()) + 4
	if r.flag() {
		r.golombs(3 * (layers + 1))
	} else {
		r.golombs(3)
	}
	r.golombs(6) // sizes of blocks
	if scaled := r.flag(); scaled && r.flag() {
		r.skipScalingLists()
	}
	r.skip(2)
	if r.flag() { // PCM
		r.skip(8)
		r.golombs(2)
		r.skip(1)
	}
	r.skipPictureSets()
	if r.flag() { // long-term pictures
		for range min(r.golomb(), 32) {
			r.skip(poc + 1)
		}
	}
	r.skip(2)
	if !r.flag() {
		return c
	}
	const customAspect = 255
	if r.flag() && r.bits(8) == customAspect {
		r.skip(32)
	}
	if r.flag() {
		r.skip(1)
	}
	if r.flag() {
		r.skip(3)
		c.FullRange = r.flag()
		if r.flag() {
			r.skip(16)
			c.Matrix = int(r.bits(8))
		}
	}
	return c
}

func (r *bitReader) skipScalingLists() {
	for size := range 4 {
		lists := 6
		if size == 3 {
			lists = 2
		}
		for range lists {
			switch {
			case !r.flag():
				r.golomb()
			case size > 1:
				r.golombs(1 + 64)
			default:
				r.golombs(min(64, 16<<(2*size)))
			}
			if r.short {
				return
			}
		}
	}
}

// skipPictureSets skips the sets of short-term reference pictures.
func (r *bitReader) skipPictureSets() {
	previous := 0
	for i := range min(r.golomb(), 64) {
		if r.short {
			return
		}
		if i > 0 && r.flag() { // predicted from the previous set
			r.skip(1)
			r.golomb()
			n := 0
			for range previous + 1 {
				if used := r.flag(); used || r.flag() {
					n++
				}
			}
			previous = n
			continue
		}
		previous = int(min(r.golomb(), 16) + min(r.golomb(), 16))
		for range previous {
			r.golomb()
			r.skip(1)
		}
	}
}
