package preprocess

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"io"
	"runtime"

	"golang.org/x/image/tiff"
	"golang.org/x/image/tiff/lzw"
)

// TIFF tags that x/image/tiff gets wrong or overlooks.
const (
	tagCompression     = 259
	tagPhotometric     = 262
	tagStripOffsets    = 273
	tagRowsPerStrip    = 278
	tagStripByteCounts = 279
	tagPlanar          = 284
	tagTileWidth       = 322
	tagTileLength      = 323

	uncompressed = 1

	compressionGroup3     = 3
	compressionGroup4     = 4
	compressionLZW        = 5
	compressionDeflate    = 8
	compressionDeflateOld = 32946
	blackIsZero           = 1
	separatePlanes        = 2
)

// planTIFF decodes the first page. It works around two faults of x/image/tiff,
// which reads separate planes as interleaved ones, and with fax compression
// inverts pictures whose zero is black.
func planTIFF(file []byte, c image.Config) (p plan, err error) {
	tags := tiffTags(file)
	if tags[tagPlanar] == separatePlanes && tags[tagPhotometric] > blackIsZero {
		return p, fmt.Errorf("decode TIFF: %w: separate colour planes; convert it to JPEG or PNG", ErrFormat)
	}
	return plan{
		bytes: tiffBytes(c, tags, int64(len(file))),
		less:  func() int64 { return unusedBytes(file, tags, c) },
		open:  func() (raster, error) { return openTIFF(file, tags) },
	}, nil
}

// unusedBytes returns by how much tiffBytes overestimates a picture in a single
// compressed strip: it decompresses the strip without storing it.
func unusedBytes(file []byte, tags map[int]int, c image.Config) int64 {
	from, n := tags[tagStripOffsets], tags[tagStripByteCounts]
	rows := tags[tagRowsPerStrip]
	if from < 0 || n <= 0 || from > len(file) || rows > 0 && rows < c.Height || tags[tagTileWidth] != 0 {
		return 0
	}
	area := pixels(c.Width, c.Height)
	var r io.Reader = bytes.NewReader(file[from:min(len(file), from+n)])
	switch tags[tagCompression] {
	case compressionLZW:
		r = lzw.NewReader(r, lzw.MSB, 8)
	case compressionDeflate, compressionDeflateOld:
		var err error
		if r, err = zlib.NewReader(r); err != nil {
			return 0
		}
	default:
		return 0
	}
	used, _ := io.Copy(io.Discard, io.LimitReader(r, 8*area)) // decoding ends at the same error
	return 4 * (8*area - used)
}

func openTIFF(file []byte, tags map[int]int) (raster, error) {
	m, err := tiff.Decode(&collecting{ReaderAt: bytes.NewReader(file)})
	if err != nil {
		return nil, err
	}
	if grey, ok := m.(*image.Gray); ok && isBlackZeroFax(tags) {
		for i := range grey.Pix {
			grey.Pix[i] ^= 0xff
		}
	}
	return newRaster(m)
}

// tiffBytes is what x/image/tiff takes: the picture, its largest block, and up
// to collectBytes of garbage. The buffer of a compressed block grows by
// doubling, to at most 8 bytes per pixel, whatever the header says; an
// uncompressed one is as large as it is in the file, and grows from 10 MiB on.
func tiffBytes(c image.Config, tags map[int]int, file int64) int64 {
	perPixel := int64(4)
	switch c.ColorModel {
	case color.GrayModel:
		perPixel = 1
	case color.Gray16Model:
		perPixel = 2
	case color.RGBA64Model, color.NRGBA64Model:
		perPixel = 8
	}
	if _, paletted := c.ColorModel.(color.Palette); paletted {
		perPixel = 1
	}
	width, height := c.Width, c.Height
	if rows := tags[tagRowsPerStrip]; rows > 0 {
		height = min(height, rows)
	}
	if tags[tagTileWidth] > 0 {
		width, height = tags[tagTileWidth], max(1, tags[tagTileLength])
	}
	const most = 1 << 40 // a tile may be larger than any picture
	block := min(int64(width), most/int64(height)) * int64(height)
	blocks := pixels(c.Width/width+1, c.Height/height+1)
	buffer := 4 * 8 * block
	if k := tags[tagCompression]; k == 0 || k == uncompressed {
		const chunk = 10 << 20
		buffer = min(8*block, file)
		if buffer >= chunk {
			buffer = 3*buffer + chunk
		}
	}
	area := pixels(c.Width, c.Height)
	garbage := min(collectBytes, blocks*decompressorBytes+8*area)
	return perPixel*area + buffer + garbage + 64*min(blocks, file)
}

// collectBytes is how much garbage builds up while a TIFF is decoded: each
// strip has its own reader and sometimes its own buffer.
const collectBytes = 16 << 20

// decompressorBytes is more than a reader of any compression takes.
const decompressorBytes = 64 << 10

// A collecting reader collects the garbage of its reader.
type collecting struct {
	io.ReaderAt
	garbage int
}

// Read is not used; x/image/tiff reads from an io.ReaderAt.
func (r *collecting) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// ReadAt counts the read bytes and a decompressor.
func (r *collecting) ReadAt(b []byte, off int64) (int, error) {
	if r.garbage += len(b) + decompressorBytes; r.garbage > collectBytes {
		r.garbage = 0
		runtime.GC()
	}
	return r.ReaderAt.ReadAt(b, off)
}

func isBlackZeroFax(tags map[int]int) bool {
	c := tags[tagCompression]
	return (c == compressionGroup3 || c == compressionGroup4) && tags[tagPhotometric] == blackIsZero
}

// tiffTags returns the first value of each 16-bit entry of the first directory,
// such as the tags above, and the value of each 32-bit entry that has one; −1 for
// values stored elsewhere.
func tiffTags(file []byte) map[int]int {
	const entryBytes, short, long = 12, 3, 4
	if len(file) < 8 {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if file[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(file[4:]))
	if at+2 > int64(len(file)) {
		return nil
	}
	entries, tags := file[at+2:], map[int]int{}
	for range order.Uint16(file[at:]) {
		if len(entries) < entryBytes {
			break
		}
		tag, kind, count := int(order.Uint16(entries)), order.Uint16(entries[2:]), order.Uint32(entries[4:])
		switch {
		case count != 1 && (tag == tagTileWidth || tag == tagTileLength):
			tags[tag] = 1 << 30 // more than one size: nobody writes that
		case kind == short && count <= 2:
			tags[tag] = int(order.Uint16(entries[8:]))
		case kind == long && count == 1:
			tags[tag] = int(order.Uint32(entries[8:]))
		default:
			tags[tag] = -1
		}
		entries = entries[entryBytes:]
	}
	return tags
}
