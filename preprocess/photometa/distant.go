package photometa

import (
	"bytes"
	"encoding/binary"
	"io"
)

const (
	// mostBlock bounds a block of metadata that is read, mostBlocks how many parts of a file are looked at.
	mostBlock  = 1 << 20
	mostBlocks = 1 << 20
	// mostTIFF bounds a TIFF file whose directory is not at its beginning.
	mostTIFF = 64 << 20
)

// distant reads the metadata of a file that are not at its beginning: after the pixels, or behind other
// blocks. It skips the pixels, except those of a TIFF file, whose directories may be anywhere.
func distant(file io.ReaderAt, size int64, head []byte) Metadata {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8")):
		return JPEG(segments(file, size))
	case bytes.HasPrefix(head, []byte("\x89PNG")):
		const around = 12 // length, kind and check sum
		return PNG(parts(file, size, 8, func(h []byte) (string, int64, int64) {
			n := int64(binary.BigEndian.Uint32(h))
			return string(h[4:]), n + around, n + around
		}, "eXIf", "tEXt", "zTXt", "iTXt"))
	case bytes.HasPrefix(head, []byte("RIFF")):
		return WebP(parts(file, size, 12, func(h []byte) (string, int64, int64) {
			n := int64(binary.LittleEndian.Uint32(h[4:]))
			return string(h[:4]), n + 8, n + n&1 + 8
		}, "EXIF", "XMP "))
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		if size > int64(len(head)) && size <= mostTIFF {
			return TIFF(readAt(file, 0, size))
		}
	case len(head) > 8 && string(head[4:8]) == "ftyp":
		return items(file, size)
	}
	return Metadata{}
}

// readAt returns a part of a file, nil if it cannot be read.
func readAt(file io.ReaderAt, at, n int64) []byte {
	b := make([]byte, n)
	if _, err := file.ReadAt(b, at); err != nil && err != io.EOF {
		return nil
	}
	return b
}

// parts returns the beginning of a file and those of its chunks that are wanted. The header of a chunk
// gives its kind, its length, and that with what fills it up.
func parts(file io.ReaderAt, size, begin int64, header func([]byte) (kind string, length, step int64),
	wanted ...string) []byte {
	out := readAt(file, 0, begin)
	for at, n := begin, 0; at+8 <= size && n < mostBlocks && len(out) < 16*mostBlock; n++ {
		h := readAt(file, at, 8)
		if h == nil {
			break
		}
		kind, length, step := header(h)
		for _, want := range wanted {
			if kind == want && length <= mostBlock && at+length <= size {
				out = append(out, readAt(file, at, min(step, size-at))...)
			}
		}
		at += step
	}
	return out
}

// segments returns the segments of a JPEG file that may be EXIF or XMP.
func segments(file io.ReaderAt, size int64) []byte {
	out := []byte("\xff\xd8")
	for at, n := int64(2), 0; at+4 <= size && n < mostBlocks; n++ {
		h := readAt(file, at, 4)
		switch {
		case h == nil || h[0] != 0xff || h[1] == 0xda || h[1] == 0xd9:
			return out
		case h[1] == 0xff:
			at++
			continue
		}
		length := int64(binary.BigEndian.Uint16(h[2:])) + 2
		if h[1] == 0xe1 && at+length <= size {
			out = append(out, readAt(file, at, length)...)
		}
		at += length
	}
	return out
}

// items reads the EXIF items of HEIC and AVIF (ISO/IEC 14496-12, boxes meta, iinf and iloc; 23008-12,
// annex A.2.1).
func items(file io.ReaderAt, size int64) (m Metadata) {
	for at, n := int64(0), 0; at+8 <= size && n < mostBlocks; n++ {
		h := readAt(file, at, 8)
		if h == nil {
			return m
		}
		length := int64(binary.BigEndian.Uint32(h))
		switch {
		case length == 1 && at+16 <= size:
			wide := fields{readAt(file, at+8, 8)}
			length = int64(wide.number(8) & (1<<62 - 1))
		case length == 0:
			length = size - at
		}
		if length < 8 || at+length > size {
			return m
		}
		if string(h[4:]) == "meta" && length <= mostBlock {
			for _, e := range itemPlaces(readAt(file, at+8, length-8)) {
				if e.length > 4 && e.length <= mostBlock && e.at >= 0 && e.at+e.length <= size {
					block := fields{readAt(file, e.at, e.length)}
					if skip := block.number(4); skip < uint64(len(block.b)) {
						m.exif(block.b[skip:])
					}
				}
			}
			return m
		}
		at += length
	}
	return m
}

// A place is where an item lies in a file.
type place struct{ at, length int64 }

// itemPlaces returns where the EXIF items are, by the body of the box meta.
func itemPlaces(meta []byte) (places []place) {
	var exif map[uint32]bool
	var iloc []byte
	eachBox(meta[min(4, len(meta)):], func(kind string, body []byte) {
		switch kind {
		case "iinf":
			exif = exifItems(body)
		case "iloc":
			iloc = body
		}
	})
	r := fields{iloc}
	version := r.number(1)
	r.number(3)
	sizes := r.number(2)
	count := r.number(2 + 2*int(version/2))
	for range min(count, uint64(len(iloc))) {
		id := uint32(r.number(2 + 2*int(version/2)))
		method := uint64(0)
		if version > 0 {
			method = r.number(2) & 0xf
		}
		r.number(2)
		base := r.number(int(sizes >> 4 & 0xf))
		for range min(r.number(2), uint64(len(iloc))) {
			if version > 0 {
				r.number(int(sizes & 0xf))
			}
			at, length := base+r.number(int(sizes>>12)), r.number(int(sizes>>8&0xf))
			if exif[id] && method == 0 && at < 1<<62 && length < 1<<62 {
				places = append(places, place{int64(at), int64(length)})
			}
		}
	}
	return places
}

// exifItems returns the numbers of the items that are EXIF, by the body of the box iinf.
func exifItems(iinf []byte) map[uint32]bool {
	found := map[uint32]bool{}
	entries := 6
	if len(iinf) > 0 && iinf[0] > 0 {
		entries = 8
	}
	eachBox(iinf[min(entries, len(iinf)):], func(kind string, body []byte) {
		r := fields{body}
		version := r.number(1)
		r.number(3)
		if kind != "infe" || version < 2 {
			return
		}
		id := uint32(r.number(2 * int(version-1)))
		r.number(2)
		if len(r.b) >= 4 && string(r.b[:4]) == "Exif" {
			found[id] = true
		}
	})
	return found
}

// eachBox calls use with every box that is whole.
func eachBox(b []byte, use func(kind string, body []byte)) {
	for len(b) >= 8 {
		n := uint64(binary.BigEndian.Uint32(b))
		if n < 8 || n > uint64(len(b)) {
			return
		}
		use(string(b[4:8]), b[8:n])
		b = b[n:]
	}
}

// fields are numbers one after the other, with the highest byte first; those that are not there are 0.
type fields struct{ b []byte }

func (f *fields) number(size int) (v uint64) {
	n := min(size, len(f.b))
	for _, c := range f.b[:n] {
		v = v<<8 | uint64(c)
	}
	f.b = f.b[n:]
	if n < size {
		return 0
	}
	return v
}
