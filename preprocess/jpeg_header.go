package preprocess

import (
	"bytes"
	"fmt"
	"io"
)

// maxScans limits the scans of a progressive JPEG: encoders write about ten,
// and every scan, however short, costs a pass over the picture.
const maxScans = 64

// Markers of a JPEG file (ITU-T T.81, table B.1) and parts of its segments.
const (
	markerSOF0  = 0xc0
	markerSOF1  = 0xc1
	markerSOF2  = 0xc2
	markerSOF3  = 0xc3
	markerDHT   = 0xc4
	markerSOF9  = 0xc9
	markerSOF10 = 0xca
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerDQT   = 0xdb
	markerDRI   = 0xdd
	markerAPP0  = 0xe0
	markerAPP2  = 0xe2 // of ICC profiles
	markerAPP14 = 0xee
	markerTEM   = 0x01
)

// A component is one channel of a frame with its sampling factors.
type component struct{ id, h, v int }

// A jpegHeader is what image/jpeg does not expose: how to interpret the
// channels, and where the first scan starts.
type jpegHeader struct {
	width, height int
	depth         int // bits of a sample
	components    []component
	jfif          bool
	adobe         int // APP14 transform, −1 without the segment
	progressive   bool
	other         bool // a kind of frame that nothing reads
	frame         int  // offset of the SOF marker
	firstScan     int  // offset of the first SOS marker
	// firstComponents is the number of channels in the first scan.
	firstComponents int
}

// readJPEGHeader walks the segments up to the first scan.
func readJPEGHeader(file []byte) (*jpegHeader, error) {
	h := &jpegHeader{adobe: -1}
	for at := 2; ; {
		marker, start, err := nextMarker(file, at)
		if err != nil {
			return nil, err
		}
		if marker == markerSOS {
			h.firstScan = start
			if start+4 < len(file) {
				h.firstComponents = int(file[start+4])
			}
			return h, h.check()
		}
		if marker == markerEOI {
			return nil, fmt.Errorf("%w: no picture before the end marker", ErrCorrupt)
		}
		body, end, err := segment(file, marker, start)
		if err != nil {
			return nil, err
		}
		h.take(marker, body)
		if marker >= markerSOF0 && marker <= markerSOF2 {
			h.frame = start
		}
		at = end
	}
}

// nextMarker finds the next marker at or after an offset and returns it with
// the offset of its 0xff.
func nextMarker(file []byte, at int) (marker byte, start int, err error) {
	for at < len(file) {
		skip := bytes.IndexByte(file[at:], 0xff)
		if skip < 0 {
			break
		}
		at += skip
		for at+1 < len(file) && file[at+1] == 0xff {
			at++
		}
		if at+1 < len(file) && file[at+1] != 0 {
			return file[at+1], at, nil
		}
		at++
	}
	return 0, 0, io.ErrUnexpectedEOF
}

// segment returns the body of the segment of the marker at start, and the
// offset after it.
func segment(file []byte, marker byte, start int) (body []byte, end int, err error) {
	body = file[start+2:]
	if marker == markerTEM || (marker >= markerRST0 && marker <= markerSOI) {
		return nil, start + 2, nil
	}
	if len(body) < 2 {
		return nil, 0, io.ErrUnexpectedEOF
	}
	n := int(body[0])<<8 | int(body[1])
	if n < 2 {
		return nil, 0, fmt.Errorf("%w: segment %#02x has length %d", ErrCorrupt, marker, n)
	}
	if n > len(body) {
		return nil, 0, io.ErrUnexpectedEOF
	}
	return body[2:n], start + 2 + n, nil
}

func (h *jpegHeader) take(marker byte, body []byte) {
	switch marker {
	case markerSOF0, markerSOF1, markerSOF2, markerSOF9, markerSOF10:
		h.takeFrame(body)
		h.progressive = marker == markerSOF2 || marker == markerSOF10
	case markerSOF3, markerSOF3 + 2, markerSOF3 + 3, markerSOF3 + 4, markerSOF10 + 1, markerSOF10 + 3, markerSOF10 + 4,
		markerSOF10 + 5:
		h.other = true
	case markerAPP0:
		h.jfif = h.jfif || bytes.HasPrefix(body, []byte("JFIF\x00"))
	case markerAPP14:
		if len(body) >= 12 && bytes.HasPrefix(body, []byte("Adobe")) {
			h.adobe = int(body[11])
		}
	}
}

func (h *jpegHeader) takeFrame(body []byte) {
	if len(body) < 6 || len(body) < 6+3*int(body[5]) {
		return
	}
	h.depth = int(body[0])
	h.height = int(body[1])<<8 | int(body[2])
	h.width = int(body[3])<<8 | int(body[4])
	h.components = nil
	for c := range int(body[5]) {
		p := body[6+3*c:]
		h.components = append(h.components, component{id: int(p[0]), h: int(p[1] >> 4), v: int(p[1] & 15)})
	}
}

func (h *jpegHeader) check() error {
	if h.other || h.components != nil && h.depth != 8 {
		return fmt.Errorf("decode JPEG: %w: this kind of JPEG, of %d bits, cannot be decoded; convert it to baseline "+
			"JPEG or PNG", ErrFormat, h.depth)
	}
	for _, c := range h.components {
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 {
			return fmt.Errorf("%w: sampling factors %d×%d", ErrCorrupt, c.h, c.v)
		}
	}
	return nil
}

// isRGB follows libjpeg's default_decompress_parms for three components.
func (h *jpegHeader) isRGB() bool {
	if h.jfif || len(h.components) != 3 {
		return false
	}
	if h.adobe >= 0 {
		return h.adobe == 0
	}
	c := h.components
	return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B'
}

// blockSamples is the size of a block: 8×8.
const (
	blockSide    = 8
	blockSamples = blockSide * blockSide
)

// blocks returns the number of blocks of all channels, whose sizes are padded
// to whole units of the largest sampling factors.
func (h *jpegHeader) blocks() int64 {
	if len(h.components) == 1 { // its factors mean nothing
		return int64((h.width+7)/8) * int64((h.height+7)/8)
	}
	maxH, maxV, sum := 1, 1, 0
	for _, c := range h.components {
		maxH, maxV, sum = max(maxH, c.h), max(maxV, c.v), sum+c.h*c.v
	}
	across, down := 8*maxH, 8*maxV
	return int64((h.width+across-1)/across) * int64((h.height+down-1)/down) * int64(sum)
}

// checkScans walks the rest of the file, refuses more than maxScans scans, and
// reports whether there is an end marker.
func checkScans(file []byte, firstScan int) (complete bool, err error) {
	scans := 0
	for at := firstScan; ; {
		marker, start, err := nextMarker(file, at)
		if err != nil {
			return false, nil
		}
		if marker == markerEOI {
			return true, nil
		}
		if marker == markerSOS {
			scans++
		}
		if scans > maxScans {
			return false, fmt.Errorf("decode JPEG: %w: more than %d scans; save it as baseline JPEG",
				ErrTooLarge, maxScans)
		}
		_, end, err := segment(file, marker, start)
		if err != nil {
			return false, nil
		}
		at = end
	}
}
