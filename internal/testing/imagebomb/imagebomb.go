// Package imagebomb makes small image files that take much memory or time to
// decode, for tests: empty pictures, written from the formats' specifications.
package imagebomb

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	sof0 = 0xc0
	sof2 = 0xc2
	dht  = 0xc4
	rst0 = 0xd0
	sos  = 0xda
	dqt  = 0xdb
	dri  = 0xdd
)

// Progressive returns a progressive JPEG with a number of channels (1, 3 or 4)
// and scans. A scan of 32767 empty blocks takes two bytes.
func Progressive(width, height, channels, scans int) []byte {
	j := newJPEG(sof2, width, height, channels)
	j.scan(0, 0, all(channels)...)
	blocks := (width + 7) / 8 * ((height + 7) / 8)
	for range channels * blocks {
		j.value(0, 1) // a DC difference of zero: one bit
	}
	for i := range scans - 1 {
		j.scan(1, 63, i%channels)
		for left := blocks; left > 0; left -= min(left, 1<<15-1) {
			n := min(left, 1<<15-1) // EOBn: run of 2ⁿ + n bits blocks
			bits := 0
			for 1<<(bits+1) <= n {
				bits++
			}
			j.code(bits)
			j.value(n-1<<bits, bits)
		}
	}
	return j.end()
}

// Restarts returns a baseline JPEG, grey, with a restart marker after every
// block.
func Restarts(width, height int) []byte {
	j := newJPEG(sof0, width, height, 1)
	j.segment(dri, 0, 1)
	j.scan(0, 63, 0)
	blocks := (width + 7) / 8 * ((height + 7) / 8)
	for i := range blocks {
		j.value(0, 1) // DC
		j.code(0)     // end of block
		if i+1 < blocks {
			j.flush()
			j.Write([]byte{0xff, rst0 + byte(i%8)})
		}
	}
	return j.end()
}

// Baseline returns a baseline JPEG, grey, in which a block takes five bits.
func Baseline(width, height int) []byte {
	j := newJPEG(sof0, width, height, 1)
	j.scan(0, 63, 0)
	for range (width + 7) / 8 * ((height + 7) / 8) {
		j.value(0, 1) // DC
		j.code(0)     // end of block
	}
	return j.end()
}

type jpegWriter struct {
	bytes.Buffer
	pending uint32
	count   int
}

// newJPEG writes what precedes the first scan: one code of one bit for DC
// differences (zero), and 15 of four bits for EOB0 … EOB14.
func newJPEG(sof byte, width, height, channels int) *jpegWriter {
	j := &jpegWriter{}
	j.Write([]byte{0xff, 0xd8})
	j.segment(dqt, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	frame := []byte{8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), byte(channels)}
	for c := range channels {
		frame = append(frame, byte(c+1), 0x11, 0)
	}
	j.segment(sof, frame...)
	j.segment(dht, append([]byte{0x00, 1}, make([]byte, 16)...)...)
	runs := append([]byte{0x10, 0, 0, 0, 15}, make([]byte, 12)...)
	for n := range 15 {
		runs = append(runs, byte(n<<4))
	}
	j.segment(dht, runs...)
	return j
}

func (j *jpegWriter) segment(marker byte, body ...byte) {
	j.Write([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)})
	j.Write(body)
}

func all(channels int) (list []int) {
	for c := range channels {
		list = append(list, c)
	}
	return list
}

func (j *jpegWriter) scan(from, to byte, channels ...int) {
	j.flush()
	body := []byte{byte(len(channels))}
	for _, c := range channels {
		body = append(body, byte(c+1), 0)
	}
	j.segment(sos, append(body, from, to, 0)...)
}

func (j *jpegWriter) code(symbol int) { j.value(symbol, 4) }

func (j *jpegWriter) value(v, bits int) {
	j.pending = j.pending<<bits | uint32(v)
	j.count += bits
	for j.count >= 8 {
		b := byte(j.pending >> (j.count - 8))
		j.WriteByte(b)
		if b == 0xff {
			j.WriteByte(0)
		}
		j.count -= 8
	}
}

// flush pads with ones.
func (j *jpegWriter) flush() {
	if j.count > 0 {
		pad := 8 - j.count
		j.value(1<<pad-1, pad)
	}
}

func (j *jpegWriter) end() []byte {
	j.flush()
	j.Write([]byte{0xff, 0xd9})
	return j.Bytes()
}

// Kinds of PNG (ISO/IEC 15948, table 11.1).
const (
	Grey = 0
	RGB  = 2
	RGBA = 6
)

// PNG returns a black or transparent PNG of a kind, with 8 or 16 bits,
// interlaced (Adam7) or not.
func PNG(width, height, kind, depth int, interlaced bool) []byte {
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	passes := [][4]int{{0, 0, 1, 1}} // first column and row, steps
	method := byte(0)
	if interlaced {
		passes = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
			{0, 1, 1, 2}}
		method = 1
	}
	header = append(header, byte(depth), byte(kind), 0, 0, method)
	pixelBytes := map[int]int{Grey: 1, RGB: 3, RGBA: 4}[kind] * depth / 8
	rows := 0
	for _, p := range passes {
		w, h := (width-p[0]+p[2]-1)/p[2], (height-p[1]+p[3]-1)/p[3]
		if w > 0 && h > 0 {
			rows += h * (1 + w*pixelBytes)
		}
	}
	file := chunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", header)
	file = chunk(file, "IDAT", deflated(rows))
	return chunk(file, "IEND", nil)
}

func chunk(file []byte, id string, body []byte) []byte {
	file = binary.BigEndian.AppendUint32(file, uint32(len(body)))
	at := len(file)
	file = append(append(file, id...), body...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[at:]))
}

// deflated returns n zero bytes in zlib's format.
func deflated(n int) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.CopyN(w, zeros{}, int64(n)) // a bytes.Buffer does not fail
	_ = w.Close()
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
