package preprocess

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestForeignFormatsAreNamed(t *testing.T) {
	box := func(brand string, more ...string) string {
		return "\x00\x00\x00\x20ftyp" + brand + "\x00\x00\x00\x00" + strings.Join(more, "")
	}
	for name, file := range map[string]string{
		"raw":         box("crx ", "isom"),
		"video":       box("isom", "mp42"),
		"JPEG XL":     "\xff\x0a\x00\x00",
		"djxl":        "\x00\x00\x00\x0cJXL \r\n\x87\n",
		"JPEG 2000":   "\x00\x00\x00\x0cjP  \r\n\x87\n",
		"PSD":         "8BPS\x00\x01",
		"SVG":         "<?xml version='1.0'?>\n<!-- x --><svg xmlns='...'>",
		"PDF":         "%PDF-1.7",
		"HTML":        "\xef\xbb\xbf <!DOCTYPE html><html>",
		"BigTIFF":     "II+\x00\x08\x00",
		"Git LFS":     "version https://git-lfs.github.com/spec/v1\noid sha256:00",
		"icon":        "\x00\x00\x01\x00\x01\x00",
		"not JPEG":    "just some text",
		"PNM":         "P6\n1 1\n255\nabc",
		"ZIP archive": "PK\x03\x04",
	} {
		_, err := Decode(t.Context(), []byte(file), DefaultBudget(), true)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEmptyAndZeroFiles(t *testing.T) {
	if _, err := Decode(t.Context(), nil, DefaultBudget(), true); !errors.Is(err, ErrEmpty) {
		t.Errorf("no bytes: %v", err)
	}
	if _, err := Decode(t.Context(), make([]byte, 100), DefaultBudget(), true); !errors.Is(err, ErrCorrupt) {
		t.Errorf("zero bytes: %v", err)
	}
	sent := bytes.ReplaceAll(readFile(t, "images", "RGB.png"), []byte("\r\n"), []byte("\n"))
	if _, err := Decode(t.Context(), sent, DefaultBudget(), true); !errors.Is(err, ErrCorrupt) ||
		!strings.Contains(err.Error(), "as if it were text") {
		t.Errorf("a PNG sent as text: %v", err)
	}
}

func chunkPNG(id string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, id...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func appendChunk(b []byte, id string, body []byte) []byte {
	b = append(b, id...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	return append(b, make([]byte, len(body)&1)...)
}

func riff(chunks []byte) []byte {
	b := append([]byte("RIFF"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(chunks)+4))
	return append(append(b, "WEBP"...), chunks...)
}

// bombs returns headers that claim far more pixels than anyone should allocate.
func bombs() map[string][]byte {
	le := binary.LittleEndian
	header := binary.BigEndian.AppendUint32(nil, 1<<30)
	header = binary.BigEndian.AppendUint32(header, 1<<30)
	png := append([]byte("\x89PNG\r\n\x1a\n"), chunkPNG("IHDR", append(header, 8, 2, 0, 0, 0))...)
	bmp := append([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00"), make([]byte, 40)...)
	le.PutUint32(bmp[14:], 40)
	le.PutUint32(bmp[18:], 1<<24)
	le.PutUint32(bmp[22:], 1<<24)
	le.PutUint16(bmp[26:], 1)
	le.PutUint16(bmp[28:], 24)
	tiff := []byte("II*\x00\x08\x00\x00\x00\x04\x00")
	for _, e := range [][2]uint32{{256, 1 << 24}, {257, 1 << 24}, {258, 8}, {262, 1}} {
		tiff = le.AppendUint16(tiff, uint16(e[0]))
		tiff = le.AppendUint16(tiff, 4)
		tiff = le.AppendUint32(tiff, 1)
		tiff = le.AppendUint32(tiff, e[1])
	}
	frame := "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00" +
		"\xff\xc0\x00\x0b\x08\xff\xff\xff\xff\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"
	canvas := riff(appendChunk(appendChunk(nil, "VP8X", []byte{2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
		"ANMF", append(make([]byte, 16), appendChunk(nil, "VP8L", []byte{0x2f, 0, 0, 0, 0, 0, 0})...)))
	return map[string][]byte{
		"png": png, "bmp": bmp, "tiff": tiff, "jpeg": []byte(frame),
		"gif":         []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00;"),
		"webp":        riff(appendChunk(nil, "VP8L", []byte{0x2f, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0})),
		"webp canvas": canvas,
	}
}

func TestBombsAreRefusedByTheirHeader(t *testing.T) {
	for name, file := range bombs() {
		if _, err := Decode(t.Context(), file, DefaultBudget(), true); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTruncatedFiles truncates every seed at many offsets: never a panic,
// always one of our errors, and for the common formats the right one.
func TestTruncatedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes hundreds of files in one goroutine")
	}
	for name, file := range seedImages(t) {
		for cut := 1; cut < len(file); cut += 1 + len(file)/23 {
			_, err := Decode(t.Context(), file[:cut], DefaultBudget(), true)
			if err != nil && !hasKind(err) {
				t.Errorf("%s cut at %d: unknown kind: %v", name, cut, err)
			}
		}
		half := file[:len(file)/2+8]
		_, err := Decode(t.Context(), half, DefaultBudget(), true)
		if isPhoto(name) && len(file) > 700 && !errors.Is(err, ErrTruncated) {
			t.Errorf("%s cut in half: %v", name, err)
		}
	}
}

func isPhoto(name string) bool {
	return strings.HasSuffix(name, ".jpg") || strings.HasSuffix(name, ".png") || strings.HasSuffix(name, ".webp")
}

func TestTooManyScansAreRefused(t *testing.T) {
	file := readFile(t, "images", "progressive.jpg")
	h := must.Get(readJPEGHeader(file))(t)
	_, start, err := nextMarker(file, h.firstScan+2)
	for err == nil && file[start+1] != markerSOS {
		_, start, err = nextMarker(file, start+2)
	}
	if err != nil {
		t.Fatal(err)
	}
	scan := file[h.firstScan:start]
	bomb := append([]byte(nil), file[:h.firstScan]...)
	for range maxScans + 1 {
		bomb = append(bomb, scan...)
	}
	if _, err := Decode(t.Context(), append(bomb, 0xff, markerEOI), DefaultBudget(), false); !errors.Is(err,
		ErrTooLarge) {
		t.Errorf("%d scans: %v", maxScans+1, err)
	}
}

func TestUnsupportedVariantSaysConvert(t *testing.T) {
	file := append([]byte(nil), readFile(t, "images", "grey.jpg")...)
	for i := 2; ; i += 2 + int(file[i+2])<<8 + int(file[i+3]) {
		if file[i+1] == markerSOF0 {
			file[i+4] = 12 // bits per sample
			break
		}
	}
	_, err := Decode(t.Context(), file, DefaultBudget(), false)
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "convert") {
		t.Error(err)
	}
}
