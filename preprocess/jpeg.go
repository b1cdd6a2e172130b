package preprocess

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/preprocess/internal/vips"
)

// Scaled decoding is used if the shorter side is at least scaleFrom times its
// resized length, and leaves at least scaleKeep times that length for the
// resize.
const (
	scaleFrom = 4
	scaleKeep = 2
)

// reduction returns the divisor for scaled decoding, 1, 2, 4 or 8, if the
// shorter side is resized to size.
func reduction(size, width, height int) int {
	short := min(width, height)
	if short < scaleFrom*size {
		return 1
	}
	by := 1
	for by < 8 && short/(2*by) >= scaleKeep*size {
		by *= 2
	}
	return by
}

// A jpegFile is a file that libvips decodes at 1/by of its size.
type jpegFile struct {
	native
	*jpegHeader
	by       int
	complete bool
}

// planJPEG plans a file whose shorter side is resized to size. The header is read here: libvips need not
// open the file for that, and what takes long or much is refused before.
func (d *Decoders) planJPEG(file []byte, b *Budget, size int) (p plan, err error) {
	h, err := readJPEGHeader(file)
	if err != nil {
		return p, err
	}
	if err := b.checkSize(formatJPEG, h.width, h.height); err != nil {
		return p, err
	}
	j := &jpegFile{jpegHeader: h, by: 1}
	if h.plain() {
		j.by = reduction(size, h.width, h.height)
	}
	if j.complete, err = checkScans(file, h.firstScan); err != nil {
		return p, err
	}
	j.native = native{library: d.vips, format: formatJPEG, source: vips.Source{
		File: file, Loader: "jpegload_buffer", Watched: true,
		Options: fmt.Sprintf("access=sequential,fail-on=warning,shrink=%d", j.by)}}
	j.Header = vips.Header{Width: h.width / j.by, Height: h.height / j.by, Bands: len(h.components),
		Space: vips.SpaceSRGB, Profile: metadata(file, formatJPEG).ICC}
	if j.Bands == 4 {
		j.Space = vips.SpaceCMYK
	}
	if p, err = j.plan(0, 64); err != nil {
		return p, err
	}
	p.width, p.height, p.by, p.open = h.width, h.height, j.by, j.open
	p.bytes += h.nativeBytes()
	if !j.complete {
		p.bytes += int64(len(file))
	}
	return p, nil
}

// plain reports whether a file is grey or YCbCr, the channels that all decoders
// interpret alike.
func (h *jpegHeader) plain() bool {
	return len(h.components) == 1 || len(h.components) == 3 && !h.isRGB()
}

// nativeBytes is what libjpeg allocates: rows, and the coefficients (int16) of a
// picture in several scans.
func (h *jpegHeader) nativeBytes() int64 {
	n := 256*int64(h.width) + 16*int64(h.height)
	if h.progressive || h.firstComponents < len(h.components) {
		n += 2 * blockSamples * h.blocks()
	}
	return n
}

// eoi is the marker at the end of a JPEG file.
var eoi = []byte{0xff, markerEOI}

// open decodes the picture, of which little may be missing at the end: like libjpeg, it leaves that grey.
func (j *jpegFile) open(ctx context.Context) (raster, error) {
	file := j.source.File
	if !j.complete {
		j.source.File = slices.Concat(file, eoi)
	}
	s, rows, err := j.good(ctx)
	if err == nil && rows == 0 && !j.progressive {
		j.source.File = j.rebuilt()
		s, rows, err = j.good(ctx)
	}
	if err == nil && rows < j.Height && j.progressive {
		s, rows, err = j.withoutLastScan(ctx)
	}
	if err == nil {
		err = incomplete(ctx, int64(rows), int64(j.Height))
	}
	if err != nil {
		return nil, err
	}
	if !j.complete {
		remark(ctx, RemarkEnd)
	}
	s.Height, s.pix = rows, s.pix[:rows*s.RowBytes()]
	r, err := s.picture(ctx)
	if err != nil {
		return nil, err
	}
	if rows < j.Height {
		r = &canvas{width: j.Width, height: j.Height, background: [3]byte{128, 128, 128}, frame: r}
	}
	w, h := (j.width+j.by-1)/j.by, (j.height+j.by-1)/j.by
	if w != j.Width || h != j.Height {
		r = &stretched{r, w, h}
	}
	return r, nil
}

