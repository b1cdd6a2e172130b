package photometa

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
)

// exifOf returns a TIFF file whose only tag is the orientation, of a type.
func exifOf(order binary.AppendByteOrder, kind uint16, value int) []byte {
	b := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12")
	}
	b = order.AppendUint16(b, kind)
	b = order.AppendUint32(b, 1)
	switch kind {
	case 3:
		b = order.AppendUint16(b, uint16(value))
	case 4:
		return append(order.AppendUint32(b, uint32(value)), 0, 0, 0, 0)
	default:
		b = append(b, byte(value))
	}
	return append(b, make([]byte, 8)...)
}

func exif(value int) []byte { return exifOf(binary.LittleEndian, 3, value) }

const packetHead = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF ` +
	`xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" `

func xmpAttribute(value int) []byte {
	return fmt.Appendf(nil,
		`%sxmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="%d"/></rdf:RDF></x:xmpmeta>`,
		packetHead, value)
}

func xmpElement(value int) []byte {
	return fmt.Appendf(nil, `%sxmlns:t='http://ns.adobe.com/tiff/1.0/'><t:Orientation> %d </t:Orientation>`,
		packetHead, value)
}

func segment(marker byte, body ...[]byte) []byte {
	whole := bytes.Join(body, nil)
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(whole)+2)), whole...)
}

func jpegOf(segments ...[]byte) []byte {
	return append(append([]byte("\xff\xd8"), bytes.Join(segments, nil)...), "\xff\xda\x00\x02scan\xff\xd9"...)
}

func chunk(kind string, body ...[]byte) []byte {
	whole := bytes.Join(body, nil)
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(whole))), kind...)
	return append(append(b, whole...), 0, 0, 0, 0)
}

func pngOf(chunks ...[]byte) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n"), bytes.Join(chunks, nil)...)
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(b) // into memory
	_ = w.Close()
	return out.Bytes()
}

// rawText is a profile as ImageMagick writes it.
func rawText(name string, b []byte) []byte {
	digits := hex.EncodeToString(b)
	var lines strings.Builder
	for len(digits) > 72 {
		lines.WriteString(digits[:72] + "\n")
		digits = digits[72:]
	}
	return fmt.Appendf(nil, "\n%s\n%8d\n%s%s\n", name, len(b), lines.String(), digits)
}

func riffOf(chunks ...[]byte) []byte {
	return append([]byte("RIFF\x00\x00\x00\x00WEBP"), bytes.Join(chunks, nil)...)
}

func riffChunk(id string, body []byte) []byte {
	b := append(binary.LittleEndian.AppendUint32([]byte(id), uint32(len(body))), body...)
	return append(b, make([]byte, len(body)&1)...)
}

