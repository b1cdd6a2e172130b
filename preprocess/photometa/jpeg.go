package photometa

import (
	"bytes"
	"encoding/binary"
)

const (
	xmpMark = "http://ns.adobe.com/xap/1.0/\x00"
	iccMark = "ICC_PROFILE\x00"
)

// JPEG reads the segments before the first scan.
func JPEG(file []byte) (m Metadata) {
	var parts iccParts
	eachSegment(file, func(marker byte, body []byte) {
		const app1, app2 = 0xe1, 0xe2
		switch {
		case marker == app1 && bytes.HasPrefix(body, []byte(exifMark)):
			m.exif(body)
		case marker == app1 && bytes.HasPrefix(body, []byte(xmpMark)):
			m.XMP = append(m.XMP, body[len(xmpMark):])
		case marker == app2 && bytes.HasPrefix(body, []byte(iccMark)):
			parts.add(body[len(iccMark):])
		}
	})
	m.ICC = parts.join()
	return m
}

// eachSegment calls use with every segment that has a body.
func eachSegment(file []byte, use func(marker byte, body []byte)) {
	const startOfScan, end, restart0, start, temporary = 0xda, 0xd9, 0xd0, 0xd8, 0x01
	for at := 2; at+4 <= len(file); {
		if file[at] != 0xff { // between segments
			next := bytes.IndexByte(file[at:], 0xff)
			if next < 0 {
				return
			}
			at += next
			continue
		}
		switch marker := file[at+1]; {
		case marker == 0xff || marker == 0:
			at++
		case marker == startOfScan || marker == end:
			return
		case marker == temporary || marker >= restart0 && marker <= start:
			at += 2
		default:
			n := int(binary.BigEndian.Uint16(file[at+2:]))
			if n < 2 || at+2+n > len(file) {
				return
			}
			use(marker, file[at+4:at+2+n])
			at += 2 + n
		}
	}
}

// iccParts are the parts of a profile, each with its number from 1 and the number of
// parts before it.
type iccParts [256][]byte

func (p *iccParts) add(body []byte) {
	if len(body) > 2 && p[body[0]] == nil {
		p[body[0]] = body[2:]
	}
}

func (p *iccParts) join() []byte {
	if len(p[2]) == 0 {
		return p[1]
	}
	var whole []byte
	for _, part := range p[1:] {
		if part == nil {
			break
		}
		whole = append(whole, part...)
	}
	return whole
}
