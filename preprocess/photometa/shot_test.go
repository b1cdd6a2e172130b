package photometa

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"
	"time"
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
			got, err := ReadShot(filepath.Join("testdata", kind+"-"+name))
			if err != nil {
				t.Fatal(err)
			}
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