// tiffWith returns a TIFF file with a packet of XMP and perhaps an orientation.
func tiffWith(packet []byte) []byte {
	b := []byte("II*\x00\x08\x00\x00\x00\x01\x00\xbc\x02\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, uint32(len(packet)))
	b = binary.LittleEndian.AppendUint32(b, 26)
	return append(append(b, 0, 0, 0, 0), packet...)
}

var (
	exifPrefix = []byte("Exif\x00\x00")
	xmpPrefix  = []byte(xmpMark)
)

// oriented are files whose orientation is known, by where it stands.
func oriented() map[string]struct {
	got  Metadata
	want int
} {
	type file = struct {
		got  Metadata
		want int
	}
	textOf := func(name string, b []byte) []byte { return append([]byte(name+"\x00\x00"), deflated(b)...) }
	return map[string]file{
		"JPEG, EXIF":              {JPEG(jpegOf(segment(0xe1, exifPrefix, exif(6)))), 6},
		"JPEG, EXIF big-endian":   {JPEG(jpegOf(segment(0xe1, exifPrefix, exifOf(binary.BigEndian, 3, 8)))), 8},
		"JPEG, EXIF of type LONG": {JPEG(jpegOf(segment(0xe1, exifPrefix, exifOf(binary.BigEndian, 4, 7)))), 7},
		"JPEG, EXIF of type BYTE": {JPEG(jpegOf(segment(0xe1, exifPrefix, exifOf(binary.LittleEndian, 1,
			5)))), 5},
		"JPEG, EXIF after others": {JPEG(jpegOf(segment(0xe0, []byte("JFIF")), segment(0xdb, []byte{1}),
			segment(0xe1, exifPrefix, exif(3)))), 3},
		"JPEG, XMP attribute": {JPEG(jpegOf(segment(0xe1, xmpPrefix, xmpAttribute(6)))), 6},
		"JPEG, XMP element":   {JPEG(jpegOf(segment(0xe1, xmpPrefix, xmpElement(8)))), 8},
		"JPEG, XMP before EXIF": {JPEG(jpegOf(segment(0xe1, xmpPrefix, xmpElement(8)), segment(0xe1,
			exifPrefix, exif(6)))), 6},
		"JPEG, EXIF out of range, XMP": {JPEG(jpegOf(segment(0xe1, exifPrefix, exif(0)), segment(0xe1, xmpPrefix,
			xmpElement(8)))), 8},
		"JPEG, out of range":          {JPEG(jpegOf(segment(0xe1, exifPrefix, exif(9)))), 1},
		"JPEG, after the scan":        {JPEG(append(jpegOf(), segment(0xe1, exifPrefix, exif(6))...)), 1},
		"PNG, eXIf":                   {PNG(pngOf(chunk("IHDR"), chunk("eXIf", exif(6)))), 6},
		"PNG, eXIf like JPEG's":       {PNG(pngOf(chunk("eXIf", exifPrefix, exif(6)))), 6},
		"PNG, eXIf after the picture": {PNG(pngOf(chunk("IDAT"), chunk("eXIf", exif(3)))), 3},
		"PNG, raw profile": {PNG(pngOf(chunk("zTXt", textOf("Raw profile type exif", rawText("exif",
			append(exifPrefix, exif(8)...)))))), 8},
		"PNG, raw profile, plain": {PNG(pngOf(chunk("tEXt", []byte("Raw profile type APP1\x00"), rawText(
			"APP1", append(exifPrefix, exif(7)...))))), 7},
		"PNG, raw profile of XMP": {PNG(pngOf(chunk("tEXt", []byte("Raw profile type xmp\x00"), rawText(
			"xmp", xmpAttribute(5))))), 5},
		"PNG, XMP": {PNG(pngOf(chunk("iTXt", []byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"),
			xmpAttribute(4)))), 4},
		"PNG, XMP compressed": {PNG(pngOf(chunk("iTXt", []byte("XML:com.adobe.xmp\x00\x01\x00\x00\x00"),
			deflated(xmpElement(2))))), 2},
		"PNG, raw profile before eXIf": {PNG(pngOf(chunk("tEXt", []byte("Raw profile type exif\x00"), rawText(
			"exif", exif(8))), chunk("eXIf", exif(6)))), 6},
		"WebP, EXIF after odd chunk": {WebP(riffOf(riffChunk("VP8 ", []byte("odd")), riffChunk("EXIF", exif(
			6)))), 6},
		"WebP, EXIF like JPEG's": {WebP(riffOf(riffChunk("EXIF", append(exifPrefix, exif(6)...)))), 6},
		"WebP, XMP":              {WebP(riffOf(riffChunk("XMP ", xmpAttribute(3)))), 3},
		"TIFF":                   {TIFF(exif(6)), 6},
		"TIFF, XMP":              {TIFF(tiffWith(xmpElement(6))), 6},
		"GIF, XMP": {GIF(append([]byte("GIF89a......\x21\xff\x0bXMP DataXMP"), xmpAttribute(
			6)...)), 6},
		"nothing":               {JPEG(jpegOf()), 1},
		"text of the same name": {PNG(pngOf(chunk("tEXt", []byte("Comment\x00"), xmpAttribute(6)))), 1},
	}
}

func TestOrientation(t *testing.T) {
	for name, c := range oriented() {
		if got := c.got.Orientation(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestProfileInParts(t *testing.T) {
	mark := []byte(iccMark)
	file := jpegOf(segment(0xe2, mark, []byte("\x02\x02def")), segment(0xe2, mark, []byte("\x01\x02abc")))
	if got := string(JPEG(file).ICC); got != "abcdef" {
		t.Errorf("JPEG: %q", got)
	}
	file = pngOf(chunk("iCCP", []byte("name\x00\x00"), deflated([]byte("abc"))))
	if got := string(PNG(file).ICC); got != "abc" {
		t.Errorf("PNG: %q", got)
	}
}

// TestCompressedTextsAreBounded: texts of a few bytes each may expand to far more.
func TestCompressedTextsAreBounded(t *testing.T) {
	bomb := deflated(make([]byte, 1<<20))
	one := chunk("zTXt", []byte("Raw profile type exif\x00\x00"), bomb)
	left := int64(mostText)
	var m Metadata
	for range 100 {
		m.text("zTXt", one[8:len(one)-4], &left)
	}
	if left != 0 {
		t.Errorf("%d bytes of the bound are left", left)
	}
}

// TestMutatedMetadata: whatever the metadata, reading it costs little.
func TestMutatedMetadata(t *testing.T) {
	files := [][]byte{
		jpegOf(segment(0xe1, exifPrefix, exif(6)), segment(0xe1, xmpPrefix, xmpElement(8))),
		pngOf(chunk("eXIf", exif(6)), chunk("iTXt", []byte("XML:com.adobe.xmp\x00\x01\x00\x00\x00"),
			deflated(xmpElement(2)))),
		pngOf(chunk("tEXt", []byte("Raw profile type exif\x00"), rawText("exif", exif(8)))),
		riffOf(riffChunk("EXIF", exif(6)), riffChunk("XMP ", xmpAttribute(3))), tiffWith(xmpAttribute(6)),
	}
	mutation.Each(t, 2000, func(i int, rng *rand.Rand) error {
		file := mutation.Bytes(rng, files[i%len(files)], files)
		for _, read := range []func([]byte) Metadata{JPEG, PNG, TIFF, WebP, GIF} {
			m := read(file)
			if o := m.Orientation(); o < 1 || o > 8 {
				return fmt.Errorf("orientation %d", o)
			}
		}
		return nil
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add(jpegOf(segment(0xe1, exifPrefix, exif(6)), segment(0xe1, xmpPrefix, xmpElement(8)), segment(0xe2,
		[]byte(iccMark), []byte("\x01\x01a"))))
	f.Add(pngOf(chunk("eXIf", exif(6)), chunk("iTXt", []byte("XML:com.adobe.xmp\x00\x01\x00\x00\x00"),
		deflated(xmpElement(2)))))
	f.Add(pngOf(chunk("tEXt", []byte("Raw profile type exif\x00"), rawText("exif", exif(8)))))
	f.Add(riffOf(riffChunk("EXIF", exif(6)), riffChunk("XMP ", xmpAttribute(3))))
	f.Add(tiffWith(xmpAttribute(6)))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, read := range []func([]byte) Metadata{JPEG, PNG, TIFF, WebP, GIF} {
			m := read(file)
			if o := m.Orientation(); o < 1 || o > 8 {
				t.Fatalf("orientation %d", o)
			}
		}
	})
}
