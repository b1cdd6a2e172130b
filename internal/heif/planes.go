package heif

// Planes hold a decoded picture as 8-bit samples without gaps: those with more
// bits are shifted. Cb and Cr, at 1/Across by 1/Down of the size rounded up, are
// nil in a grey picture.
type Planes struct {
	Width, Height int
	Across, Down  int
	Y, Cb, Cr     []byte
}

// newPlanes returns planes for a format of chroma as in Picture.Chroma, without
// samples.
func newPlanes(width, height, chroma int) *Planes {
	p := &Planes{Width: width, Height: height, Across: 1, Down: 1}
	switch chroma {
	case 1:
		p.Across, p.Down = 2, 2
	case 2:
		p.Across = 2
	}
	return p
}

func (p *Planes) chromaSize() (width, height int) {
	return (p.Width + p.Across - 1) / p.Across, (p.Height + p.Down - 1) / p.Down
}

// pack copies a plane of 8 or, in two bytes of little-endian order, more bits.
func pack(src []byte, stride, width, height, depth int) []byte {
	out := make([]byte, width*height)
	for y := range height {
		line, dst := src[y*stride:], out[y*width:(y+1)*width]
		if depth == 8 {
			copy(dst, line[:width])
			continue
		}
		line = line[:2*width]
		for x := range dst {
			dst[x] = byte((uint16(line[2*x]) | uint16(line[2*x+1])<<8) >> (depth - 8))
		}
	}
	return out
}

// paste copies a tile to (x, y), which is a multiple of the chroma's factors.
// What leaves the picture is cut off.
func (p *Planes) paste(tile *Planes, x, y int) {
	pastePlane(p.Y, p.Width, p.Height, tile.Y, tile.Width, tile.Height, x, y)
	if p.Cb == nil {
		return
	}
	w, h := p.chromaSize()
	tw, th := tile.chromaSize()
	pastePlane(p.Cb, w, h, tile.Cb, tw, th, x/p.Across, y/p.Down)
	pastePlane(p.Cr, w, h, tile.Cr, tw, th, x/p.Across, y/p.Down)
}

func pastePlane(dst []byte, width, height int, src []byte, w, h, x, y int) {
	if x >= width {
		return
	}
	for row := range min(h, height-y) {
		copy(dst[(y+row)*width+x:(y+row+1)*width], src[row*w:(row+1)*w])
	}
}
