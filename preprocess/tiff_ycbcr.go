package preprocess

import "github.com/seed-90d10d51/pipeline/internal/photometa"

const tagSubsampling = 530

// A chroma is how luma and chroma of a TIFF picture without JPEG are stored (TIFF 6.0, section 21):
// units of across×down luma samples, one Cb and one Cr. The coefficients are those of
// CCIR 601, and black is 0, as all common writers have it.
type chroma struct{ across, down int }

// readChroma returns nil if the samples of a YCbCr picture are stored otherwise.
func readChroma(file []byte, t *bands) *chroma {
	c := &chroma{2, 2} // by default
	tags, _ := photometa.Values(file, tagSubsampling)
	if s := tags[tagSubsampling]; len(s) == 2 {
		c = &chroma{s[0], s[1]}
	}
	factor := func(n int) bool { return n == 1 || n == 2 || n == 4 }
	if !factor(c.across) || !factor(c.down) || t.samples != 3 || t.bytesPer != 1 || t.separate || t.predictor != 1 {
		return nil
	}
	return c
}

// blockBytes is the size of a block, decompressed.
func (t *bands) blockBytes() int64 {
	if t.chroma != nil {
		return t.chroma.bytes(t.blocks)
	}
	return pixels(t.blocks.width, t.blocks.height) * int64(t.bandsOfBlock()*t.bytesPer)
}

// bytes is the size of a block.
func (c *chroma) bytes(b blocks) int64 {
	return pixels(c.units(b.width, c.across), c.units(b.height, c.down)) * int64(c.across*c.down+2)
}

func (c *chroma) units(n, factor int) int { return (n + factor - 1) / factor }

// converter returns what turns a block into pixels, of the rows of which it has all units; they
// are valid until the next. Other pictures (nil) stay as they are.
func (c *chroma) converter(b blocks) func(block []byte) []byte {
	if c == nil {
		return func(block []byte) []byte { return block }
	}
	size, across := c.across*c.down+2, c.units(b.width, c.across)
	out := make([]byte, 3*b.width*b.height)
	luma, blend := make([]byte, b.width), make([]uint32, b.width)
	return func(block []byte) []byte {
		rows := min(b.height, len(block)/(across*size)*c.down)
		for y := range rows {
			units := block[y/c.down*across*size:]
			for x := range b.width {
				unit := units[x/c.across*size:][:size]
				luma[x] = unit[y%c.down*c.across+x%c.across]
				blend[x] = uint32(unit[size-2]) | uint32(unit[size-1])<<16
			}
			ycbcrRow(out[3*b.width*y:], luma, blend)
		}
		return out[:3*b.width*rows]
	}
}
