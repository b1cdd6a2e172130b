package imagebomb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A Grid describes a HEIC file (ISO/IEC 23008-12) whose picture is a grid of
// tiles. Its header is valid; the tiles are 64×64 pixels of zeros without a
// picture in them.
type Grid struct {
	Columns, Rows int
	// Items is the number of pictures that the tiles refer to in turn. They share
	// the same data.
	Items int
	// Extents is how many times an item names that data.
	Extents int
	// DataBytes is the length of the data.
	DataBytes int
	// Unused is a number of further items, in the table of properties.
	Unused int
	// Codec is the type of the tiles, by default HEVC.
	Codec string
}

// tileSide is the side of a tile in pixels.
const tileSide = 64

// HEIC returns the file.
func (g Grid) HEIC() []byte {
	w, h := g.Columns*tileSide, g.Rows*tileSide
	descriptor := u32([]byte{0, 1, byte(g.Rows - 1), byte(g.Columns - 1)}, w, h) // with sizes of 4 bytes
	properties := slices.Concat(
		box("ispe", u32(nil, 0, w, h)), box("ispe", u32(nil, 0, tileSide, tileSide)),
		box("hvcC", hevcConfig()), box("av1C", []byte{0x81, 0, 0, 0}))
	head := box("ftyp", []byte("heic\x00\x00\x00\x00mif1heic"))
	build := func(at int) []byte {
		return box("meta", u32(nil, 0),
			box("pitm", u32(nil, 0), u16(nil, primary)),
			box("iinf", g.infos()),
			box("iref", g.references()),
			box("iprp", box("ipco", properties), box("ipma", g.owners())),
			box("iloc", g.places(at, len(descriptor))))
	}
	at := len(head) + len(build(0)) + 8
	return slices.Concat(head, build(at), box("mdat", descriptor, make([]byte, g.DataBytes)))
}

// primary is the number of the grid; the tiles follow.
const primary = 1

func (g Grid) infos() []byte {
	b := u16(u32(nil, 0), 1+g.Items)
	for i := range 1 + g.Items {
		kind := cmp.Or(g.Codec, "hvc1")
		if i == 0 {
			kind = "grid"
		}
		b = append(b, box("infe", []byte{2, 0, 0, 0}, u16(nil, primary+i, 0), []byte(kind), []byte{0})...)
	}
	return b
}

// references is the box with the tiles of the grid: a list for each row, since a
// list has fewer than 65536.
func (g Grid) references() []byte {
	b := u32(nil, 0)
	for row := range g.Rows {
		list := u16(nil, primary, g.Columns)
		for column := range g.Columns {
			list = u16(list, primary+1+(row*g.Columns+column)%g.Items)
		}
		b = append(b, box("dimg", list)...)
	}
	return b
}

// owners is the box that gives items their properties, in the version whose numbers
// have 4 bytes.
func (g Grid) owners() []byte {
	b := append(u32([]byte{1, 0, 0, 0}, 1+g.Items+g.Unused, primary), 1, 1)
	for i := range g.Items {
		b = append(u32(b, primary+1+i), 3, 2, 3, 4)
	}
	for i := range g.Unused {
		b = append(u32(b, 1<<20+i), 0)
	}
	return b
}

// places is the box that says where the data of items is.
func (g Grid) places(at, descriptor int) []byte {
	b := u32(u16([]byte{0, 0, 0, 0, 0x44, 0}, 1+g.Items, primary, 0, 1), at, descriptor)
	for i := range g.Items {
		b = u16(b, primary+1+i, 0, g.Extents)
		for range g.Extents {
			b = u32(b, at+descriptor, g.DataBytes)
		}
	}
	return b
}

func box(kind string, body ...[]byte) []byte {
	all := slices.Concat(body...)
	return append(append(u32(nil, 8+len(all)), kind...), all...)
}

func u16(b []byte, values ...int) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func u32(b []byte, values ...int) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// hevcConfig returns a configuration (ISO/IEC 14496-15, 8.3.3.1) with a sequence
// parameter set (ITU-T H.265, 7.3.2.2) for a tile.
func hevcConfig() []byte {
	const parameterSet = 33
	b := &bitWriter{}
	b.put(0, 4+3+1) // numbers and layers
	b.put(0, 88)    // profile
	b.put(0, 8)     // level
	b.golombs(0, 1) // its number, 4:2:0
	b.golombs(tileSide, tileSide)
	b.put(0, 1)        // no margins
	b.golombs(0, 0, 0) // 8 bits, order
	b.put(0, 1)        // sizes of the buffer
	b.golombs(0, 0, 0)
	b.golombs(0, 3, 0, 3, 0, 0) // sizes of blocks
	b.put(0, 1+2+1)             // no lists, options
	b.golombs(0)                // no sets of pictures
	b.put(0, 1+2+1+1)           // nothing else
	set := append([]byte{parameterSet << 1, 1}, b.bytes()...)
	config := make([]byte, 23)
	config[0], config[21], config[22] = 1, 3, 1 // lengths of 4 bytes, one array
	config = append(config, parameterSet, 0, 1)
	return append(u16(config, len(set)), set...)
}

// A bitWriter writes the codes of HEVC.
type bitWriter struct {
	buf   bytes.Buffer
	last  byte
	count int
}

func (b *bitWriter) put(v uint64, n int) {
	for i := n - 1; i >= 0; i-- {
		b.last = b.last<<1 | byte(v>>i&1)
		if b.count++; b.count == 8 {
			b.buf.WriteByte(b.last)
			b.last, b.count = 0, 0
		}
	}
}

func (b *bitWriter) golombs(values ...int) {
	for _, v := range values {
		n := bits.Len(uint(v + 1))
		b.put(uint64(v+1), 2*n-1)
	}
}

// bytes ends with a one and zeros.
func (b *bitWriter) bytes() []byte {
	b.put(1, 1)
	for b.count != 0 {
		b.put(0, 1)
	}
	return b.buf.Bytes()
}
