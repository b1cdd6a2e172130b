package photometa

import (
	"bytes"
	"encoding/binary"
)

// Tags, and photometric interpretations, of the directories of raw photos.
const (
	tagPhotometric = 262
	tagSubIFDs     = 330
	filterArray    = 32803
	linearRaw      = 34892
	mostSubIFDs    = 16
)

// IsRaw reports whether a TIFF file is a camera's raw photo: a directory, or one below it, has the values of
// a sensor, or the header is Canon's.
func IsRaw(tiff []byte) (raw bool) {
	sensor := func(tag int, kind uint16, order binary.ByteOrder, values []byte) {
		if n := number(kind, order, values); tag == tagPhotometric && (n == filterArray || n == linearRaw) {
			raw = true
		}
	}
	eachTag(tiff, func(tag int, kind uint16, order binary.ByteOrder, values []byte) {
		sensor(tag, kind, order, values)
		for i := 0; tag == tagSubIFDs && i+4 <= min(len(values), 4*mostSubIFDs); i += 4 {
			eachTagAt(tiff, order, uint64(order.Uint32(values[i:])), sensor)
		}
	})
	const canon = "CR\x02"
	return raw || len(tiff) > 8 && bytes.HasPrefix(tiff[8:], []byte(canon))
}

// Raw reads the metadata of a raw photo. Most are TIFF files, some with other first bytes; Canon's CR3 keeps the
// same directories in boxes. Fujifilm and others have them only in the preview.
func Raw(file []byte) (m Metadata) {
	switch {
	case isBoxed(file):
		m.boxed(file)
	case bytes.HasPrefix(file, []byte("II")), bytes.HasPrefix(file, []byte("MM")):
		m.EXIF = [][]byte{file}
	}
	return m
}

func isBoxed(file []byte) bool { return len(file) > 12 && string(file[4:12]) == "ftypcrx " }

// boxed finds the first directory, and that of EXIF, in the boxes of CR3, which lie at its beginning.
func (m *Metadata) boxed(file []byte) {
	head := file[:min(len(file), headOfFile)]
	for _, kind := range []string{"CMT1", "CMT2"} {
		at := bytes.Index(head, []byte(kind))
		if at < 4 {
			continue
		}
		if n := uint64(binary.BigEndian.Uint32(head[at-4:])); n >= 8 && uint64(at)+n-4 <= uint64(len(head)) {
			m.EXIF = append(m.EXIF, head[at+4:uint64(at)+n-4])
		}
	}
}
