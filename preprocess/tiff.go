package preprocess

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"io"
	"math/bits"
	"runtime"

	"golang.org/x/image/tiff"
	"golang.org/x/image/tiff/lzw"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// TIFF tags that x/image/tiff gets wrong or overlooks.
const (
	tagCompression     = 259
	tagPhotometric     = 262
	tagStripOffsets    = 273
	tagRowsPerStrip    = 278
	tagStripByteCounts = 279
	tagMaxSampleValue  = 281
	tagPlanar          = 284
	tagTileWidth       = 322
	tagTileLength      = 323

	uncompressed = 1

	compressionGroup3     = 3
	compressionGroup4     = 4
	compressionLZW        = 5
	compressionDeflate    = 8
	compressionDeflateOld = 32946
	compressionPackBits   = 32773
	blackIsZero           = 1
	separatePlanes        = 2
)

// planTIFF decodes the first page. It works around two faults of x/image/tiff,
// which reads separate planes as interleaved ones, and with fax compression
// inverts pictures whose zero is black.
func planTIFF(file []byte, b *Budget) (p plan, err error) {
	if t := readBands(file); t != nil {
		if err := b.checkSize(formatTIFF, t.width, t.height); err != nil {
			return p, err
		}
		if j := readTIFFJPEG(file, t); j != nil {
			return j.plan(tiffTags(file), b)
		}
		if t.chroma != nil || t.photometric != photoYCbCr && (!t.usual || t.isCut() && t.decompresses()) {
			return t.plan(tiffTags(file), b)
		}
	}
	c, err := tiff.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return p, err
	}
	if err := b.checkSize(formatTIFF, c.Width, c.Height); err != nil {
		return p, err
	}
	tags := tiffTags(file)
	if tags[tagPlanar] == separatePlanes && tags[tagPhotometric] > blackIsZero {
		return p, fmt.Errorf("decode TIFF: %w: separate colour planes; convert it to JPEG or PNG", ErrFormat)
	}
	blocks := blocksOf(c, tags)
	if err := blocks.check(b); err != nil {
		return p, err
	}
	return plan{
		width: c.Width, height: c.Height,
		bytes: tiffBytes(c, tags, blocks, int64(len(file))),
		less:  func() int64 { return unusedBytes(file, tags, c) },
		open:  func(ctx context.Context) (raster, error) { return openTIFF(ctx, file, tags, blocks) },
	}, nil
}

// blocks are the strips or tiles of a picture.
type blocks struct {
	width, height int // of one
	across, down  int
}

// blocksOf does as x/image/tiff does with values that are missing.
func blocksOf(c image.Config, tags map[int]int) blocks {
	b := blocks{width: c.Width, height: c.Height}
	if rows := tags[tagRowsPerStrip]; rows > 0 {
		b.height = min(b.height, rows)
	}
	if tags[tagTileWidth] > 0 {
		b.width, b.height = tags[tagTileWidth], max(1, tags[tagTileLength])
	}
	b.across, b.down = (c.Width-1)/b.width+1, (c.Height-1)/b.height+1
	return b
}

// mostBlocks is the most strips or tiles that a picture may have: each has a
// decompressor of its own. It allows strips of one row in all scans that fit the
// Budget.
const mostBlocks = 1 << 16

