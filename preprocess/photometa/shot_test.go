package photometa

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestShotsOfPillow: what Pillow writes (testdata/shots.py) is read from every format.
func TestShotsOfPillow(t *testing.T) {
	clock := time.Date(2025, 3, 30, 2, 59, 58, 0, time.UTC)
	for kind, want := range map[string]Shot{
		"full":  {Time: clock.Add(250*time.Millisecond - time.Hour), Zoned: true, Camera: "HC600", Serial: "S/N 007"},
		"plain": {Time: clock, Camera: "HC600", Serial: "S/N 007"}, "none": {}, "unset": {Camera: "HC600"},
		"placed": {Camera: "HC600", Placed: true, Latitude: -(33 + 51/60. + 35.9/3600), Longitude: 151.21},
	} {
		for _, name := range []string{"a.jpg", "a.png", "a.webp"} {
			got := must.Get(ReadShot(filepath.Join("testdata", kind+"-"+name)))(t)
			if !got.Time.Equal(want.Time) || got.Zoned != want.Zoned || got.Camera != want.Camera ||
				got.Serial != want.Serial || got.Placed != want.Placed ||
				math.Abs(got.Latitude-want.Latitude)+math.Abs(got.Longitude-want.Longitude) > 1e-7 {
				t.Errorf("%s-%s: %+v, want %+v", kind, name, got, want)
			}
		}
	}
}

// shotFile is a TIFF file of two directories with the given texts.
func shotFile(order binary.AppendByteOrder, taken, fraction, serial string) []byte {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	tag := func(tag, kind uint16, n, value uint32) {
		b = order.AppendUint16(order.AppendUint16(b, tag), kind)
		b = order.AppendUint32(order.AppendUint32(b, n), value)
	}
	b = order.AppendUint16(order.AppendUint32(b, 8), 1)
	tag(tagEXIF, 4, 1, 26)
	b = order.AppendUint16(order.AppendUint32(b, 0), 3)
	at := uint32(26 + 2 + 3*12)
	for i, text := range []string{taken, fraction, serial} {
		tag([]uint16{tagTaken, tagSubSecTaken, tagSerial}[i], 2, uint32(len(text)), at)
		at += uint32(len(text))
	}
	return append(b, taken+fraction+serial...)
}

// TestShotOfOddities: fractions, texts of another type, and pointers into nowhere.
func TestShotOfOddities(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		s := ShotOf(shotFile(order, "2025:06:14 10:11:12\x00", "5h0s5\x00", "A\x01B\xff  \x00C"))
		if !s.Time.Equal(time.Date(2025, 6, 14, 10, 11, 12, 0, time.UTC)) || s.Serial != "AB" || s.Zoned {
			t.Errorf("%+v", s)
		}
		if s := ShotOf(shotFile(order, "2025:06:31 10:11:12\x00", "12345\x00", "serial\x00")); !s.Time.IsZero() {
			t.Errorf("the 31st of June: %+v", s)
		}
	}
	heic := append([]byte("\x00\x00\x00\x18ftypheic....mdat....Exif\x00\x00"),
		shotFile(binary.BigEndian, "2025:06:14 10:11:12\x00", "123456\x00", "serial")...)
	if s := ShotOf(heic); s.Serial != "serial" || s.Time.Nanosecond() != 123456000 {
		t.Errorf("HEIC: %+v", s)
	}
}

// placeFile is a TIFF file whose directory of GPS has a latitude and a longitude of three
// rational numbers each.
func placeFile(order binary.AppendByteOrder, south, west string, angles [6][2]uint32) []byte {
	b := shotFile(order, "", "", "")[:4]
	put := func(tag, kind uint16, n, value uint32) {
		b = order.AppendUint16(order.AppendUint16(b, tag), kind)
		b = order.AppendUint32(order.AppendUint32(b, n), value)
	}
	letter := func(tag uint16, text string) {
		put(tag, 2, 2, 0)
		copy(b[len(b)-4:], text)
	}
	b = order.AppendUint16(order.AppendUint32(b, 8), 1)
	put(tagGPS, 4, 1, 22)
	b = order.AppendUint16(b, 4)
	letter(tagLatitudeRef, south)
	put(tagLatitude, 5, 3, 72)
	letter(tagLongitudeRef, west)
	put(tagLongitude, 5, 3, 96)
	for _, a := range angles {
		b = order.AppendUint32(order.AppendUint32(b, a[0]), a[1])
	}
	return b
}

