package preprocess

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/disintegration/imaging"
)

// thumbnailQuality is the JPEG quality of thumbnails.
const thumbnailQuality = 82

// Thumbnail returns a JPEG of the upright picture that fits side×side pixels (1
// to 4096); a smaller picture keeps its size. It is for display: the resize is
// imaging's, not the model's. Errors are as for Decode.
func Thumbnail(file []byte, lim Limits, side int) (thumbnail []byte, err error) {
	if side < 1 || side > maxSide {
		return nil, fmt.Errorf("preprocess: thumbnail side is %d: allowed is 1 to %d", side, maxSide)
	}
	img, err := Decode(file, lim, true)
	if err != nil {
		return nil, err
	}
	return shrink(img, side)
}

// Thumbnail is like the function Thumbnail, with the Preprocessor's limits and
// its native decoder, if any.
func (p *Preprocessor) Thumbnail(file []byte, side int) (thumbnail []byte, err error) {
	f := formatUnknown
	defer guard(&f, &err)
	if side >= 1 && side <= maxSide {
		if m, done := p.openNative(file, side); done {
			return shrink(reorient(m, orientation(file, formatJPEG), nil), side)
		}
	}
	return Thumbnail(file, p.lim, side)
}

func shrink(img *Image, side int) ([]byte, error) {
	var b bytes.Buffer
	small := imaging.Fit(img.NRGBA(), side, side, imaging.Linear)
	if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("preprocess: encode thumbnail: %w", err)
	}
	return b.Bytes(), nil
}

// NRGBA copies the picture into the standard library's type. Nothing else is
// ever passed to imaging: that library starts goroutines, in which a crafted
// palette would cause a panic that cannot be recovered (CVE-2023-36308).
func (m *Image) NRGBA() *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, m.Width, m.Height))
	for i, j := 0, 0; i+3 <= len(m.Pix) && j+4 <= len(out.Pix); i, j = i+3, j+4 {
		out.Pix[j], out.Pix[j+1], out.Pix[j+2], out.Pix[j+3] = m.Pix[i], m.Pix[i+1], m.Pix[i+2], 255
	}
	return out
}
