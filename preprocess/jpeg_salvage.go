package preprocess

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"runtime"
	"slices"
)

// eoi is the marker at the end of a JPEG file.
var eoi = []byte{0xff, markerEOI}

// salvage reads what can be read of a file that image/jpeg refuses with cause: of a
// picture in one pass the rows before the damage, of a progressive one the scans. Like
// libjpeg, it leaves grey what is missing.
func (h *jpegHeader) salvage(ctx context.Context, file []byte, cause error) (raster, error) {
	if m, err := h.upTo(ctx, file, h.height, len(file)); err == nil { // only the end marker is missing
		remark(ctx, RemarkEnd)
		return jpegRaster(h, m)
	}
	if h.progressive {
		return h.salvageScans(ctx, file, cause)
	}
	best, rows := h.before(ctx, file)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if best == nil {
		return nil, cause
	}
	part := *h
	part.height = rows
	if err := incomplete(ctx, int64(part.height), int64(h.height)); err != nil {
		return nil, err
	}
	r, err := jpegRaster(&part, best)
	return &canvas{width: h.width, height: h.height, background: [3]byte{128, 128, 128}, frame: r}, err
}

// salvagedPixels bounds what is decoded to find where a file is damaged: pictures of up
// to 40 megapixels are read to the last row, larger ones to a few per cent.
const salvagedPixels, leastTries = 1 << 29, 3

// before returns the rows before the damage, nil if there are none. It halves the rows
// between those that can be read and those that cannot, from where enough can be.
func (h *jpegHeader) before(ctx context.Context, file []byte) (best image.Image, rows int) {
	unit := h.rowsOfUnit()
	good, bad := 0, (h.height+unit-1)/unit
	next := bad - bad/mostMissing
	for tries := max(leastTries, salvagedPixels/pixels(h.width, h.height)); tries > 0 && bad-good > 1; tries-- {
		m, err := h.upTo(ctx, file, min(h.height, next*unit), len(file))
		if err == nil {
			best, good = m, next
		} else {
			bad = next
		}
		next = (good + bad) / 2
	}
	return best, min(h.height, good*unit)
}

// rowsOfUnit is the number of rows that are coded together.
func (h *jpegHeader) rowsOfUnit() int {
	most := 1
	for _, c := range h.components {
		most = max(most, c.v)
	}
	return blockSide * most
}

// upTo decodes the first rows, from the bytes before end.
func (h *jpegHeader) upTo(ctx context.Context, file []byte, rows, end int) (image.Image, error) {
	runtime.GC() // the budget counts one picture
	const heightAt = 5
	lower := bytes.Clone(file[:h.firstScan])
	lower[h.frame+heightAt], lower[h.frame+heightAt+1] = byte(rows>>8), byte(rows)
	return jpeg.Decode(interruptible(ctx, io.MultiReader(h.raw(lower), bytes.NewReader(file[h.firstScan:end]),
		bytes.NewReader(eoi))))
}

// salvageScans leaves out the last scan, which is cut or damaged, if the others have all
// of the first channel but its last bit.
func (h *jpegHeader) salvageScans(ctx context.Context, file []byte, cause error) (raster, error) {
	starts := scans(file, h.firstScan)
	if n := max(0, len(starts)-1); n == 0 || !h.detailed(file, starts[:n]) {
		return nil, fmt.Errorf("%w: only %d of its scans are complete; copy the file again from its source",
			ErrTruncated, n)
	}
	m, err := h.upTo(ctx, file, h.height, starts[len(starts)-1])
	if err != nil {
		return nil, cause
	}
	remark(ctx, RemarkEnd)
	return jpegRaster(h, m)
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
