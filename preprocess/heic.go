package preprocess

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/preprocess/internal/heif"
	"github.com/seed-90d10d51/pipeline/preprocess/internal/vips"
)

// planHEIC reads the header of a file. Crop, rotation and mirroring (clap, irot, imir) are
// part of the picture, so an EXIF orientation, which repeats them, is not applied again.
func (d *Decoders) planHEIC(file []byte, b *Budget, side int) (p plan, err error) {
	if d.heif == nil {
		return p, fmt.Errorf("read image: %w: this is HEIC, which libheif decodes: %s", ErrFormat,
			imagelib.Heif().Remedy())
	}
	most := heif.Limits{Pixels: b.pictures.size, Memory: b.pictures.size}
	h, err := d.heif.Header(file, most)
	if err != nil {
		return p, heifError(err)
	}
	if err := b.checkSize(formatHEIC, h.Width, h.Height); err != nil {
		return p, err
	}
	thumbnail := heif.Thumbnail{Width: h.Width, Height: h.Height}
	if side > 0 {
		thumbnail = smallest(h, side)
	}
	channels := int64(3)
	if h.Alpha {
		channels = 4
	}
	p = plan{width: thumbnail.Width, height: thumbnail.Height, profile: h.Profile,
		bytes: h.Bytes() + channels*pixels(thumbnail.Width, thumbnail.Height)}
	p.open = func(ctx context.Context) (raster, error) {
		m, err := d.heif.Decode(ctx, file, most, thumbnail.ID)
		if err != nil {
			return nil, heifError(err)
		}
		if m.Width != p.width || m.Height != p.height {
			return nil, fmt.Errorf("%w: its header says something else than its picture", ErrCorrupt)
		}
		if thumbnail.ID == 0 {
			if err := incomplete(ctx, int64(h.Tiles-m.Missing), int64(h.Tiles)); err != nil {
				return nil, err
			}
		}
		s := &samples{layout: layout{alpha: m.Channels == 4}, pix: m.Pix}
		s.Header = vips.Header{Width: m.Width, Height: m.Height, Bands: m.Channels, Space: vips.SpaceSRGB}
		return s.picture(ctx)
	}
	return p, nil
}

// smallest returns the smallest stored thumbnail whose shorter side is at
// least side, or the picture itself. A thumbnail of another shape, or of a
// picture with alpha, is not used.
func smallest(h heif.Header, side int) heif.Thumbnail {
	const most = 0.02 // relative difference of the aspect ratios
	best := heif.Thumbnail{Width: h.Width, Height: h.Height}
	for _, t := range h.Thumbnails {
		if t.Width < 1 || t.Height < 1 {
			continue
		}
		ratio := float64(t.Width) * float64(h.Height) / (float64(t.Height) * float64(h.Width))
		if min(t.Width, t.Height) >= side && pixels(t.Width, t.Height) < pixels(best.Width, best.Height) &&
			math.Abs(ratio-1) <= most && !h.Alpha {
			best = t
		}
	}
	return best
}

// heifError wraps an error of libheif in one of ours.
func heifError(err error) error {
	advice := map[error]string{ErrTruncated: "copy the file again from its source",
		ErrCorrupt: "copy the file again from its source",
		ErrTooLarge: "it takes more than preprocess.memory, or its header describes more than a photo has; raise it " +
			"or convert it to JPEG",
		ErrFormat: "this kind of HEIC cannot be decoded; convert it to JPEG"}
	for theirs, ours := range map[error]error{heif.ErrShort: ErrTruncated, heif.ErrDamaged: ErrCorrupt,
		heif.ErrMemory: ErrTooLarge, heif.ErrUnsupported: ErrFormat} {
		if errors.Is(err, theirs) {
			return fmt.Errorf("decode HEIC: %w: %s (%w)", ours, advice[ours], err)
		}
	}
	return err
}
