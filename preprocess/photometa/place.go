package photometa

import (
	"encoding/binary"
	"math"
)

// Tags of the directory of GPS (EXIF 2.3, section 4.6.6).
const (
	tagLatitudeRef  = 1
	tagLatitude     = 2
	tagLongitudeRef = 3
	tagLongitude    = 4
	tagStatus       = 9
)

// place reads the directory of GPS at an offset. A receiver without a fix writes none, "V",
// or zeros.
func (s *Shot) place(tiff []byte, order binary.ByteOrder, at uint64) {
	latitude, longitude := math.NaN(), math.NaN()
	south, west, status := "", "", ""
	eachTagAt(tiff, order, at, func(tag int, kind uint16, order binary.ByteOrder, values []byte) {
		switch tag {
		case tagLatitudeRef:
			south = asciiOf(kind, values)
		case tagLatitude:
			latitude = degrees(kind, order, values)
		case tagLongitudeRef:
			west = asciiOf(kind, values)
		case tagLongitude:
			longitude = degrees(kind, order, values)
		case tagStatus:
			status = asciiOf(kind, values)
		}
	})
	if !(latitude <= 90 && longitude <= 180) || latitude == 0 && longitude == 0 || status == "V" {
		return
	}
	if south == "S" {
		latitude = -latitude
	}
	if west == "W" {
		longitude = -longitude
	}
	s.Placed, s.Latitude, s.Longitude = true, latitude, longitude
}

// degrees returns an angle of degrees, minutes and seconds, NaN for what is none.
func degrees(kind uint16, order binary.ByteOrder, values []byte) (angle float64) {
	const rational, size = 5, 8
	if kind != rational || len(values) < size {
		return math.NaN()
	}
	unit := 1.0
	for ; len(values) >= size && unit <= 3600; values, unit = values[size:], unit*60 {
		number, by := order.Uint32(values), order.Uint32(values[4:])
		if by == 0 && number == 0 && unit > 1 {
			continue // minutes or seconds that are not given
		}
		angle += float64(number) / float64(by) / unit
	}
	return angle
}
