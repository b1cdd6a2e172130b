package imagebomb

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Tags, types and compressions of TIFF (TIFF 6.0, sections 8, 9 and 15).
const (
	imageWidth      = 256
	imageLength     = 257
	bitsPerSample   = 258
	compression     = 259
	photometric     = 262
	stripOffsets    = 273
	samplesPerPixel = 277
	rowsPerStrip    = 278
	stripByteCounts = 279
	tileWidth       = 322
	tileLength      = 323
	tileOffsets     = 324
	tileByteCounts  = 325

	short = 3
	long  = 4

	uncompressed = 1
	deflate      = 8
	packBits     = 32773
)

// An entry is a value of a tag, or where its values are.
type entry struct{ tag, kind, count, value int }

// TIFF returns an 8-bit RGB TIFF (TIFF 6.0) with Deflate, in strips of some
// rows, each of which decompresses to stripBytes.
func TIFF(width, height, rows, stripBytes int) []byte {
	data := deflated(stripBytes)
	bits := []byte{8, 0, 8, 0, 8, 0}
	const at = 8
	entries := blocks(at+len(bits), len(data), (height+rows-1)/rows, stripOffsets, stripByteCounts)
	return tiff(slices.Concat(bits, data), append(entries,
		entry{imageWidth, long, 1, width}, entry{imageLength, long, 1, height}, entry{bitsPerSample, short, 3, at},
		entry{compression, short, 1, deflate}, entry{photometric, short, 1, 2}, entry{samplesPerPixel, short, 1, 3},
		entry{rowsPerStrip, long, 1, rows}))
}

// Tiles returns a grey TIFF with Deflate in square tiles, all of which are the same
// bytes.
func Tiles(width, height, side int) []byte {
	data := deflated(side * side)
	n := (width + side - 1) / side * ((height + side - 1) / side)
	return tiff(data, append(blocks(8, len(data), n, tileOffsets, tileByteCounts), append(grey(width, height, deflate),
		entry{tileWidth, long, 1, side}, entry{tileLength, long, 1, side})...))
}

// PackBits returns a grey TIFF with PackBits in strips of some rows.
func PackBits(width, height, rows int) []byte {
	data := bytes.Repeat([]byte{129, 0}, (width*rows+127)/128) // 128 zeros each
	return tiff(data, append(blocks(8, len(data), (height+rows-1)/rows, stripOffsets, stripByteCounts),
		append(grey(width, height, packBits), entry{rowsPerStrip, long, 1, rows})...))
}

// Shared returns a grey TIFF with Deflate in strips of one row, all of which are the same
// bytes: a number of empty blocks (RFC 1951, 3.2.4) before the row.
func Shared(width, height, empty int) []byte {
	data := deflated(width)
	const header = 2
	data = slices.Concat(data[:header], bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, empty), data[header:])
	return tiff(data, append(blocks(8, len(data), height, stripOffsets, stripByteCounts),
		append(grey(width, height, deflate), entry{rowsPerStrip, long, 1, 1})...))
}

// Bands returns an uncompressed TIFF of one row with a number of bands besides grey; all
// strips are the same bytes, as are a number of XMP packets, each of them an entry.
func Bands(width, bands, rows, packets int) []byte {
	data := make([]byte, width*(1+bands))
	entries := append(blocks(8, len(data), rows, stripOffsets, stripByteCounts),
		append(grey(width, rows, uncompressed), entry{rowsPerStrip, long, 1, 1})...)
	for i, e := range entries {
		if e.tag == samplesPerPixel {
			entries[i].value += bands
		}
	}
	const octets, xmp = 1, 700
	copy(data, "http://ns.adobe.com/tiff/1.0/")
	for range packets {
		entries = append(entries, entry{xmp, octets, len(data), 8})
	}
	return tiff(data, entries)
}

func grey(width, height, method int) []entry {
	return []entry{
		{imageWidth, long, 1, width}, {imageLength, long, 1, height}, {bitsPerSample, short, 1, 8},
		{compression, short, 1, method}, {photometric, short, 1, 1}, {samplesPerPixel, short, 1, 1},
	}
}

// blocks returns the entries of n blocks with the same bytes. The values of several
// are not yet in the file.
func blocks(at, length, n, offsets, counts int) []entry {
	return []entry{{offsets, long, n, at}, {counts, long, n, length}}
}

// tiff writes a file with data at offset 8. An entry with several long values has
// the same value again and again.
func tiff(data []byte, entries []entry) []byte {
	le := binary.LittleEndian
	file := append([]byte("II*\x00\x00\x00\x00\x00"), data...)
	for i, e := range entries {
		if e.kind != long || e.count == 1 {
			continue
		}
		entries[i].value = len(file)
		for range e.count {
			file = le.AppendUint32(file, uint32(e.value))
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.tag - b.tag })
	le.PutUint32(file[4:], uint32(len(file)))
	file = le.AppendUint16(file, uint16(len(entries)))
	for _, e := range entries {
		file = le.AppendUint16(file, uint16(e.tag))
		file = le.AppendUint16(file, uint16(e.kind))
		file = le.AppendUint32(file, uint32(e.count))
		file = le.AppendUint32(file, uint32(e.value))
	}
	return le.AppendUint32(file, 0)
}
