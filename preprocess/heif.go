package preprocess

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/heif"
)

// planHEIF reads the boxes of a HEIC or AVIF file. Crop, rotation and mirroring
// (clap, irot, imir) are part of the picture, so an EXIF orientation, which
// repeats them, is not applied again.
func planHEIF(file []byte, b *Budget, side int) (p plan, err error) {
	q := b.header()
	m, err := heif.Parse(file, q)
	if err != nil {
		return p, err
	}
	if side > 0 {
		m = thumbnailOf(m, side)
	}
	p, err = planPicture(m, b)
	p.bytes += q.Most()
	return p, err
}

// thumbnailOf returns the smallest stored thumbnail whose shorter side is at
// least side, or the picture itself. A thumbnail of another shape, or of a
// picture with alpha, is not used.
func thumbnailOf(m *heif.Picture, side int) *heif.Picture {
	const most = 0.02 // relative difference of the aspect ratios
	wide, high := shown(m)
	best, area := m, pixels(wide, high)
	for _, t := range m.Thumbnails {
		w, h := shown(t)
		ratio := float64(w) * float64(high) / (float64(h) * float64(wide))
		if min(w, h) >= side && pixels(w, h) < area && math.Abs(ratio-1) <= most && m.Alpha == nil {
			best, area = t, pixels(w, h)
		}
	}
	return best
}

// shown returns the size of the upright picture.
func shown(m *heif.Picture) (width, height int) {
	if m.Orientation >= 5 {
		return m.Crop.Height, m.Crop.Width
	}
	return m.Crop.Width, m.Crop.Height
}

func planPicture(m *heif.Picture, b *Budget) (p plan, err error) {
	f := formatHEIC
	if m.Codec == heif.AV1 {
		f = formatAVIF
	}
	if err := b.checkSize(f, m.Width, m.Height); err != nil {
		return p, err
	}
	p = plan{format: f, bytes: m.Bytes(), profile: m.Profile}
	p.width, p.height = shown(m)
	if m.Orientation != 1 {
		p.bytes += uprightBytes(m.Width, m.Height)
	}
	open := func(ctx context.Context) (raster, error) { return openAVIF(ctx, b.heif, m) }
	if m.Codec == heif.HEVC {
		convert, err := colourOf(m.Colour)
		if err != nil {
			return p, err
		}
		open = func(ctx context.Context) (raster, error) { return openHEIC(ctx, b.heif, m, convert) }
	}
	p.open = func(ctx context.Context) (raster, error) {
		if err := incomplete(ctx, int64(m.Tiles-m.Missing), int64(m.Tiles)); err != nil {
			return nil, err
		}
		r, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if c := m.Crop; c.Width != m.Width || c.Height != m.Height {
			r = &window{inner: r, x: c.X, y: c.Y, w: c.Width, h: c.Height}
		}
		if m.Orientation != 1 {
			r = upright(r, m.Orientation)
		}
		return r, nil
	}
	return p, nil
}

func openAVIF(ctx context.Context, d *heif.Decoders, m *heif.Picture) (raster, error) {
	c, err := d.AV1(ctx, m)
	if err != nil {
		return nil, err
	}
	return &pixelRaster{width: c.Width, height: c.Height, pix: c.Pix, stride: 4 * c.Width, pixelBytes: 4,
		convert: premultipliedRow(1)}, nil
}

func openHEIC(ctx context.Context, d *heif.Decoders, m *heif.Picture, convert colourRow) (raster, error) {
	planes, err := d.HEVC(ctx, m)
	if err != nil {
		return nil, err
	}
	r := newHEICRaster(planes, convert)
	if m.Alpha == nil {
		return r, nil
	}
	alpha, err := d.HEVC(ctx, m.Alpha)
	if err != nil {
		return nil, err
	}
	return &alphaRaster{raster: r, alpha: newPlane(alpha.Y, alpha.Width, alpha.Width, alpha.Height, 1, 1)}, nil
}

func newHEICRaster(p *heif.Planes, convert colourRow) raster {
	if p.Cb == nil {
		return &pixelRaster{width: p.Width, height: p.Height, pix: p.Y, stride: p.Width, pixelBytes: 1,
			convert: greyRow(1)}
	}
	w := (p.Width + p.Across - 1) / p.Across
	return &ycbcrRaster{
		luma:     newPlane(p.Y, p.Width, p.Width, p.Height, 1, 1),
		cb:       newPlane(p.Cb, w, p.Width, p.Height, p.Across, p.Down),
		cr:       newPlane(p.Cr, w, p.Width, p.Height, p.Across, p.Down),
		convert:  convert,
		upsample: replicate(p.Across, p.Down), // as libheif does
		chroma:   make([]uint32, w*p.Across),
	}
}

// An alphaRaster composites a picture over white. Its alpha may have another
// size.
type alphaRaster struct {
	raster
	alpha plane
}

func (r *alphaRaster) row(dst []byte, y, x0, x1 int) {
	r.raster.row(dst, y, x0, x1)
	w, h := r.size()
	line := r.alpha.line(y * r.alpha.height / h)
	for x := x0; x < x1; x++ {
		a := uint32(line[x*r.alpha.width/w])
		d := dst[3*(x-x0):][:3]
		for c := range d {
			d[c] = blendWhite(uint32(d[c]), a)
		}
	}
}

// colourOf returns the conversion of a colour description (ITU-T H.273, 8.3) in
// fixed point with 16 bits. What is not specified is BT.601, as in libheif.
func colourOf(c heif.Colour) (colourRow, error) {
	kr, kb := 0.299, 0.114 // BT.601
	switch c.Matrix {
	case heif.MatrixIdentity:
		return planarRGBRow, nil
	case heif.MatrixBT709:
		kr, kb = 0.2126, 0.0722
	case heif.MatrixFCC:
		kr, kb = 0.30, 0.11
	case heif.MatrixBT2020:
		kr, kb = 0.2627, 0.0593
	case heif.MatrixUnspecified, heif.MatrixBT601, heif.MatrixBT601 + 1:
		if c.FullRange {
			return ycbcrRow, nil
		}
	default:
		return nil, fmt.Errorf("%w: colours of matrix %d; convert it to JPEG", heif.ErrUnsupported, c.Matrix)
	}
	scale, zero, spread := 1.0, int32(0), 1.0
	if !c.FullRange {
		scale, zero, spread = 255.0/219, 16, 255.0/224
	}
	fix := func(v float64) int32 { return int32(v*(1<<16) + 0.5) }
	kg := 1 - kr - kb
	luma := fix(scale)
	crRed, cbBlue := fix(2*(1-kr)*spread), fix(2*(1-kb)*spread)
	crGreen, cbGreen := fix(2*(1-kr)*kr/kg*spread), fix(2*(1-kb)*kb/kg*spread)
	return func(dst, first []byte, chroma []uint32) {
		chroma = chroma[:len(first)]
		for i, l := range first {
			uv := chroma[i]
			y := (int32(l)-zero)*luma + halfUnit
			cb, cr := int32(uv&0xff)-128, int32(uv>>16)-128
			d := dst[3*i : 3*i+3 : 3*i+3]
			d[0], d[1], d[2] = clip8((y+crRed*cr)>>16), clip8((y-cbGreen*cb-crGreen*cr)>>16), clip8((y+cbBlue*cb)>>16)
		}
	}, nil
}

// planarRGBRow reads planes in the order green, blue, red.
func planarRGBRow(dst, green []byte, rest []uint32) {
	rest = rest[:len(green)]
	for i, v := range green {
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0], d[1], d[2] = byte(rest[i]>>16), v, byte(rest[i])
	}
}
