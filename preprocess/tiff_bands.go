package preprocess

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math"

	"golang.org/x/image/tiff/lzw"

	"github.com/seed-90d10d51/pipeline/internal/photometa"
)

// More tags, of which all values matter.
const (
	tagWidth           = 256
	tagHeight          = 257
	tagBitsPerSample   = 258
	tagSamplesPerPixel = 277
	tagPredictor       = 317
	tagTileOffsets     = 324
	tagTileByteCounts  = 325
	tagExtraSamples    = 338
	tagSampleFormat    = 339

	whiteIsZero   = 0
	photoRGB      = 2
	photoCMYK     = 5
	horizontal    = 2 // the predictors
	floatingPoint = 3
	integers      = 1 // the formats of samples
	floats        = 3
	maxBands      = 1024
	premultiplied = 1
	straightAlpha = 2
)

// bands are a TIFF picture of 8 or 16 bits, or of floating-point numbers of 32.
type bands struct {
	file                   []byte
	order                  binary.ByteOrder
	width, height          int
	samples, bytesPer      int // of a pixel, of a sample
	photometric            int
	compression, predictor int
	separate               bool
	float                  bool
	usual                  bool // x/image/tiff reads it
	alpha                  int  // index of the alpha channel, −1 if there is none
	chroma                 *chroma
	blocks                 blocks
	offsets, counts        []int
}

// readBands reads the directory; nil if it describes no such picture.
func readBands(file []byte) *bands {
	tags, order := photometa.Values(file, tagWidth, tagHeight, tagBitsPerSample, tagCompression, tagPhotometric,
		tagStripOffsets, tagSamplesPerPixel, tagStripByteCounts, tagPlanar, tagPredictor, tagTileWidth, tagTileOffsets,
		tagTileByteCounts, tagExtraSamples, tagSampleFormat)
	first := func(tag, otherwise int) int {
		if v := tags[tag]; len(v) > 0 {
			return v[0]
		}
		return otherwise
	}
	t := &bands{file: file, order: order, width: first(tagWidth, 0), height: first(tagHeight, 0), alpha: -1,
		samples: first(tagSamplesPerPixel, 1), photometric: first(tagPhotometric, -1),
		bytesPer: first(tagBitsPerSample, 1) / 8, compression: first(tagCompression, uncompressed),
		predictor: first(tagPredictor, 1), separate: first(tagPlanar, 1) == separatePlanes,
		float: first(tagSampleFormat, integers) == floats}
	own := map[int]int{whiteIsZero: 1, blackIsZero: 1, photoRGB: 3, photoCMYK: 4, photoYCbCr: 3}[t.photometric]
	extra := tags[tagExtraSamples]
	if len(extra) > 0 && (extra[0] == premultiplied || extra[0] == straightAlpha) && t.samples > own {
		t.alpha = own
	}
	usual := t.samples == 1 || t.photometric == photoRGB && (t.samples == 3 || t.samples == 4 && t.alpha == 3)
	t.usual = usual && (!t.separate || t.samples == 1) && !t.float
	if own == 0 || t.samples < own || t.samples > maxBands || !t.readsSamples(first(tagSampleFormat, integers)) {
		return nil
	}
	for _, bits := range tags[tagBitsPerSample] {
		if bits != 8*t.bytesPer {
			return nil
		}
	}
	t.offsets, t.counts = tags[tagStripOffsets], tags[tagStripByteCounts]
	if tags[tagTileWidth] != nil {
		t.offsets, t.counts = tags[tagTileOffsets], tags[tagTileByteCounts]
	}
	if t.photometric == photoYCbCr {
		t.chroma = readChroma(file, t)
	}
	return t
}

// readsSamples reports whether samples of a format are read.
func (t *bands) readsSamples(format int) bool {
	if format == floats {
		return t.bytesPer == 4 && t.photometric != photoCMYK && t.photometric != photoYCbCr &&
			(t.predictor == 1 || t.predictor == floatingPoint)
	}
	return format == integers && (t.bytesPer == 1 || t.bytesPer == 2) && t.predictor <= horizontal
}

// isCut reports whether strips or tiles of a picture lie beyond the end of the file.
func (t *bands) isCut() bool {
	for i := range min(len(t.offsets), len(t.counts)) {
		if t.offsets[i] > len(t.file) || t.counts[i] > len(t.file)-t.offsets[i] {
			return true
		}
	}
	return false
}

// slots is the number of samples of a pixel in the layouts of package image.
const slots = 4