// TestPlaces: what is no place on Earth, and what a receiver without a fix writes, is none.
func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		south, west         string
		angles              [6][2]uint32
		placed              bool
		latitude, longitude float64
	}{
		"north-west": {"N", "W", [6][2]uint32{{48, 1}, {30, 1}, {36, 1}, {11, 1}, {15, 1}, {0, 1}},
			true, 48.51, -11.25},
		"decimals": {"N", "E", [6][2]uint32{{4851, 100}, {0, 1}, {0, 1}, {1125, 100}, {0, 0}, {0, 0}},
			true, 48.51, 11.25},
		"no fix":  {"N", "E", [6][2]uint32{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}, false, 0, 0},
		"unset":   {"N", "E", [6][2]uint32{}, false, 0, 0},
		"by zero": {"N", "E", [6][2]uint32{{48, 0}, {0, 1}, {0, 1}, {11, 1}, {0, 1}, {0, 1}}, false, 0, 0},
		"too far": {"N", "E", [6][2]uint32{{91, 1}, {0, 1}, {0, 1}, {11, 1}, {0, 1}, {0, 1}}, false, 0, 0},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			s := ShotOf(placeFile(order, c.south, c.west, c.angles))
			if s.Placed != c.placed || math.Abs(s.Latitude-c.latitude)+math.Abs(s.Longitude-c.longitude) > 1e-9 {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestShotsAnywhere: EXIF behind other blocks, after the pixels, or where the boxes of HEIC and AVIF say.
func TestShotsAnywhere(t *testing.T) {
	exif := shotFile(binary.BigEndian, "2025:06:14 10:11:12\x00", "123456\x00", "serial 7")
	filler := make([]byte, 3*headOfFile)
	var jpeg [][]byte
	for range 3 * headOfFile / 60_000 {
		jpeg = append(jpeg, segment(0xe2, filler[:60_000]))
	}
	files := map[string][]byte{
		"JPEG":      jpegOf(append(jpeg, segment(0xe1, exifPrefix, exif))...),
		"PNG":       pngOf(chunk("IHDR"), chunk("IDAT", filler), chunk("eXIf", exif), chunk("IEND")),
		"WebP":      riffOf(riffChunk("VP8 ", filler[1:]), riffChunk("EXIF", exif)),
		"HEIC":      heifOf("heic", 0, exif, filler),
		"AVIF":      heifOf("avif", 1, append([]byte("Exif\x00\x00"), exif...), filler),
		"HEIC, v2":  heifOf("heix", 2, exif, nil),
		"HEIC, cut": heifOf("heic", 0, exif, filler)[:3*headOfFile],
	}
	for name, file := range files {
		path := filepath.Join(t.TempDir(), "photo")
		must.Do(t, os.WriteFile(path, file, 0o600))
		s, err := ReadShot(path)
		if whole := name != "HEIC, cut"; err != nil || (s.Serial == "serial 7") != whole || s.Time.IsZero() == whole {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// heifOf is a file with an item of EXIF after other data, in the given version of the box iloc.
func heifOf(brand string, version byte, exif, before []byte) []byte {
	order := binary.BigEndian
	box := func(kind string, parts ...[]byte) []byte {
		body := bytes.Join(parts, nil)
		return append(append(order.AppendUint32(nil, uint32(len(body)+8)), kind...), body...)
	}
	wide := func(v uint32) []byte {
		if version == 2 {
			return order.AppendUint32(nil, v)
		}
		return order.AppendUint16(nil, uint16(v))
	}
	item := append(order.AppendUint32(nil, 0), exif...)
	at := uint32(0)
	make := func() []byte {
		infe := box("infe", []byte{2, 0, 0, 0, 0, 9, 0, 0}, []byte("Exif\x00"))
		if version == 2 {
			infe = box("infe", []byte{3, 0, 0, 0, 0, 0, 0, 9, 0, 0}, []byte("Exif\x00"))
		}
		other := box("infe", []byte{2, 0, 0, 0, 0, 1, 0, 0}, []byte("hvc1\x00"))
		method := []byte{}
		if version > 0 {
			method = []byte{0, 0}
		}
		iloc := [][]byte{{version, 0, 0, 0, 0x44, 0x00}, wide(1), wide(9), method, {0, 0, 0, 1},
			order.AppendUint32(nil, at), order.AppendUint32(nil, uint32(len(item)))}
		iinf := box("iinf", []byte{0, 0, 0, 0, 0, 2}, other, infe)
		meta := box("meta", []byte{0, 0, 0, 0}, iinf, box("iloc", iloc...))
		ftyp := box("ftyp", []byte(brand), []byte{0, 0, 0, 0}, []byte("mif1"))
		return slices.Concat(ftyp, meta, box("free", before))
	}
	at = uint32(len(make())) + 8
	return append(make(), box("mdat", item)...)
}

func FuzzShotAnywhere(f *testing.F) {
	exif := shotFile(binary.BigEndian, "2025:06:14 10:11:12\x00", "123456\x00", "serial 7")
	for version := range byte(3) {
		f.Add(heifOf("heic", version, exif, make([]byte, 9)))
	}
	f.Add(riffOf(riffChunk("VP8 ", []byte("odd")), riffChunk("EXIF", exif)))
	f.Add(pngOf(chunk("IDAT", []byte("x")), chunk("eXIf", exif)))
	f.Add(jpegOf(segment(0xe2, []byte("x")), segment(0xe1, exifPrefix, exif)))
	f.Fuzz(func(t *testing.T, file []byte) {
		m := distant(bytes.NewReader(file), int64(len(file)), file[:min(len(file), 16)])
		if s := m.shot(); s.Zoned && s.Time.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

func FuzzShot(f *testing.F) {
	f.Add(shotFile(binary.BigEndian, "2025:06:14 10:11:12\x00", "1\x00", "x"))
	f.Add(jpegOf(segment(0xe1, exifPrefix, shotFile(binary.LittleEndian, "2025:06:14 10:11:12\x00", "1\x00", "x"))))
	sydney := [6][2]uint32{{33, 1}, {51, 1}, {359, 10}, {151, 1}, {126, 10}, {0, 1}}
	f.Add(placeFile(binary.LittleEndian, "S", "E", sydney))
	f.Add([]byte("\x00\x00\x00\x18ftypheicExif\x00\x00MM\x00*\x00\x00\x00\x08" +
		"\x00\x01\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x08"))
	f.Fuzz(func(t *testing.T, file []byte) {
		s := ShotOf(file)
		if len(s.Camera) > longestCameraName || len(s.Serial) > longestCameraName || s.Zoned && s.Time.IsZero() ||
			!(math.Abs(s.Latitude) <= 90 && math.Abs(s.Longitude) <= 180) {
			t.Errorf("%+v", s)
		}
	})
}

// TestClock: times in every form that cameras and programs write, and their offsets.
func TestClock(t *testing.T) {
	for _, c := range []struct{ text, fraction, offset, want string }{
		{"2024:06:02 13:25:07", "", "", "2024-06-02T13:25:07"},
		{"2024:06:02 13:25:07", "50", "", "2024-06-02T13:25:07.5"},
		{"2024:06:02 13:25:07", "ab", "", "2024-06-02T13:25:07"},
		{"2024:06:02 13:25:07.250", "", "", "2024-06-02T13:25:07.25"},
		{"2024-06-02 13:25:07", "", "", "2024-06-02T13:25:07"},
		{"2024/06/02 13:25:07", "", "", "2024-06-02T13:25:07"},
		{"2024-06-02T13:25:07", "", "", "2024-06-02T13:25:07"},
		{"2024: 6: 2 13:25: 7", "", "", "2024-06-02T13:25:07"},
		{"2024:06:02 13:25", "", "", "2024-06-02T13:25:00"},
		{"2024:06:02 13:25:60", "", "", "2024-06-02T13:26:00"},
		{"2024:06:02 13:25:07", "", "+02:00", "2024-06-02T11:25:07Z"},
		{"2024:06:02 13:25:07", "", "+0200", "2024-06-02T11:25:07Z"},
		{"2024:06:02 13:25:07", "", "-03:30", "2024-06-02T16:55:07Z"},
		{"2024:06:02 13:25:07", "", "Z", "2024-06-02T13:25:07Z"},
		{"2024:06:02 13:25:07", "", "   :  ", "2024-06-02T13:25:07"},
		{"2024:06:02 13:25:07+02:00", "", "", "2024-06-02T11:25:07Z"},
		{"2024:06:02 13:25:07Z", "", "", "2024-06-02T13:25:07Z"},
		{"2024:06:02 24:00:00", "", "", ""}, {"2024:02:30 13:25:07", "", "", ""}, {"0000:00:00 00:00:00", "", "", ""},
		{"    :  :     :  :  ", "", "", ""}, {"1899:12:31 00:00:00", "", "", ""}, {"02.06.2024 13:25:07", "", "", ""},
	} {
		got, zoned := clock(c.text, c.fraction, c.offset)
		text := ""
		if !got.IsZero() {
			text = got.UTC().Format("2006-01-02T15:04:05.999")
		}
		if zoned {
			text += "Z"
		}
		if text != c.want {
			t.Errorf("%q, %q, %q: %s, want %s", c.text, c.fraction, c.offset, text, c.want)
		}
	}
}

// TestTimesInTheirOrder: the time of the picture counts, then that of its digitizing, then the last
// change, each with its own offset.
func TestTimesInTheirOrder(t *testing.T) {
	const taken, digital, changed = "2024:06:02 13:25:07\x00", "2023:06:02 13:25:07\x00", "2022:06:02 13:25:07\x00"
	for _, c := range []struct {
		taken, digital, changed string
		year                    int
	}{
		{taken, digital, changed, 2024}, {"0000:00:00 00:00:00\x00", digital, changed, 2023}, {"", "", changed, 2022},
		{"2024:02:30 13:25:07\x00", "    :  :     :  :  \x00", changed, 2022}, {"", "", "", 1},
	} {
		s := ShotOf(timesFile(c.changed, c.taken, c.digital))
		if s.Time.Year() != c.year {
			t.Errorf("%+v: %v", c, s.Time)
		}
	}
}

// timesFile is a TIFF file with three times.
func timesFile(changed, taken, digital string) []byte {
	order := binary.LittleEndian
	b := []byte("II*\x00")
	tag := func(tag, kind uint16, n, value uint32) {
		b = order.AppendUint16(order.AppendUint16(b, tag), kind)
		b = order.AppendUint32(order.AppendUint32(b, n), value)
	}
	const first, second = 8 + 2 + 2*12 + 4, 8 + 2 + 2*12 + 4 + 2 + 2*12
	b = order.AppendUint16(order.AppendUint32(b, 8), 2)
	tag(tagChanged, 2, uint32(len(changed)), second)
	tag(tagEXIF, 4, 1, first)
	b = order.AppendUint16(order.AppendUint32(b, 0), 2)
	tag(tagTaken, 2, uint32(len(taken)), second+uint32(len(changed)))
	tag(tagDigitized, 2, uint32(len(digital)), second+uint32(len(changed)+len(taken)))
	return append(b, changed+taken+digital...)
}

// TestNoSerial: what cameras without a number write there names none.
func TestNoSerial(t *testing.T) {
	for text, want := range map[string]string{"0": "", "00000000": "", "none": "", "NONE": "", " ": "", "0-0": "",
		"007": "007", "NX-1": "NX-1"} {
		if got := serial(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
