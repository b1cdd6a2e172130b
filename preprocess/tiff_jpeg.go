package preprocess

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image/jpeg"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/photometa"
)

const (
	tagJPEGTables = 347

	compressionJPEGOld = 6
	compressionJPEG    = 7
	photoYCbCr         = 6
)

// A tiffJPEG is a TIFF picture whose strips or tiles are JPEG pictures of their own, which
// share their tables (TIFF Technical Note 2). With the older compression they are whole.
type tiffJPEG struct {
	bands
	tables []byte
	// adobe says in a marker of Adobe's what the photometric interpretation does.
	adobe byte
	most  int64 // bytes that a block may take
}

// readTIFFJPEG returns nil if the picture is none of JPEG strips of one or three channels.
func readTIFFJPEG(file []byte, t *bands) *tiffJPEG {
	if t.compression != compressionJPEG && t.compression != compressionJPEGOld || t.separate || t.bytesPer != 1 ||
		t.samples != 1 && t.samples != 3 || len(t.offsets) == 0 {
		return nil
	}
	j := &tiffJPEG{bands: *t}
	if t.photometric == photoYCbCr {
		j.adobe = 1
	}
	tags, _ := photometa.Values(file, tagJPEGTables)
	for _, b := range tags[tagJPEGTables] {
		j.tables = append(j.tables, byte(b))
	}
	return j
}

func (t *tiffJPEG) plan(tags map[int]int, b *Budget) (p plan, err error) {
	t.blocks = blocksOf(imageConfig(t.width, t.height), tags)
	if err := t.blocks.check(b); err != nil {
		return p, err
	}
	// All blocks are as large as the first, and as deep, or smaller.
	const worst = 16 // bytes of a pixel, of a progressive block
	t.most = worst * pixels(t.blocks.width+2*blockSide, t.blocks.height+2*blockSide)
	if file, err := t.whole(0); err == nil {
		if h, err := readJPEGHeader(file); err == nil {
			t.most = min(t.most, h.goBytes())
		}
	}
	return plan{width: t.width, height: t.height, open: t.open,
		bytes: 3*pixels(t.width, t.height) + t.most + collectBytes}, nil
}

func (t *tiffJPEG) open(ctx context.Context) (raster, error) {
	n := t.blocks.across * t.blocks.down
	if len(t.offsets) < n || len(t.counts) < n {
		return nil, fmt.Errorf("%w: %d strips or tiles are listed, and the picture has %d", ErrCorrupt,
			min(len(t.offsets), len(t.counts)), n)
	}
	out := &Image{Width: t.width, Height: t.height, Pix: bytes.Repeat([]byte{128}, 3*t.width*t.height)}
	read, each := readQuota(t.file), int64(t.blocks.width)*int64(t.blocks.height)
	collected := &collecting{ctx: ctx}
	var first error
	var missing int64
	for i := range n {
		if err := cmp.Or(ctx.Err(), read.Take(int64(max(0, t.counts[i])))); err != nil {
			return nil, err
		}
		if err := t.block(ctx, out, i); err != nil {
			if first, missing = cmp.Or(first, err), missing+1; missing*mostMissing > int64(n) {
				return nil, first
			}
		}
		collected.count(int(3 * each))
	}
	return out, incomplete(ctx, int64(n)-missing, int64(n))
}

// block decodes a strip or tile to its place.
func (t *tiffJPEG) block(ctx context.Context, out *Image, i int) error {
	file, err := t.whole(i)
	if err != nil {
		return err
	}
	h, err := readJPEGHeader(file)
	if err != nil {
		return err
	}
	wide, high := t.blocks.width, t.blocks.height
	if h.width < 1 || h.width > wide || h.height < 1 || h.height > high || len(h.components) != t.samples ||
		h.goBytes() > t.most {
		return fmt.Errorf("%w: a strip of %d×%d pixels and %d channels", ErrCorrupt, h.width, h.height,
			len(h.components))
	}
	if _, err := checkScans(file, h.firstScan); err != nil {
		return err
	}
	m, err := jpeg.Decode(interruptible(ctx, h.raw(file)))
	if err != nil {
		return err
	}
	r, err := jpegRaster(h, m)
	if err != nil {
		return err
	}
	x0, y0 := i%t.blocks.across*wide, i/t.blocks.across*high
	across := min(h.width, t.width-x0)
	for y := range min(h.height, t.height-y0) {
		row := out.Pix[3*((y0+y)*t.width+x0):][:3*across]
		r.row(row, y, 0, across)
		for c := range row {
			row[c] ^= t.inverse()
		}
	}
	return nil
}

// inverse is what turns samples whose zero is white.
func (t *tiffJPEG) inverse() byte {
	if t.photometric == whiteIsZero {
		return 0xff
	}
	return 0
}

// whole returns a strip or tile as a JPEG file.
func (t *tiffJPEG) whole(i int) ([]byte, error) {
	strip, err := t.stored(i)
	if err != nil {
		return nil, err
	}
	soi := []byte{0xff, markerSOI}
	if !bytes.HasPrefix(strip, soi) {
		return nil, fmt.Errorf("%w: a strip is no JPEG", ErrCorrupt)
	}
	marker := append([]byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"), t.adobe)
	tables := bytes.TrimSuffix(bytes.TrimPrefix(t.tables, soi), []byte{0xff, markerEOI})
	return slices.Concat(soi, marker, tables, strip[len(soi):]), nil
}