func (t *bands) plan(tags map[int]int, b *Budget) (p plan, err error) {
	t.blocks = blocksOf(imageConfig(t.width, t.height), tags)
	if err := t.blocks.check(b); err != nil {
		return p, err
	}
	block := t.blockBytes()
	const whole = 4 // times the Budget: what may be decompressed of bands that are not used
	if all := pixels(t.blocks.across, t.blocks.down) * int64(t.planes()); all > whole*b.bytes/block {
		return p, fmt.Errorf("decode TIFF: %w: it has %d bands of %d×%d pixels; leave out those that are not colours",
			ErrTooLarge, t.samples, t.width, t.height)
	}
	block = max(block, pixels(t.blocks.width, t.blocks.height)*int64(t.bandsOfBlock())) // of chroma
	return plan{width: t.width, height: t.height, open: t.open,
		bytes: slots*int64(t.bytesPer)*pixels(t.width, t.height) + 3*block + decompressorBytes}, nil
}

func imageConfig(width, height int) image.Config { return image.Config{Width: width, Height: height} }

// bandsOfBlock returns the number of channels that are stored in one block.
func (t *bands) bandsOfBlock() int {
	if t.separate {
		return 1
	}
	return t.samples
}

func (t *bands) open(ctx context.Context) (raster, error) {
	n, planes := t.blocks.across*t.blocks.down, t.planes()
	if len(t.offsets) < n*planes || len(t.counts) < n*planes {
		return nil, fmt.Errorf("%w: %d strips or tiles are listed, and the picture has %d", ErrCorrupt,
			min(len(t.offsets), len(t.counts)), n*planes)
	}
	size := slots * t.bytesPer
	pix := make([]byte, size*t.width*t.height)
	block := make([]byte, t.blockBytes())
	read, convert := readQuota(t.file), t.chroma.converter(t.blocks)
	var missing, row int64 = 0, int64(t.blocks.width * t.bandsOfBlock() * t.bytesPer)
	for i := range n * planes {
		if err := cmp.Or(ctx.Err(), read.Take(int64(max(0, t.counts[i])))); err != nil {
			return nil, err
		}
		got, err := t.read(block, i)
		if err != nil && !isTruncated(err) {
			return nil, err
		}
		got = convert(got)
		got = got[:int64(len(got))/row*row]
		rows := min(t.blocks.height, t.height-i%n/t.blocks.across*t.blocks.height)
		missing += max(0, int64(rows)-int64(len(got))/row)
		t.undo(got)
		t.place(pix, got, i%n, i/n)
	}
	whole := int64(t.height) * int64(t.blocks.across) * int64(planes)
	if err := incomplete(ctx, whole-missing, whole); err != nil {
		return nil, err
	}
	return t.finish(ctx, pix)
}

// planes is the number of planes that are read.
func (t *bands) planes() int {
	if t.separate {
		return min(t.samples, t.wanted())
	}
	return 1
}

// wanted is the number of the first channels that are used.
func (t *bands) wanted() int {
	own := map[int]int{photoRGB: 3, photoCMYK: 4, photoYCbCr: 3}[t.photometric]
	return max(1, own, t.alpha+1)
}

// read decompresses a strip or tile, or what there is of it.
func (t *bands) read(block []byte, i int) ([]byte, error) {
	stored, err := t.stored(i)
	if err != nil {
		return nil, err
	}
	r, err := t.decompress(stored)
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(r, block)
	return block[:n], err
}

// stored returns the bytes of a strip or tile that are in the file.
func (t *bands) stored(i int) ([]byte, error) {
	from := uint64(max(0, t.offsets[i]))
	to := min(from+uint64(max(0, t.counts[i])), uint64(len(t.file)))
	if from >= to {
		return nil, io.ErrUnexpectedEOF
	}
	return t.file[from:to], nil
}

// decompresses reports whether the compression is known here.
func (t *bands) decompresses() bool {
	_, err := t.decompress(nil)
	return !errors.Is(err, ErrFormat)
}

func (t *bands) decompress(b []byte) (io.Reader, error) {
	switch t.compression {
	case uncompressed:
		return bytes.NewReader(b), nil
	case compressionLZW:
		return lzw.NewReader(bytes.NewReader(b), lzw.MSB, 8), nil
	case compressionDeflate, compressionDeflateOld:
		return zlib.NewReader(bytes.NewReader(b))
	}
	return nil, fmt.Errorf("%w: %d bands with compression %d; convert it to JPEG or PNG", ErrFormat, t.samples,
		t.compression)
}

// undo turns samples to big-endian and adds up what the predictor has subtracted.
func (t *bands) undo(block []byte) {
	n := t.bandsOfBlock()
	row := t.blocks.width * n * t.bytesPer
	switch {
	case t.float && t.predictor == floatingPoint:
		undoFloats(block, n, row)
		return
	case t.float:
		for i := 0; i+4 <= len(block); i += 4 {
			binary.BigEndian.PutUint32(block[i:], t.order.Uint32(block[i:]))
		}
		return
	case t.bytesPer == 2:
		for i := 0; i+2 <= len(block); i += 2 {
			binary.BigEndian.PutUint16(block[i:], t.order.Uint16(block[i:]))
		}
	}
	if t.predictor != horizontal {
		return
	}
	for ; len(block) >= row; block = block[row:] {
		for i := n * t.bytesPer; i < row; i += t.bytesPer {
			before := block[i-n*t.bytesPer:]
			if t.bytesPer == 1 {
				block[i] += before[0]
			} else {
				v := binary.BigEndian.Uint16(block[i:]) + binary.BigEndian.Uint16(before)
				binary.BigEndian.PutUint16(block[i:], v)
			}
		}
	}
}

