package preprocess

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// developed is a JPEG whose left half is red and whose right half is blue.
func developed(t *testing.T, width, height int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.RGBA{R: 255, A: 255})
			if x >= width/2 {
				m.Set(x, y, color.RGBA{B: 255, A: 255})
			}
		}
	}
	var b bytes.Buffer
	must.Do(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

// directory is the first directory of a TIFF file, of short values; text is the time in DateTime. A directory with the
// values of a sensor is below it.
func directory(magic string, orientation uint16) []byte {
	var b bytes.Buffer
	put := func(v ...any) {
		for _, one := range v {
			_ = binary.Write(&b, binary.LittleEndian, one) // into memory
		}
	}
	b.WriteString(magic)
	put(uint32(8), uint16(3))
	put(uint16(274), uint16(3), uint32(1), uint32(orientation))
	put(uint16(306), uint16(2), uint32(20), uint32(50))
	put(uint16(330), uint16(4), uint32(1), uint32(70), uint32(0))
	b.WriteString("2024:05:31 17:05:09\x00")
	put(uint16(1), uint16(262), uint16(3), uint32(1), uint32(32803), uint32(0))
	return b.Bytes()
}

// rawFiles are made as cameras lay them out: a small and a large JPEG somewhere, and lossless JPEG, which is no
// preview.
func rawFiles(t *testing.T) map[string][]byte {
	small, large := developed(t, 16, 8), developed(t, 64, 32)
	lossless := "\xff\xd8\xff\xc4\x00\x05\x00abc\xff\xc3\x00\x0b\x0e\x20\x00\x20\x00\x01\x01\x11\x00\xff\xda" +
		"\x00\x08\x01\x01\x00\x01\x00\x00values\xff\xd9"
	pictures := strings.Join([]string{string(small), lossless, string(large), lossless}, "between")
	tiff := func(magic string) []byte { return append(directory(magic, 6), pictures...) }
	boxes := "\x00\x00\x00\x18ftypcrx \x00\x00\x00\x01crx isom"
	first := string(directory("II*\x00", 6))
	size := string(binary.BigEndian.AppendUint32(nil, uint32(8+len(first))))
	return map[string][]byte{
		"NEF, ARW, DNG, CR2": tiff("II*\x00"), "ORF": tiff("IIRO"), "RW2": tiff("IIU\x00"),
		"CR3": []byte(boxes + size + "CMT1" + first + pictures),
	}
}

// TestRaw: the largest preview of a raw photo is read, turned and dated as the camera says.
func TestRaw(t *testing.T) {
	b := must.Get(NewBudget(64 << 20))(t)
	for name, file := range rawFiles(t) {
		if format, err := FormatOf(file); err != nil || format != "raw" {
			t.Errorf("%s: %s, %v", name, format, err)
			continue
		}
		m, err := Decode(context.Background(), file, b, true)
		if err != nil || m.Width != 32 || m.Height != 64 {
			t.Errorf("%s: %v, %v", name, m, err)
			continue
		}
		top, bottom := m.Pix[3*(4*32+16):], m.Pix[3*(60*32+16):] // left is up once it is turned
		if top[0] < 200 || top[2] > 60 || bottom[0] > 60 || bottom[2] < 200 {
			t.Errorf("%s: %v above %v", name, top[:3], bottom[:3])
		}
		if shot := photometa.ShotOf(file); shot.Time.Format("2006-01-02T15:04:05") != "2024-05-31T17:05:09" {
			t.Errorf("%s: %v", name, shot)
		}
	}
	raf := append([]byte("FUJIFILMCCD-RAW 0201"), developed(t, 64, 32)...)
	if m, err := Decode(context.Background(), raf, b, true); err != nil || m.Width != 64 {
		t.Errorf("RAF: %v, %v", m, err)
	}
	if _, err := Decode(context.Background(), directory("II*\x00", 1), b, true); !errors.Is(err, ErrFormat) ||
		!strings.Contains(err.Error(), "without a JPEG preview") {
		t.Errorf("no preview: %v", err)
	}
}