// good decodes and returns how many rows come before any damage. libvips tells of damage before the next rows that
// it is asked for.
func (j *jpegFile) good(ctx context.Context) (s *samples, rows int, err error) {
	s, r, err := j.read(ctx)
	switch unit := j.rowsOfUnit() / j.by; {
	case err != nil || r.Rows == j.Height && !r.Warned:
		rows = r.Rows
	case r.Rows == j.Height:
		rows = (j.Height - 1) / unit * unit
	case unit > vips.RowsAtOnce:
		rows = r.Rows / unit * unit
	default:
		rows = max(0, r.Rows-vips.RowsAtOnce)
	}
	return s, rows, err
}

// rowsOfUnit is the number of rows that are coded together.
func (h *jpegHeader) rowsOfUnit() int {
	most := 1
	for _, c := range h.components {
		most = max(most, c.v)
	}
	return blockSide * most
}

// rebuilt returns the file with a header of what decoding needs: what is odd about that of some
// files is a warning as damage is.
func (j *jpegFile) rebuilt() []byte {
	file := j.source.File
	out := []byte{0xff, markerSOI}
	switch {
	case j.jfif:
		out = append(out, "\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"...)
	case j.adobe >= 0:
		out = append(out, "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"...)
		out = append(out, byte(min(j.adobe, 2)))
	}
	for at := 2; at < j.firstScan; {
		marker, start, err := nextMarker(file, at)
		if err != nil || start >= j.firstScan {
			break
		}
		_, end, err := segment(file, marker, start)
		if err != nil {
			break
		}
		switch marker {
		case markerSOF0, markerSOF1, markerSOF2, markerDHT, markerDQT, markerDRI, markerAPP2:
			out = append(out, file[start:end]...)
		}
		at = end
	}
	scan := bytes.Clone(file[j.firstScan:])
	if len(scan) > 4 && len(scan) >= 4+2*int(scan[4])+4 { // all coefficients
		copy(scan[5+2*int(scan[4]):], []byte{0, blockSamples - 1, 0})
	}
	return append(out, scan...)
}

// withoutLastScan leaves out the last scan, which is cut or damaged, if the others have all
// of the first channel but its last bit.
func (j *jpegFile) withoutLastScan(ctx context.Context) (*samples, int, error) {
	file := j.source.File
	starts := scans(file, j.firstScan)
	if n := max(0, len(starts)-1); n == 0 || !j.detailed(file, starts[:n]) {
		return nil, 0, fmt.Errorf("%w: only %d of its scans are complete; copy the file again from its source",
			ErrTruncated, n)
	}
	j.complete = false
	j.source.File = slices.Concat(file[:starts[len(starts)-1]], eoi)
	return j.good(ctx)
}

// detailed reports whether scans have all coefficients of the first channel, to the
// last bit but one.
func (h *jpegHeader) detailed(file []byte, starts []int) bool {
	var seen [blockSamples]bool
	for _, start := range starts {
		body, _, err := segment(file, markerSOS, start)
		if err != nil || len(body) < 1 || len(body) < 1+2*int(body[0])+3 {
			return false
		}
		n := int(body[0])
		from, to, low := int(body[1+2*n]), int(body[2+2*n]), body[3+2*n]&15
		for k := from; k <= to && k < blockSamples && low <= 1 && int(body[1]) == h.components[0].id; k++ {
			seen[k] = true
		}
	}
	return !slices.Contains(seen[:], false)
}

// scans returns where the scans of a file start.
func scans(file []byte, first int) (starts []int) {
	for at := first; ; {
		marker, start, err := nextMarker(file, at)
		if err != nil || marker == markerEOI {
			return starts
		}
		if marker == markerSOS {
			starts = append(starts, start)
		}
		if _, at, err = segment(file, marker, start); err != nil {
			return starts
		}
	}
}

// A stretched raster repeats its last row and column: at reduced size libvips leaves out those that the
// picture covers only in part.
type stretched struct {
	raster
	width, height int
}

func (r *stretched) size() (width, height int) { return r.width, r.height }

func (r *stretched) row(dst []byte, y, x0, x1 int) {
	w, h := r.raster.size()
	from, to := min(x0, w-1), min(x1, w)
	r.raster.row(dst, min(y, h-1), from, to)
	for at := 3 * (to - from); at < 3*(x1-x0); at += 3 {
		copy(dst[at:at+3], dst[at-3:at])
	}
}
