package photometa

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"
)

// mostText bounds what a compressed block may expand to.
const mostText = 16 << 20

// PNG reads the chunks of a PNG file: eXIf, iCCP, and the texts in which ImageMagick
// ("Raw profile type …") and others (XML:com.adobe.xmp) keep the same.
func PNG(file []byte) (m Metadata) {
	var raw Metadata // after eXIf
	left := int64(mostText)
	for rest := file[min(8, len(file)):]; len(rest) >= 12; {
		n := uint64(binary.BigEndian.Uint32(rest))
		if n+12 > uint64(len(rest)) {
			break
		}
		body := rest[8 : 8+n]
		switch kind := string(rest[4:8]); kind {
		case "eXIf":
			m.exif(body)
		case "iCCP":
			if _, packed, ok := bytes.Cut(body, []byte{0}); ok && len(packed) > 1 && m.ICC == nil {
				m.ICC = inflate(packed[1:], &left)
			}
		case "tEXt", "zTXt", "iTXt":
			raw.text(kind, body, &left)
		}
		rest = rest[12+n:]
	}
	m.EXIF, m.XMP = append(m.EXIF, raw.EXIF...), append(m.XMP, raw.XMP...)
	if m.ICC == nil {
		m.ICC = raw.ICC
	}
	return m
}

// text takes a text chunk, if its keyword is one that holds metadata.
func (m *Metadata) text(kind string, body []byte, left *int64) {
	name, value, ok := bytes.Cut(body, []byte{0})
	if !ok || !isMetadata(string(name)) {
		return
	}
	switch kind {
	case "zTXt":
		value = inflate(value[min(1, len(value)):], left)
	case "iTXt":
		value = international(value, left)
	}
	profile, isRaw := strings.CutPrefix(string(name), "Raw profile type ")
	if isRaw {
		value = rawProfile(value)
	}
	switch {
	case len(value) == 0:
	case !isRaw, bytes.HasPrefix(value, []byte(xmpMark)), profile == "xmp":
		m.XMP = append(m.XMP, bytes.TrimPrefix(value, []byte(xmpMark)))
	case profile == "icc" || profile == "icm":
		m.ICC = value
	default:
		m.exif(value)
	}
}

func isMetadata(keyword string) bool {
	switch keyword {
	case "XML:com.adobe.xmp", "Raw profile type exif", "Raw profile type APP1", "Raw profile type app1",
		"Raw profile type xmp", "Raw profile type icc", "Raw profile type icm":
		return true
	}
	return false
}

// international returns the text of an iTXt chunk after the keyword: two bytes say
// whether and how it is compressed; a language and a translated keyword follow.
func international(b []byte, left *int64) []byte {
	if len(b) < 2 {
		return nil
	}
	packed := b[0] == 1
	_, b, _ = bytes.Cut(b[2:], []byte{0})
	_, b, _ = bytes.Cut(b, []byte{0})
	if packed {
		return inflate(b, left)
	}
	return b
}

// inflate returns what it can of compressed data, at most what is left of the bound.
func inflate(packed []byte, left *int64) []byte {
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	b, _ := io.ReadAll(io.LimitReader(r, *left))
	*left -= int64(len(b))
	return b
}

// rawProfile reads ImageMagick's form: a line with the name, one with the length, and
// hexadecimal digits in lines.
func rawProfile(text []byte) []byte {
	const space = " \t\r\n"
	for range 2 {
		text = bytes.TrimLeft(text, space)
		end := bytes.IndexAny(text, space)
		if end < 0 {
			return nil
		}
		text = text[end:]
	}
	digits := make([]byte, 0, len(text))
	for _, c := range text {
		if strings.IndexByte(space, c) < 0 {
			digits = append(digits, c)
		}
	}
	out := make([]byte, len(digits)/2)
	n, _ := hex.Decode(out, digits[:len(digits)&^1])
	return out[:n]
}
