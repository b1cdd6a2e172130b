package preprocess

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"io"
)

const (
	pngSignature  = 8
	pngChunkBytes = 12 // of a chunk without data: its length, kind and checksum
)

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

// isPNGWhole reports whether a file goes to its end.
func isPNGWhole(file []byte) bool { return eachPNGChunk(file, func(string, []byte) {}) }

// salvagePNG reads what can be read of a file that is cut: the rows before the cut. The
// others are left black, or transparent, as Pillow leaves them.
func salvagePNG(ctx context.Context, file []byte, size int64, cause error) (image.Image, error) {
	var head, data []byte
	eachPNGChunk(file, func(kind string, body []byte) {
		switch kind {
		case "IDAT":
			data = append(data, body...)
		case "IHDR", "PLTE", "tRNS":
			head = appendPNGChunk(head, kind, body)
		}
	})
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, cause
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
	if err != nil || w.Close() != nil {
		return nil, cause
	}
	whole := append(bytes.Clone(file[:pngSignature]), head...)
	whole = appendPNGChunk(appendPNGChunk(whole, "IDAT", packed.Bytes()), "IEND", nil)
	return png.Decode(interruptible(ctx, bytes.NewReader(whole)))
}

func appendPNGChunk(b []byte, kind string, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	from := len(b)
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// rawPNG returns the bytes of a picture before compression: its rows, each with its
// filter, in seven passes if it is interlaced.
func rawPNG(bitsPerPixel int64, c image.Config, interlaced bool) (n int64) {
	pass := func(x0, y0, stepX, stepY int) {
		w, h := (c.Width-x0+stepX-1)/stepX, (c.Height-y0+stepY-1)/stepY
		if w > 0 && h > 0 {
			n += int64(h) * ((int64(w)*bitsPerPixel+7)/8 + 1)
		}
	}
	if !interlaced {
		pass(0, 0, 1, 1)
		return n
	}
	for _, p := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
		{0, 1, 1, 2}} {
		pass(p[0], p[1], p[2], p[3])
	}
	return n
}
