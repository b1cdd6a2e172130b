package preprocess

import (
	"bytes"
	"fmt"

	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// planRaw plans the preview of a camera's raw photo: the largest JPEG in the file, which the camera has
// developed.
func (d *Decoders) planRaw(file []byte, b *Budget, why purpose) (p plan, err error) {
	jpeg := preview(file)
	if jpeg == nil {
		return p, fmt.Errorf("read image: %w: this is a raw photo without a JPEG preview in it; export it as JPEG",
			ErrFormat)
	}
	if p, err = d.plan(formatJPEG, jpeg, b, why); err == nil && p.profile == nil {
		p.profile = metadata(jpeg, formatJPEG).ICC
	}
	p.format = formatRaw
	return p, err
}

// preview returns the JPEG with the most pixels in a file, nil if there is none. Lossless JPEG, in which some cameras
// keep the raw values, is none.
func preview(file []byte) (best []byte) {
	most := int64(0)
	for rest := file; ; {
		at := bytes.Index(rest, []byte("\xff\xd8\xff"))
		if at < 0 {
			return best
		}
		rest = rest[at:]
		h, err := readJPEGHeader(rest)
		if err != nil {
			rest = rest[1:]
			continue
		}
		end := len(rest) // of one that is cut
		if n := bytes.Index(rest[h.firstScan:], eoi); n >= 0 {
			end = h.firstScan + n + len(eoi)
		}
		if n := pixels(h.width, h.height); n > most {
			most, best = n, rest[:end]
		}
		rest = rest[end:]
	}
}

// rawMetadata returns what a raw photo says, and behind that what its preview says.
func rawMetadata(file []byte) photometa.Metadata {
	m := photometa.Raw(file)
	if jpeg := preview(file); jpeg != nil {
		of := photometa.JPEG(jpeg)
		m.EXIF, m.XMP = append(m.EXIF, of.EXIF...), append(m.XMP, of.XMP...)
	}
	return m
}
