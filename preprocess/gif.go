package preprocess

import (
	"bytes"
	"compress/lzw"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"runtime"
)

// planGIF plans the first frame on its canvas for image/gif and, where that gives up, for what follows: of files
// that viewers show, libvips refuses some and overlooks what is missing of others. The
// frame is usually no larger than the canvas, and is copied if it is interlaced.
func planGIF(file []byte, b *Budget) (p plan, err error) {
	c, err := gif.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return p, err
	}
	if err := b.checkSize(formatGIF, c.Width, c.Height); err != nil {
		return p, err
	}
	area := pixels(c.Width, c.Height)
	if f, err := readGIF(file); err == nil {
		area = max(area, pixels(f.at.Dx(), f.at.Dy()))
	}
	return plan{width: c.Width, height: c.Height, bytes: 2 * area,
		open: func(ctx context.Context) (raster, error) { return openGIF(ctx, file, c) }}, nil
}

// openGIF places the first frame on the canvas. gif.Decode stops after one
// frame. What it refuses may be what viewers show nevertheless.
func openGIF(ctx context.Context, file []byte, c image.Config) (raster, error) {
	m, err := gif.Decode(interruptible(ctx, bytes.NewReader(file)))
	if err != nil && ctx.Err() == nil {
		m, err = salvageGIF(ctx, file, err)
	}
	if err != nil {
		return nil, err
	}
	at := m.Bounds().Min
	return &canvas{
		width: c.Width, height: c.Height, x: at.X, y: at.Y,
		background: gifBackground(m), frame: newRaster(m),
	}, nil
}

// gifBackground returns what Pillow fills the canvas with: white (transparency
// over white) if the frame has a transparent colour, otherwise colour 0.
func gifBackground(m image.Image) [3]byte {
	p, ok := m.(*image.Paletted)
	if !ok || len(p.Palette) == 0 {
		return [3]byte{255, 255, 255}
	}
	for _, c := range p.Palette {
		if straight(c).A == 0 {
			return [3]byte{255, 255, 255}
		}
	}
	return paletteTable(p.Palette)[0]
}

// A gifFrame is the first frame of a file, compressed.
type gifFrame struct {
	at         image.Rectangle
	palette    color.Palette
	interlaced bool
	codeBits   int
	data       io.Reader
}

// salvageGIF reads the rows that a file has of its first frame. Unlike gif.Decode it reads
// files that are cut, frames with too few or too many pixels, frames that leave their
// canvas, and zeros between blocks.
func salvageGIF(ctx context.Context, file []byte, cause error) (image.Image, error) {
	f, err := readGIF(file)
	if err != nil {
		return nil, cause
	}
	runtime.GC() // the budget counts one picture
	w, h := f.at.Dx(), f.at.Dy()
	pix := make([]byte, w*h)
	n, _ := io.ReadFull(lzw.NewReader(interruptible(ctx, f.data), lzw.LSB, f.codeBits), pix)
	if err := incomplete(ctx, int64(n), int64(len(pix))); err != nil {
		return nil, err
	}
	if f.interlaced {
		pix = woven(pix, w, h)
	} else { // the canvas shows through the rows that are missing
		h = (n + w - 1) / w
	}
	at := image.Rectangle{f.at.Min, f.at.Min.Add(image.Pt(w, h))}
	return &image.Paletted{Pix: pix, Stride: w, Rect: at, Palette: f.palette}, nil
}

// woven puts the rows of the four passes of an interlaced frame in their places.
func woven(pix []byte, w, h int) []byte {
	out := make([]byte, len(pix))
	for _, pass := range [4][2]int{{0, 8}, {4, 8}, {2, 4}, {1, 2}} {
		for y := pass[0]; y < h; y += pass[1] {
			copy(out[y*w:(y+1)*w], pix)
			pix = pix[w:]
		}
	}
	return out
}

// readGIF finds the first frame and its colours (GIF89a, sections 18 to 23).
func readGIF(file []byte) (*gifFrame, error) {
	const header, screen, descriptor = 6, 7, 9
	const extension, frame, control = 0x21, 0x2c, 0xf9
	r := bytes.NewBuffer(file)
	r.Next(header)
	global := gifPalette(r, r.Next(screen), 4)
	transparent := -1
	for {
		kind, err := r.ReadByte()
		if err != nil {
			return nil, err
		}
		switch kind {
		case 0: // some writers leave zeros between blocks
		case extension:
			label, _ := r.ReadByte()
			blocks := &gifBlocks{file: r}
			data := make([]byte, 4)
			if n, _ := io.ReadFull(blocks, data); label == control && n == len(data) && data[0]&1 != 0 {
				transparent = int(data[3])
			}
			_, _ = io.Copy(io.Discard, blocks) // it is in memory
		case frame:
			b := r.Next(descriptor)
			if len(b) < descriptor {
				return nil, io.ErrUnexpectedEOF
			}
			number := func(i int) int { return int(binary.LittleEndian.Uint16(b[i:])) }
			at := image.Rect(0, 0, number(4), number(6)).Add(image.Pt(number(0), number(2)))
			f := &gifFrame{at: at, palette: gifPalette(r, b, 8), interlaced: b[8]&0x40 != 0}
			if f.palette == nil {
				f.palette = global
			}
			bits, _ := r.ReadByte()
			if f.codeBits = int(bits); at.Empty() || bits < 2 || bits > 8 || f.palette == nil {
				return nil, fmt.Errorf("%w: its first frame has no pixels or no colours", ErrCorrupt)
			}
			if transparent >= 0 && transparent < len(f.palette) {
				f.palette[transparent] = color.NRGBA{}
			}
			f.data = &gifBlocks{file: r}
			return f, nil
		default:
			return nil, fmt.Errorf("%w: block %#x", ErrCorrupt, kind)
		}
	}
}

// gifPalette reads the table of colours that flags, at an index of a block, announce; nil
// if there is none.
func gifPalette(r *bytes.Buffer, block []byte, flags int) (p color.Palette) {
	if len(block) <= flags || block[flags]&0x80 == 0 {
		return nil
	}
	table := r.Next(3 << (block[flags]&7 + 1))
	for ; len(table) >= 3; table = table[3:] {
		p = append(p, color.NRGBA{table[0], table[1], table[2], 255})
	}
	return p
}

// gifBlocks reads the data of sub-blocks up to the empty one that ends them, or to the end
// of the file.
type gifBlocks struct {
	file *bytes.Buffer
	left int // bytes of the present block
}

// Read reads from one block.
func (r *gifBlocks) Read(b []byte) (int, error) {
	if r.left == 0 {
		n, err := r.file.ReadByte()
		if err != nil || n == 0 {
			return 0, io.EOF
		}
		r.left = int(n)
	}
	n, err := r.file.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}
