package preprocess

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	pngSignature  = 8
	pngHeader     = 33 // with IHDR, the first chunk
	pngChunkBytes = 12 // of a chunk without data: its length, kind and checksum
)

// planPNG plans a picture: one that is interlaced is decoded whole before its first row.
func (d *Decoders) planPNG(file []byte, b *Budget) (p plan, err error) {
	if len(file) < pngHeader || string(file[12:16]) != "IHDR" {
		return p, fmt.Errorf("%w: no header", ErrCorrupt)
	}
	side := func(at int) int { return int(binary.BigEndian.Uint32(file[at:])) }
	if err := b.checkSize(formatPNG, side(16), side(20)); err != nil {
		return p, err
	}
	if file, err = withoutDamagedChunks(file); err != nil {
		return p, err
	}
	v, err := d.readNative(formatPNG, file, b, ",fail-on=error")
	if err != nil {
		return p, err
	}
	v.bits = significantPNG(file)
	perPixel, raw := int64(0), rawPNG(file, v.Width, v.Height)
	if isInterlaced(file) {
		perPixel = 2 * int64(v.Bands*max(1, v.SampleBytes()))
	}
	if p, err = v.plan(perPixel, 64); err != nil || isPNGWhole(file) {
		return p, err
	}
	p.bytes += 4*raw + 2*int64(len(file))
	p.open = func(ctx context.Context) (raster, error) {
		if v.source.File, err = mendedPNG(ctx, file, raw); err != nil {
			return nil, err
		}
		return v.open(ctx)
	}
	return p, nil
}

// significantPNG returns the bits that sBIT says, the most of all channels.
func significantPNG(file []byte) (n int) {
	pixels := false
	eachPNGChunk(file, func(kind string, body []byte) {
		if pixels = pixels || kind == "IDAT"; pixels || kind != "sBIT" {
			return
		}
		for _, b := range body[:min(len(body), 3)] {
			n = max(n, int(b))
		}
	})
	return n
}

// eachPNGChunk calls use with every chunk, the last perhaps cut, and reports whether the
// file goes to its end.
func eachPNGChunk(file []byte, use func(kind string, body []byte)) (whole bool) {
	for rest := file[pngSignature:]; len(rest) > pngSignature; {
		n, kind := uint64(binary.BigEndian.Uint32(rest)), string(rest[4:8])
		if uint64(len(rest)) < n+pngChunkBytes {
			use(kind, rest[8:min(uint64(len(rest)), 8+n)])
			return false
		}
		use(kind, rest[8:8+n])
		if kind == "IEND" {
			return true
		}
		rest = rest[pngChunkBytes+n:]
	}
	return false
}

// withoutDamagedChunks returns a file without the chunks that no pixel needs, whose kind begins with a
// small letter, and whose checksum is wrong: libpng leaves them out, and libvips refuses some. Pixels whose checksum
// is wrong are refused, where libvips would leave out rows.
func withoutDamagedChunks(file []byte) ([]byte, error) {
	var whole []byte // nil while nothing is damaged
	for at := pngSignature; at+pngChunkBytes <= len(file); {
		n := uint64(binary.BigEndian.Uint32(file[at:])) + pngChunkBytes
		if n > uint64(len(file)-at) { // it is cut
			if whole == nil {
				return file, nil
			}
			return append(whole, file[at:]...), nil
		}
		chunk := file[at : at+int(n)]
		end := len(chunk) - 4
		wrong := crc32.ChecksumIEEE(chunk[4:end]) != binary.BigEndian.Uint32(chunk[end:])
		damaged := wrong && chunk[4] >= 'a'
		switch {
		case wrong && string(chunk[4:8]) == "IDAT":
			return nil, fmt.Errorf("%w: the checksum of its pixels is wrong", ErrCorrupt)
		case damaged && whole == nil:
			whole = append(whole, file[:at]...)
		case whole != nil && !damaged:
			whole = append(whole, chunk...)
		}
		at += int(n)
	}
	if whole == nil {
		return file, nil
	}
	return whole, nil
}

// isPNGWhole reports whether a file goes to its end.
func isPNGWhole(file []byte) bool { return eachPNGChunk(file, func(string, []byte) {}) }

// mendedPNG returns a whole file with what is there of one that is cut: the rows before the cut. The
// others are black, or transparent, as Pillow leaves them.
func mendedPNG(ctx context.Context, file []byte, size int64) ([]byte, error) {
	var head, data []byte
	eachPNGChunk(file, func(kind string, body []byte) {
		switch kind {
		case "IDAT":
			data = append(data, body...)
		case "IHDR", "PLTE", "tRNS", "sBIT", "iCCP", "cHRM", "gAMA", "sRGB":
			head = appendPNGChunk(head, kind, body)
		}
	})
	r, err := zlib.NewReader(interruptible(ctx, bytes.NewReader(data)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	rows := make([]byte, size)
	n, _ := io.ReadFull(r, rows)
	if err := incomplete(ctx, int64(n), size); err != nil {
		return nil, err
	}
	remark(ctx, RemarkEnd)
	var packed bytes.Buffer
	w, err := zlib.NewWriterLevel(&packed, zlib.NoCompression)
	if err == nil {
		_, err = w.Write(rows)
	}
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	whole := append(bytes.Clone(file[:pngSignature]), head...)
	return appendPNGChunk(appendPNGChunk(whole, "IDAT", packed.Bytes()), "IEND", nil), nil
}

func appendPNGChunk(b []byte, kind string, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	from := len(b)
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// Offsets in a file: IHDR is the first chunk.
const pngDepthAt, pngKindAt, pngInterlaceAt = 24, 25, 28

func isInterlaced(file []byte) bool { return file[pngInterlaceAt] != 0 }

// rawPNG returns the bytes of a picture before compression: its rows, each with its
// filter, in seven passes if it is interlaced.
func rawPNG(file []byte, width, height int) (n int64) {
	channels := max(1, map[byte]int64{2: 3, 4: 2, 6: 4}[file[pngKindAt]])
	bits := channels * int64(file[pngDepthAt])
	pass := func(x0, y0, stepX, stepY int) {
		w, h := (width-x0+stepX-1)/stepX, (height-y0+stepY-1)/stepY
		if w > 0 && h > 0 {
			n += int64(h) * ((int64(w)*bits+7)/8 + 1)
		}
	}
	if !isInterlaced(file) {
		pass(0, 0, 1, 1)
		return n
	}
	for _, p := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
		{0, 1, 1, 2}} {
		pass(p[0], p[1], p[2], p[3])
	}
	return n
}
