package preprocess

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"

	"github.com/seed-90d10d51/pipeline/internal/quota"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// TIFF tags that say what decoding takes, and which channel is alpha.
const (
	tagWidth           = 256
	tagHeight          = 257
	tagBitsPerSample   = 258
	tagCompression     = 259
	tagPhotometric     = 262
	tagStripOffsets    = 273
	tagSamplesPerPixel = 277
	tagRowsPerStrip    = 278
	tagStripByteCounts = 279
	tagMaxSampleValue  = 281
	tagPlanar          = 284
	tagTileWidth       = 322
	tagTileLength      = 323
	tagTileOffsets     = 324
	tagTileByteCounts  = 325
	tagExtraSamples    = 338
	tagSubsampling     = 530

	separatePlanes = 2
	whiteIsZero    = 0
	photoYCbCr     = 6
	photoLab       = 8
	photoLabICC    = 9
	premultiplied  = 1
	straightAlpha  = 2
	maxBands       = 1024
)

// tiffTags are the values of the tags above, of the first directory.
type tiffTags map[int][]int

func readTIFF(file []byte) tiffTags {
	tags, _ := photometa.Values(file, tagWidth, tagHeight, tagBitsPerSample, tagCompression, tagPhotometric,
		tagStripOffsets, tagSamplesPerPixel, tagRowsPerStrip, tagStripByteCounts, tagMaxSampleValue, tagPlanar,
		tagTileWidth, tagTileLength, tagTileOffsets, tagTileByteCounts, tagExtraSamples, tagSubsampling)
	return tags
}

func (t tiffTags) first(tag, otherwise int) int {
	if v := t[tag]; len(v) > 0 {
		return v[0]
	}
	return otherwise
}

// hasAlpha reports whether the first channel that is no colour is alpha.
func (t tiffTags) hasAlpha() bool {
	extra := t.first(tagExtraSamples, 0)
	return extra == premultiplied || extra == straightAlpha
}

// significantBits returns the bits of the largest value that a file says it may have.
func (t tiffTags) significantBits() int { return bits.Len(uint(max(0, t.first(tagMaxSampleValue, 0)))) }

// planTIFF plans the first page.
func (d *Decoders) planTIFF(file []byte, b *Budget) (p plan, err error) {
	tags := readTIFF(file)
	blocks, err := tags.check(file, b)
	if err != nil {
		return p, err
	}
	if of := tags.first(tagPhotometric, 1); of == photoLab || of == photoLabICC {
		return p, errLab()
	}
	v, err := d.readNative(formatTIFF, file, b, ",fail-on=error")
	if err != nil {
		return p, err
	}
	v.layout = layout{alpha: tags.hasAlpha() && v.Bands > v.ownBands(), bits: tags.significantBits(),
		inverse: tags.first(tagPhotometric, 1) == whiteIsZero, ycbcr: tags.isChroma()}
	if p, err = v.plan(0, 64); err != nil {
		return p, err
	}
	p.bytes += 3*blocks.bytes(tags) + int64(len(file))/8
	if there, whole, end := tags.stored(file); there < whole {
		p.bytes += end
		p.open = func(ctx context.Context) (raster, error) {
			if err := incomplete(ctx, there, whole); err != nil {
				return nil, err
			}
			v.source.File = append(bytes.Clone(file), make([]byte, end-int64(len(file)))...)
			return v.open(ctx)
		}
	}
	return p, nil
}

// stored returns how many bytes of the strips or tiles there are, how many there should be, and where the last ends.
func (t tiffTags) stored(file []byte) (there, whole, end int64) {
	offsets, counts := t[tagStripOffsets], t[tagStripByteCounts]
	if t[tagTileOffsets] != nil {
		offsets, counts = t[tagTileOffsets], t[tagTileByteCounts]
	}
	for i := range min(len(offsets), len(counts)) {
		from, n := int64(offsets[i]), int64(counts[i])
		if from < 0 || n < 0 || from+n > 4*int64(len(file)) {
			return 0, 0, 0 // which libtiff judges
		}
		there += max(0, min(n, int64(len(file))-from))
		whole, end = whole+n, max(end, from+n)
	}
	return there, whole, end
}

