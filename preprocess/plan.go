package preprocess

import "context"

// A plan is how a file is to be decoded, and what that takes.
type plan struct {
	format        format
	width, height int // as in the header
	by            int // decoded at 1/by of its size; 0 means 1
	// bytes is at least what open and the raster allocate, garbage included.
	bytes int64
	// profile is the ICC profile, nil if the metadata has it.
	profile []byte
	// open stops soon after the context ends.
	open func(ctx context.Context) (raster, error)
}

// A purpose says how much of a picture is wanted.
type purpose struct {
	side int // if not 0: a stored thumbnail will do whose shorter side is at least this
	size int // the length that the shorter side is resized to; fullSize for all pixels
}

// fixedBytes covers what decoders allocate for any file: windows, tables,
// readers, rows of usual length.
const fixedBytes = 256 << 10

// planFile reads a file's header.
func planFile(file []byte, b *Budget, why purpose) (p plan, err error) {
	f := formatUnknown
	defer guard(&f, &err)
	if f, err = identify(file); err != nil {
		return p, err
	}
	if p, err = machine(b).plan(f, file, b, why); err != nil {
		return p, decodeError(f, err)
	}
	if p.format == "" {
		p.format = f
	}
	p.bytes += fixedBytes
	if p.profile == nil {
		p.profile = metadata(file, f).ICC
	}
	p.open = inSRGB(p.open, p.profile)
	return p, nil
}

// plan chooses the decoder. BMP and GIF have their own: libvips has none for the one, and Go a better one for the
// other.
func (d *Decoders) plan(f format, file []byte, b *Budget, why purpose) (plan, error) {
	switch {
	case f == formatBMP:
		return planBMP(file, b)
	case f == formatGIF:
		return planGIF(file, b)
	case f == formatRaw:
		return d.planRaw(file, b, why)
	case f == formatHEIC:
		return d.planHEIC(file, b, why.side)
	case d.vips == nil:
		return planPortable(f, file, b)
	case f == formatJPEG:
		return d.planJPEG(file, b, why.size)
	case f == formatTIFF:
		return d.planTIFF(file, b)
	case f == formatPNG:
		return d.planPNG(file, b)
	case f == formatWebP:
		return d.planWebP(file, b)
	}
	return d.planAVIF(file, b)
}

// size returns the size of the decoded picture.
func (p plan) size() (width, height int) {
	by := max(1, p.by)
	return (p.width + by - 1) / by, (p.height + by - 1) / by
}

// pixels returns the number of pixels of a size that checkSize has accepted.
func pixels(width, height int) int64 { return int64(width) * int64(height) }