// check bounds the number of blocks, and their size together: what tiles have
// beyond the edges is decompressed too.
func (t blocks) check(b *Budget) error {
	if n := pixels(t.across, t.down); n > mostBlocks {
		return fmt.Errorf("decode TIFF: %w: it has %d strips or tiles, and may have %d; save it with larger ones",
			ErrTooLarge, n, mostBlocks)
	}
	return b.checkArea(formatTIFF, t.width*t.across, t.height*t.down)
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

func openTIFF(ctx context.Context, file []byte, tags map[int]int, b blocks) (raster, error) {
	r := &collecting{ReaderAt: bytes.NewReader(file), ctx: ctx, each: decompressorBytes, quota: readQuota(file)}
	if tags[tagCompression] == compressionPackBits { // which does not reuse its buffer
		r.each += 2 * 8 * b.width * b.height
	}
	m, err := tiff.Decode(r)
	if err != nil {
		return nil, err
	}
	if grey, ok := m.(*image.Gray); ok && isBlackZeroFax(tags) {
		for i := range grey.Pix {
			grey.Pix[i] ^= 0xff
		}
	}
	scaleBits(ctx, m, significantTIFF(tags))
	return newRaster(m)
}

// significantTIFF returns the bits of the largest value that a file says it may have.
func significantTIFF(tags map[int]int) int { return bits.Len(uint(max(0, tags[tagMaxSampleValue]))) }

// tiffBytes is what x/image/tiff takes: the picture, its largest block, and up
// to collectBytes of garbage. The buffer of a compressed block grows by
// doubling, to at most 8 bytes per pixel, whatever the header says; an
// uncompressed one is as large as it is in the file, and grows from 10 MiB on.
func tiffBytes(c image.Config, tags map[int]int, b blocks, file int64) int64 {
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
	block, blocks := pixels(b.width, b.height), pixels(b.across, b.down)
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

// readQuota is for the bytes of a file that its strips or tiles are read from. Usually
// they share none.
func readQuota(file []byte) *quota.Quota {
	const shared = 32 << 20
	return quota.New(2*int64(len(file)) + shared)
}

// A collecting reader collects the garbage of its reader, and fails when the
// context has ended or more than a quota is read.
type collecting struct {
	io.ReaderAt
	ctx     context.Context
	quota   *quota.Quota
	each    int // what a read leaves, at most
	garbage int
}

// Read is not used; x/image/tiff reads from an io.ReaderAt.
func (r *collecting) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// ReadAt counts the read bytes and what reading a block leaves.
func (r *collecting) ReadAt(b []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if err := r.quota.Take(int64(len(b))); err != nil {
		return 0, err
	}
	r.count(len(b) + r.each)
	return r.ReaderAt.ReadAt(b, off)
}

// count collects the garbage when there is enough.
func (r *collecting) count(garbage int) {
	if r.garbage += garbage; r.garbage > collectBytes {
		r.garbage = 0
		runtime.GC()
	}
}

func isBlackZeroFax(tags map[int]int) bool {
	c := tags[tagCompression]
	return (c == compressionGroup3 || c == compressionGroup4) && tags[tagPhotometric] == blackIsZero
}

// tiffTags returns the first value of each entry of the first directory, as
// x/image/tiff reads it; −1 for values outside of the file, and of other types than
// the tags above have.
func tiffTags(file []byte) map[int]int {
	const entryBytes = 12
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
		tag, count := int(order.Uint16(entries)), order.Uint32(entries[4:])
		tags[tag] = firstValue(file, entries[:entryBytes], order)
		if count != 1 && (tag == tagTileWidth || tag == tagTileLength) {
			tags[tag] = 1 << 30 // more than one size: nobody writes that
		}
		entries = entries[entryBytes:]
	}
	return tags
}

// firstValue returns the first value of an entry, or −1. Values of more than four
// bytes are stored elsewhere.
func firstValue(file, entry []byte, order binary.ByteOrder) int {
	const octet, short, long = 1, 3, 4
	kind, count, values := order.Uint16(entry[2:]), uint64(order.Uint32(entry[4:])), entry[8:]
	size, ok := map[uint16]uint64{octet: 1, short: 2, long: 4}[kind]
	if !ok || count == 0 {
		return -1
	}
	if size*count > uint64(len(values)) {
		values = file[min(uint64(order.Uint32(values)), uint64(len(file))):]
	}
	switch {
	case uint64(len(values)) < size:
		return -1
	case kind == octet:
		return int(values[0])
	case kind == short:
		return int(order.Uint16(values))
	}
	return int(order.Uint32(values))
}