// isChroma reports whether libtiff leaves luma and chroma as they are: with all samples, and without JPEG.
func (t tiffTags) isChroma() bool {
	const jpegOld, jpeg = 6, 7
	method, s := t.first(tagCompression, 1), t[tagSubsampling]
	whole := len(s) == 2 && s[0] == 1 && s[1] == 1
	return t.first(tagPhotometric, 1) == photoYCbCr && method != jpegOld && method != jpeg && whole
}

// ownBands returns the number of channels that colours take.
func (v *native) ownBands() int {
	s := samples{Header: v.Header}
	return s.colours()
}

// blocks are the strips or tiles of a picture.
type blocks struct {
	width, height int // of one
	across, down  int
}

// mostBlocks is the most strips or tiles that a picture may have: each has a
// decompressor of its own. It allows strips of one row in all scans that fit the
// Budget.
const mostBlocks = 1 << 16

// check bounds what the directory says before anything is decompressed: the size of the picture, the number
// and size of its blocks, with what tiles have beyond the edges, and the bytes that are read for them.
func (t tiffTags) check(file []byte, budget *Budget) (b blocks, err error) {
	width, height := t.first(tagWidth, 0), t.first(tagHeight, 0)
	if err := budget.checkSize(formatTIFF, width, height); err != nil {
		return b, err
	}
	b = blocks{width: width, height: height}
	if rows := t.first(tagRowsPerStrip, 0); rows > 0 {
		b.height = min(b.height, rows)
	}
	counts := t[tagStripByteCounts]
	if t.first(tagTileWidth, 0) > 0 {
		b.width, b.height, counts = t.first(tagTileWidth, 0), max(1, t.first(tagTileLength, 0)), t[tagTileByteCounts]
	}
	b.across, b.down = (width-1)/b.width+1, (height-1)/b.height+1
	if n := pixels(b.across, b.down); n > mostBlocks {
		return b, fmt.Errorf("decode TIFF: %w: it has %d strips or tiles, and may have %d; save it with larger ones",
			ErrTooLarge, n, mostBlocks)
	}
	if err := budget.checkArea(formatTIFF, b.width*b.across, b.height*b.down); err != nil {
		return b, err
	}
	if err := t.checkBands(budget, b); err != nil {
		return b, err
	}
	read := readQuota(file)
	for _, n := range counts {
		if err := read.Take(int64(max(0, min(n, len(file))))); err != nil {
			return b, err
		}
	}
	return b, nil
}

// checkBands bounds what is decompressed of channels that are not used.
func (t tiffTags) checkBands(budget *Budget, b blocks) error {
	const whole = 4 // times the Budget
	bands := t.first(tagSamplesPerPixel, 1)
	if bands > maxBands || pixels(b.across*b.width, b.down*b.height) > whole*budget.bytes/max(1, t.pixelBytes()) {
		return fmt.Errorf("decode TIFF: %w: it has %d bands of %d×%d pixels; leave out those that are not colours",
			ErrTooLarge, bands, t.first(tagWidth, 0), t.first(tagHeight, 0))
	}
	return nil
}

// pixelBytes is the size of a pixel, decompressed.
func (t tiffTags) pixelBytes() int64 {
	return int64(max(1, t.first(tagSamplesPerPixel, 1))) * int64(max(8, t.first(tagBitsPerSample, 1))) / 8
}

// bytes is the size of a block, decompressed.
func (b blocks) bytes(t tiffTags) int64 { return pixels(b.width, b.height) * t.pixelBytes() }

// readQuota is for the bytes of a file that its strips or tiles are read from. Usually
// they share none.
func readQuota(file []byte) *quota.Quota {
	const shared = 32 << 20
	return quota.New(2*int64(len(file)) + shared)
}