// undoFloats undoes the floating-point predictor: the first bytes of all samples of a row
// stand before their second bytes, and each byte is a difference.
func undoFloats(block []byte, samples, row int) {
	mixed := make([]byte, row)
	for ; len(block) >= row; block = block[row:] {
		copy(mixed, block)
		for i := samples; i < row; i++ {
			mixed[i] += mixed[i-samples]
		}
		for i := range row / 4 {
			for k := range 4 {
				block[4*i+k] = mixed[k*(row/4)+i]
			}
		}
	}
}

// place copies the channels of a block that are used into the picture.
func (t *bands) place(pix, block []byte, at, plane int) {
	n, per := t.bandsOfBlock(), t.bytesPer
	x0, y0 := at%t.blocks.across*t.blocks.width, at/t.blocks.across*t.blocks.height
	for y := 0; y < t.blocks.height && y0+y < t.height; y++ {
		for x := 0; x < t.blocks.width && x0+x < t.width; x++ {
			src := (y*t.blocks.width + x) * n * per
			if src+n*per > len(block) {
				return
			}
			dst := pix[slots*per*((y0+y)*t.width+x0+x):]
			if t.separate {
				copy(dst[t.slot(plane)*per:][:per], block[src:])
				continue
			}
			for c := range min(n, t.wanted()) {
				copy(dst[t.slot(c)*per:][:per], block[src+c*per:])
			}
		}
	}
}

// slot is where a channel stands in the picture: alpha is the fourth.
func (t *bands) slot(channel int) int {
	if channel == t.alpha {
		return slots - 1
	}
	return min(channel, slots-1)
}

// finish makes a picture of the samples.
func (t *bands) finish(ctx context.Context, pix []byte) (raster, error) {
	if t.float {
		if err := t.roundFloats(ctx, pix); err != nil {
			return nil, err
		}
		pix, t.bytesPer = pix[:len(pix)/4], 1
	}
	per := t.bytesPer
	for p := pix; len(p) >= slots*per; p = p[slots*per:] {
		switch {
		case t.photometric < photoRGB:
			if t.photometric == whiteIsZero {
				for i := range per {
					p[i] ^= 0xff
				}
			}
			copy(p[per:2*per], p[:per])
			copy(p[2*per:3*per], p[:per])
		case t.photometric == photoCMYK:
			light := 255 - uint32(p[3*per])
			for c := range 3 {
				p[c*per] = byte(light) - div255(uint32(p[c*per])*light)
			}
		}
		if t.alpha < 0 || t.photometric == photoCMYK {
			p[3*per], p[4*per-1] = 0xff, 0xff
		}
	}
	if t.samples > t.wanted() {
		remark(ctx, RemarkBands)
	}
	rect := image.Rect(0, 0, t.width, t.height)
	if per == 1 {
		return newRaster(&image.NRGBA{Pix: pix, Stride: slots * t.width, Rect: rect})
	}
	m := &image.NRGBA64{Pix: pix, Stride: 2 * slots * t.width, Rect: rect}
	scaleBits(ctx, m, 0)
	return newRaster(m)
}

// roundFloats turns numbers of floating point to bytes at the beginning of pix. Files do not
// say which number is white: it is 1, 255 or 65535, the least that no sample of a colour
// exceeds by half.
func (t *bands) roundFloats(ctx context.Context, pix []byte) error {
	at := func(i int) float64 { return float64(math.Float32frombits(binary.BigEndian.Uint32(pix[4*i:]))) }
	most := 0.0
	for i := range len(pix) / 4 {
		if v := at(i); i%slots < slots-1 && v > most && !math.IsInf(v, 1) {
			most = v
		}
	}
	white := 1.0
	for _, larger := range []float64{255, 65535} {
		if most > white*1.5 {
			white = larger
		}
	}
	if most > white*1.5 {
		return fmt.Errorf("%w: its numbers of floating point go to %g, and white may be 1, 255 or 65535; scale them",
			ErrFormat, most)
	}
	remark(ctx, RemarkFloat)
	for i := range len(pix) / 4 {
		v, high := at(i), white
		if i%slots == slots-1 {
			high = min(high, 255) // alpha
			if v <= 1 {
				high = 1
			}
		}
		pix[i] = byte(min(255, max(0, v*255/high)) + 0.5) // NaN is 0
	}
	return nil
}
