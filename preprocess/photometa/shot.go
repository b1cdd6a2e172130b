package photometa

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A Shot is what a photo says about when it was taken, and by which camera.
type Shot struct {
	// Time is when it was taken, zero if that is not known. Without Zoned it is the
	// time of the camera's clock, as if that were UTC.
	Time  time.Time
	Zoned bool
	// Camera and Serial are the model and the serial number of its body, "" if unknown.
	Camera, Serial string
	// Placed reports that it says where it was taken: Latitude and Longitude, in degrees,
	// north and east of zero.
	Placed              bool
	Latitude, Longitude float64
}

// Clock returns the time as the camera's clock showed it, as if that were UTC.
func (s Shot) Clock() time.Time {
	_, offset := s.Time.Zone()
	return s.Time.Add(time.Duration(offset) * time.Second).UTC()
}

const (
	tagModel          = 0x0110
	tagEXIF           = 0x8769
	tagChanged        = 0x0132 // DateTime
	tagTaken          = 0x9003 // DateTimeOriginal
	tagDigitized      = 0x9004
	tagOffsetChanged  = 0x9010
	tagOffsetTaken    = 0x9011
	tagOffsetDigital  = 0x9012
	tagSubSecTaken    = 0x9291
	tagSerial         = 0xa431
	tagGPS            = 0x8825
	headOfFile        = 128 << 10 // EXIF has 64 KiB at most, and is at the beginning
	longestCameraName = 64
)

// ReadShot reads what a photo of any format says of it: from its beginning, else from wherever it stands.
// Broken metadata is none; the error is that of reading the file.
func ReadShot(file string) (Shot, error) {
	f, size, err := regularfile.Open(file)
	if err != nil {
		return Shot{}, err
	}
	defer f.Close()
	head := make([]byte, headOfFile)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		err = nil
	}
	s := ShotOf(head[:n])
	if s == (Shot{}) && err == nil {
		m := distant(f, size, head[:n])
		s = m.shot()
	}
	return s, err
}

// ShotOf reads the beginning of a file.
func ShotOf(head []byte) Shot {
	m := of(head)
	return m.shot()
}

func (m *Metadata) shot() (s Shot) {
	for _, tiff := range m.EXIF {
		if s = shotOf(tiff); s != (Shot{}) {
			return s
		}
	}
	return s
}

// of returns the metadata of a file of any format. Those of HEIC and AVIF, whose boxes say
// where EXIF is, are found by its mark.
func of(head []byte) (m Metadata) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8")):
		return JPEG(head)
	case bytes.HasPrefix(head, []byte("\x89PNG")):
		return PNG(head)
	case bytes.HasPrefix(head, []byte("RIFF")):
		return WebP(head)
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		return TIFF(head)
	case isBoxed(head), bytes.HasPrefix(head, []byte("II")), bytes.HasPrefix(head, []byte("MM")):
		return Raw(head)
	}
	if at := bytes.Index(head, []byte(exifMark)); at >= 0 {
		m.exif(head[at:])
	}
	return m
}

// shotOf reads the first directory of a TIFF file, and that of EXIF which it points to.
func shotOf(tiff []byte) (s Shot) {
	var taken, digitized, changed, fraction string
	var offsets [3]string // of these three
	inEXIF := func(tag int, kind uint16, _ binary.ByteOrder, values []byte) {
		switch tag {
		case tagTaken:
			taken = asciiOf(kind, values)
		case tagDigitized:
			digitized = asciiOf(kind, values)
		case tagSubSecTaken:
			fraction = asciiOf(kind, values)
		case tagOffsetTaken:
			offsets[0] = asciiOf(kind, values)
		case tagOffsetDigital:
			offsets[1] = asciiOf(kind, values)
		case tagOffsetChanged:
			offsets[2] = asciiOf(kind, values)
		case tagSerial:
			s.Serial = serial(asciiOf(kind, values))
		}
	}
	eachTag(tiff, func(tag int, kind uint16, order binary.ByteOrder, values []byte) {
		switch {
		case tag == tagModel:
			s.Camera = asciiOf(kind, values)
		case tag == tagChanged:
			changed = asciiOf(kind, values)
		case tag == tagEXIF && len(values) == 4:
			eachTagAt(tiff, order, uint64(order.Uint32(values)), inEXIF)
		case tag == tagGPS && len(values) == 4:
			s.place(tiff, order, uint64(order.Uint32(values)))
		}
	})
	for i, text := range []string{taken, digitized, changed} {
		if i > 0 {
			fraction = ""
		}
		if s.Time, s.Zoned = clock(text, fraction, offsets[i]); !s.Time.IsZero() {
			break
		}
	}
	return s
}

// written is a time as cameras and programs write it: with the separators of EXIF or others, perhaps
// without seconds, perhaps with a fraction and an offset to UTC that have tags of their own.
var written = regexp.MustCompile(`^(\d{4})[-:/.] ?(\d\d?)[-:/.] ?(\d\d?)[T ] ?(\d\d?): ?(\d\d?)` +
	`(?:: ?(\d\d?)(?:\.(\d{1,9})\d*)?)? *(Z|[+-]\d\d:?\d\d)?$`)

// clock returns a time of EXIF with the offset that it has, or that its tag has; the zero time for one
// that is not set, or that no clock shows.
func clock(text, fraction, offset string) (t time.Time, zoned bool) {
	m := written.FindStringSubmatch(text)
	if m == nil {
		return t, false
	}
	var v [6]int
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1]) // digits, or nothing
	}
	t = time.Date(v[0], time.Month(v[1]), v[2], v[3], v[4], 0, 0, time.UTC)
	const leap = 60
	if v[0] < 1900 || int(t.Month()) != v[1] || t.Day() != v[2] || t.Hour() != v[3] || t.Minute() != v[4] ||
		v[5] > leap {
		return time.Time{}, false
	}
	t = t.Add(time.Duration(v[5]) * time.Second)
	if _, err := strconv.ParseUint(fraction, 10, 64); err != nil {
		fraction = m[7]
	}
	after, _ := time.ParseDuration("0." + fraction + "s") // of digits, or nothing, it is one
	t = t.Add(after)
	return InZone(t, cmp.Or(m[8], offset))
}

// InZone returns the time at which a clock of an offset to UTC shows t: Z, UTC, GMT, +02:00, +0200 or +02.
// ok is false, and t as it was, for any other text.
func InZone(t time.Time, offset string) (in time.Time, ok bool) {
	switch offset {
	case "Z", "UTC", "GMT":
		return t, true
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if zone, err := time.Parse(layout, offset); err == nil {
			_, seconds := zone.Zone()
			return t.Add(-time.Duration(seconds) * time.Second).In(time.FixedZone("", seconds)), true
		}
	}
	return t, false
}

// serial returns the number of a camera, "" for what cameras write that have none.
func serial(text string) string {
	if strings.Trim(text, "0 .-") == "" || strings.EqualFold(text, "none") || strings.EqualFold(text, "unknown") {
		return ""
	}
	return text
}

// asciiOf returns the printable part of a text of EXIF.
func asciiOf(kind uint16, values []byte) string {
	const ascii = 2
	if kind != ascii {
		return ""
	}
	text, _, _ := bytes.Cut(values[:min(len(values), longestCameraName)], []byte{0})
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, string(text)))
}
