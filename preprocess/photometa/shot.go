package photometa

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
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
	tagTaken          = 0x9003 // DateTimeOriginal
	tagDigitized      = 0x9004
	tagOffsetTaken    = 0x9011
	tagSubSecTaken    = 0x9291
	tagSerial         = 0xa431
	tagGPS            = 0x8825
	exifTime          = "2006:01:02 15:04:05"
	headOfFile        = 128 << 10 // EXIF has 64 KiB at most, and is at the beginning
	longestCameraName = 64
)

// ReadShot reads the beginning of a photo of any format. Broken metadata is none; the
// error is that of reading the file.
func ReadShot(file string) (Shot, error) {
	f, _, err := regularfile.Open(file)
	if err != nil {
		return Shot{}, err
	}
	defer f.Close()
	head := make([]byte, headOfFile)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		err = nil
	}
	return ShotOf(head[:n]), err
}

// ShotOf reads the beginning of a file.
func ShotOf(head []byte) (s Shot) {
	m := of(head)
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
	}
	if at := bytes.Index(head, []byte(exifMark)); at >= 0 {
		m.exif(head[at:])
	}
	return m
}

// shotOf reads the first directory of a TIFF file, and that of EXIF which it points to.
func shotOf(tiff []byte) (s Shot) {
	var taken, digitized, fraction, offset string
	inEXIF := func(tag int, kind uint16, _ binary.ByteOrder, values []byte) {
		switch tag {
		case tagTaken:
			taken = asciiOf(kind, values)
		case tagDigitized:
			digitized = asciiOf(kind, values)
		case tagSubSecTaken:
			fraction = asciiOf(kind, values)
		case tagOffsetTaken:
			offset = asciiOf(kind, values)
		case tagSerial:
			s.Serial = asciiOf(kind, values)
		}
	}
	eachTag(tiff, func(tag int, kind uint16, order binary.ByteOrder, values []byte) {
		switch {
		case tag == tagModel:
			s.Camera = asciiOf(kind, values)
		case tag == tagEXIF && len(values) == 4:
			eachTagAt(tiff, order, uint64(order.Uint32(values)), inEXIF)
		case tag == tagGPS && len(values) == 4:
			s.place(tiff, order, uint64(order.Uint32(values)))
		}
	})
	if s.Time = clock(taken, fraction); s.Time.IsZero() {
		s.Time = clock(digitized, "")
	}
	if zone, err := time.Parse("-07:00", offset); err == nil && !s.Time.IsZero() {
		_, seconds := zone.Zone()
		s.Time, s.Zoned = s.Time.Add(-time.Duration(seconds)*time.Second).In(time.FixedZone("", seconds)), true
	}
	return s
}

// clock returns a time of EXIF; the zero time for one that is not set.
func clock(text, fraction string) time.Time {
	t, err := time.Parse(exifTime, text)
	if err != nil || t.Year() < 1900 {
		return time.Time{}
	}
	if _, err := strconv.ParseUint(fraction, 10, 64); err == nil {
		f, _ := time.ParseDuration("0." + fraction + "s") // of digits it is one
		t = t.Add(f)
	}
	return t
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
