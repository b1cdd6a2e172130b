package photometa

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Metadata are the blocks of a file, in its order.
type Metadata struct {
	// EXIF blocks are TIFF files.
	EXIF [][]byte
	// XMP blocks are XML.
	XMP [][]byte
	// ICC is the colour profile.
	ICC []byte
}

const exifMark = "Exif\x00"

func (m *Metadata) exif(b []byte) {
	if bytes.HasPrefix(b, []byte(exifMark)) && len(b) > len(exifMark) { // a zero or fill byte follows
		b = b[len(exifMark)+1:]
	}
	m.EXIF = append(m.EXIF, b)
}

// Orientation returns 1 … 8, how the stored picture is to be turned (EXIF 2.3, tag 274).
// EXIF wins over XMP; 1 is also the answer of a file that does not say.
func (m *Metadata) Orientation() int {
	for _, b := range m.EXIF {
		if o := exifOrientation(b); o != 0 {
			return o
		}
	}
	for _, b := range m.XMP {
		if o := xmpOrientation(b); o != 0 {
			return o
		}
	}
	return 1
}

const (
	tagOrientation = 274
	tagXMP         = 700
	tagICC         = 34675
)

func exifOrientation(tiff []byte) (found int) {
	eachTag(tiff, func(tag int, kind uint16, order binary.ByteOrder, values []byte) {
		if tag == tagOrientation && found == 0 {
			found = oneOfEight(number(kind, order, values))
		}
	})
	return found
}

// number reads the first value of a tag, as some writers use other types than SHORT.
func number(kind uint16, order binary.ByteOrder, values []byte) int {
	const octet, text, short, long, signed = 1, 2, 3, 4, 8
	switch {
	case kind == octet && len(values) >= 1:
		return int(values[0])
	case kind == text && len(values) >= 1:
		return int(values[0]) - '0'
	case (kind == short || kind == signed) && len(values) >= 2:
		return int(order.Uint16(values))
	case kind == long && len(values) >= 4:
		return int(min(order.Uint32(values), 1<<16))
	}
	return 0
}

func oneOfEight(n int) int {
	if n < 1 || n > 8 {
		return 0
	}
	return n
}

// TIFF reads the tags of the first directory of a TIFF file.
func TIFF(file []byte) (m Metadata) {
	m.EXIF = [][]byte{file}
	eachTag(file, func(tag int, _ uint16, _ binary.ByteOrder, values []byte) {
		switch tag {
		case tagXMP: // once, however often a directory names the same bytes
			m.XMP = [][]byte{values}
		case tagICC:
			m.ICC = values
		}
	})
	return m
}

// eachTag calls use with the values of every tag of the first directory that lie within
// the file.
func eachTag(tiff []byte, use func(tag int, kind uint16, order binary.ByteOrder, values []byte)) {
	const header = 8
	if len(tiff) < header {
		return
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(tiff[:2]) {
	case "II":
	case "MM":
		order = binary.BigEndian
	default:
		return
	}
	eachTagAt(tiff, order, uint64(order.Uint32(tiff[4:])), use)
}

// eachTagAt is eachTag for the directory at an offset.
func eachTagAt(tiff []byte, order binary.ByteOrder, at uint64,
	use func(tag int, kind uint16, order binary.ByteOrder, values []byte)) {
	const entry = 12
	if at+2 > uint64(len(tiff)) {
		return
	}
	rest := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(rest) < entry {
			return
		}
		kind, values := order.Uint16(rest[2:]), rest[8:entry]
		switch n := sizeOf(kind) * uint64(order.Uint32(rest[4:])); {
		case n > 4:
			from := uint64(order.Uint32(values))
			values = tiff[min(from, uint64(len(tiff))):min(from+n, uint64(len(tiff)))]
		case n > 0:
			values = values[:n]
		}
		use(int(order.Uint16(rest)), kind, order, values)
		rest = rest[entry:]
	}
}

// sizeOf returns the bytes of a value of a type (TIFF 6.0, section 2).
func sizeOf(kind uint16) uint64 {
	sizes := []uint64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8}
	if int(kind) >= len(sizes) {
		return 0
	}
	return sizes[kind]
}

// mostValues bounds the values of a tag that are kept, which more than all strips of a
// picture need.
const mostValues = 1 << 18

// Values returns the whole numbers of the wanted tags of the first directory of a TIFF
// file, and its order of bytes.
func Values(tiff []byte, wanted ...int) (map[int][]int, binary.ByteOrder) {
	tags, used := map[int][]int{}, binary.ByteOrder(binary.LittleEndian)
	eachTag(tiff, func(tag int, kind uint16, order binary.ByteOrder, values []byte) {
		const octet, short, long, undefined = 1, 3, 4, 7
		used = order
		size := int(sizeOf(kind))
		numbers := slices.Contains([]uint16{octet, short, long, undefined}, kind)
		if tags[tag] != nil || !slices.Contains(wanted, tag) || !numbers {
			return
		}
		for i := 0; i+size <= len(values) && i < mostValues*size; i += size {
			n := 0
			switch kind {
			case octet, undefined:
				n = int(values[i])
			case short:
				n = int(order.Uint16(values[i:]))
			default:
				n = int(order.Uint32(values[i:]))
			}
			tags[tag] = append(tags[tag], n)
		}
	})
	return tags, used
}
