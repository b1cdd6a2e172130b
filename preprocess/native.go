package preprocess

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/icc"
	"github.com/seed-90d10d51/pipeline/preprocess/internal/vips"
)

// A native picture is one that libvips decodes.
type native struct {
	library *vips.Library
	format  format
	source  vips.Source
	vips.Header
	layout
	extra bool // it has channels that are not used
}

// readNative reads the header of a file.
func (d *Decoders) readNative(f format, file []byte, b *Budget, options string) (*native, error) {
	loaders := map[format]string{formatJPEG: "jpegload_buffer", formatPNG: "pngload_buffer",
		formatTIFF: "tiffload_buffer", formatWebP: "webpload_buffer", formatAVIF: "heifload_buffer"}
	v := &native{library: d.vips, format: f,
		source: vips.Source{File: file, Loader: loaders[f], Options: "access=sequential" + options}}
	var err error
	if v.Header, err = v.library.Header(v.source); err != nil {
		return nil, nativeError(f, err)
	}
	v.alpha = v.Bands == 2 || v.Bands == 4 && v.Space != vips.SpaceCMYK
	return v, b.checkSize(f, v.Width, v.Height)
}

// nativeError wraps an error of libvips in one of ours.
func nativeError(f format, err error) error {
	if !errors.Is(err, vips.ErrDecode) {
		return err
	}
	if strings.HasSuffix(err.Error(), ": ") { // it says no more
		err = vips.ErrDecode
	}
	text := strings.ToLower(err.Error())
	for part, kind := range map[string]error{"premature": ErrTruncated, "end of file": ErrTruncated,
		"truncated": ErrTruncated, "not enough": ErrTruncated, "end of data": ErrTruncated,
		"unsupported": ErrFormat, "not supported": ErrFormat, "limit": ErrTooLarge} {
		if strings.Contains(text, part) {
			return fmt.Errorf("decode %s: %w (%w)", f, kind, err)
		}
	}
	return fmt.Errorf("decode %s: %w (%w)", f, ErrCorrupt, err)
}

// plan plans the picture: perPixel is what the loader takes for each pixel beside its samples,
// rows what it takes at once.
func (v *native) plan(perPixel int64, rows int) (p plan, err error) {
	if err := v.convert(); err != nil {
		return p, err
	}
	const rowsBytes = vips.BytesAtOnce // of them there are copies
	const perRow = 40                  // of garbage, that calls of the library leave
	area, row := pixels(v.Width, v.Height), int64(v.Width)*int64(v.Bands)*4
	samples := area * int64(v.used()*max(1, v.SampleBytes()))
	return plan{width: v.Width, height: v.Height, open: v.open, profile: v.Profile,
		bytes: samples + perPixel*area + int64(min(rows, 4*v.Height))*row + 3*min(rowsBytes, samples) +
			perRow*int64(v.Height)}, nil
}

func (v *native) used() int {
	s := samples{Header: v.Header, layout: v.layout}
	return s.used()
}

// errLab refuses pictures whose colours are Lab: libvips fails on what Pillow writes.
func errLab() error {
	return fmt.Errorf("decode TIFF: %w: colours of Lab; convert it to JPEG or PNG", ErrFormat)
}

// convert chooses what libvips does with the samples, if anything: it takes the colours of a profile of
// tables to sRGB, and leaves out channels that are not used.
func (v *native) convert() error {
	then := func(operation, options string, bands int) {
		v.source.Then, v.source.ThenOptions = operation, options
		v.Bands, v.Format, v.Space = bands, vips.Bytes, vips.SpaceSRGB
	}
	switch profiled := len(v.Profile) > 0 && icc.New(v.Profile) == nil && !icc.IsMatrix(v.Profile); {
	case v.Space == vips.SpaceLab, v.Space == vips.SpaceLabPacked, v.Space == vips.SpaceLabShort:
		return errLab()
	case profiled && v.Format != vips.Floats && v.library.CanTransform(v.source):
		extra := 0
		if v.alpha {
			extra = 1
		}
		then("icc_transform", "output-profile=srgb,embedded=true,intent=perceptual", 3+extra)
	case v.SampleBytes() == 0:
		return fmt.Errorf("%w: samples of this kind; convert it to JPEG or PNG", ErrFormat)
	case v.Bands > v.used():
		v.extra = true
		v.source.Then, v.source.ThenOptions = "extract_band", fmt.Sprintf("band=0,n=%d", v.used())
	}
	return nil
}

// read decodes the rows that can be decoded.
func (v *native) read(ctx context.Context) (s *samples, r vips.Result, err error) {
	s = &samples{layout: v.layout}
	r, err = v.library.Rows(ctx, v.source, func(h vips.Header) error {
		larger := h.Bands > v.used() || h.SampleBytes() > max(1, v.SampleBytes())
		if h.Width != v.Width || h.Height != v.Height || larger {
			return fmt.Errorf("%w: its header says something else than its picture", ErrCorrupt)
		}
		if s.Header = h; s.pix == nil {
			s.pix = make([]byte, h.RowBytes()*h.Height)
		}
		return nil
	}, func(y int, rows []byte) { copy(s.pix[y*s.RowBytes():], rows) })
	return s, r, nativeError(v.format, err)
}

// open decodes the picture, of which little may be missing.
func (v *native) open(ctx context.Context) (raster, error) {
	s, r, err := v.read(ctx)
	if err == nil && r.Rows == 0 {
		err = fmt.Errorf("%w: none of its pixels can be decoded", ErrCorrupt)
	}
	if err == nil {
		err = incomplete(ctx, int64(r.Rows), int64(v.Height))
	}
	if err != nil {
		return nil, err
	}
	if v.extra {
		remark(ctx, RemarkBands)
	}
	return s.picture(ctx)
}

// planAVIF plans the first picture of a file.
func (d *Decoders) planAVIF(file []byte, b *Budget) (plan, error) {
	v, err := d.readNative(formatAVIF, file, b, ",fail-on=error")
	if err != nil {
		return plan{}, err
	}
	const perPixel, perDeepPixel = 18, 32
	if v.Format == vips.Bytes {
		return v.plan(perPixel, 16)
	}
	return v.plan(perDeepPixel, 16)
}
