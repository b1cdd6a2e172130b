package photometa

import (
	"bytes"
	"encoding/binary"
)

// WebP reads the chunks of a WebP file.
func WebP(file []byte) (m Metadata) {
	for rest := file[min(12, len(file)):]; len(rest) >= 8; {
		n := uint64(binary.LittleEndian.Uint32(rest[4:]))
		if n+8 > uint64(len(rest)) {
			break
		}
		switch body := rest[8 : 8+n]; string(rest[:4]) {
		case "EXIF":
			m.exif(body)
		case "XMP ", "XMP\x00":
			m.XMP = append(m.XMP, body)
		case "ICCP":
			m.ICC = body
		}
		rest = rest[min(uint64(len(rest)), 8+n+n&1):]
	}
	return m
}

// GIF finds the application block of XMP, which is XML as it stands.
func GIF(file []byte) (m Metadata) {
	const mark = "\x21\xff\x0bXMP DataXMP"
	if at := bytes.Index(file, []byte(mark)); at >= 0 {
		m.XMP = [][]byte{file[at+len(mark):]}
	}
	return m
}
