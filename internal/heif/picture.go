package heif

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// Codecs of Picture.Codec, as the types of items.
const (
	HEVC = "hvc1"
	AV1  = "av01"
)

// Matrix coefficients of Colour (ITU-T H.273, table 4).
const (
	MatrixIdentity    = 0 // planes are G, B, R
	MatrixBT709       = 1
	MatrixUnspecified = 2
	MatrixFCC         = 4
	MatrixBT601       = 5 // and 6
	MatrixBT2020      = 9
)

// A Colour says how samples become red, green and blue.
type Colour struct {
	Matrix    int
	FullRange bool
}

// A Crop is the part of a picture that is shown (clap).
type Crop struct{ X, Y, Width, Height int }

// A Picture is what the boxes and parameter sets of a file say about one of its
// pictures. Nothing of it has been decoded.
type Picture struct {
	Codec string
	// Width and Height are those of the decoded picture.
	Width, Height int
	// Crop and then Orientation, which is what irot and imir do expressed as an
	// EXIF orientation, are to be applied to the decoded picture.
	Crop        Crop
	Orientation int
	// Colour is only known for HEVC: the decoder of AV1 converts colours itself.
	Colour Colour
	// Profile is the ICC profile, nil if there is none.
	Profile []byte
	// Missing is how many of its Tiles, which are of HEVC, lie beyond the end of the file. They
	// are grey.
	Missing, Tiles int
	// Alpha is the picture whose luma is the straight alpha, nil if there is
	// none. The decoder of AV1 applies it itself.
	Alpha *Picture
	// Thumbnails are smaller versions, in the order of their numbers.
	Thumbnails []*Picture

	file    *meta
	id      uint32
	depth   int      // most bits per sample
	columns int      // of tiles
	tiles   []*coded // HEVC: one, or those of a grid, row by row; nil for one that is missing
	pixels  int64    // of the largest coded picture
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// Parse reads what precedes decoding of the file's primary picture, within a
// quota of memory in addition to the file. Errors wrap ErrUnsupported, ErrDamaged,
// ErrMemory or io.ErrUnexpectedEOF. It takes time proportional to the file and to
// what it takes of the quota.
func Parse(file []byte, q *quota.Quota) (*Picture, error) {
	m, err := readMeta(file, q)
	if err != nil {
		return nil, err
	}
	if m.primaryBytes == 0 {
		return nil, unsupported("a file without a primary picture")
	}
	p, err := m.picture(m.primary)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(m.items)) {
		it := m.items[id]
		if p.Codec == AV1 && it.kind == AV1 && errors.Is(m.tile(it).err, ErrMemory) {
			return nil, it.tile.err // libavif finds alpha by itself
		}
		switch {
		case p.Alpha == nil && p.Codec == HEVC && slices.Contains(it.refs["auxl"], m.primary) && m.isAlpha(it):
			if p.Alpha, err = m.picture(id); err != nil {
				return nil, err
			}
			if p.Alpha.Codec != HEVC {
				return nil, unsupported("alpha in another codec than the picture")
			}
		case slices.Contains(it.refs["thmb"], m.primary):
			t, err := m.picture(id)
			if errors.Is(err, ErrMemory) {
				return nil, err
			}
			if err == nil {
				p.Thumbnails = append(p.Thumbnails, t)
			}
		}
	}
	return p, nil
}

// isAlpha distinguishes alpha from depth and other auxiliary pictures.
func (m *meta) isAlpha(it *item) bool {
	body, ok := m.property(it, "auxC")
	if !ok || len(body) < 4 {
		return false
	}
	urn, _, _ := strings.Cut(string(body[4:]), "\x00")
	return slices.Contains([]string{
		"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1",
	}, urn)
}

func (m *meta) picture(id uint32) (p *Picture, err error) {
	it := m.items[id]
	if it == nil || it.kind == "" {
		return nil, damaged("picture %d is missing", id)
	}
	p = &Picture{file: m, id: id, columns: 1}
	if p.Width, p.Height, err = m.size(it); err != nil {
		return nil, err
	}
	switch it.kind {
	case HEVC, AV1:
		var t *tile
		if t, err = p.add(it); err == nil {
			p.Width, p.Height = t.width, t.height // with HEVC ispe may lie
		}
	case "grid":
		err = m.readGrid(p, it)
	default:
		err = unsupported("pictures of kind %q", it.kind)
	}
	if err != nil {
		return nil, err
	}
	p.readCrop(it)
	p.orient(it)
	p.readColour(it)
	return p, nil
}

// size reads ispe.
func (m *meta) size(it *item) (width, height int, err error) {
	b, ok := m.property(it, "ispe")
	if !ok || len(b) < 12 {
		return 0, 0, damaged("a picture without a size")
	}
	w, h := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	const most = 1<<31 - 1
	if w == 0 || h == 0 || w > most || h > most {
		return 0, 0, damaged("a picture of %d×%d pixels", w, h)
	}
	return int(w), int(h), nil
}

// readGrid reads the tiles of a grid (ISO/IEC 23008-12, 6.6.2.3).
func (m *meta) readGrid(p *Picture, it *item) error {
	body, err := m.data(it)
	if err != nil {
		return err
	}
	r := &reader{b: body}
	_, flags := r.number(1), r.number(1)
	rows, columns := 1+int(r.number(1)), 1+int(r.number(1))
	bytes := 2 + 2*int(flags&1)
	w, h := int(r.number(bytes)), int(r.number(bytes))
	ids := it.refs["dimg"]
	if r.short || w < 1 || h < 1 || len(ids) != rows*columns {
		return damaged("a grid of %d×%d tiles, %d×%d pixels, with %d tiles", columns, rows, w, h, len(ids))
	}
	if err := m.reserve(len(ids), referenceBytes); err != nil {
		return err
	}
	p.Width, p.Height, p.columns, p.Tiles = w, h, columns, len(ids)
	var first *tile
	for _, id := range ids {
		it := m.items[id]
		switch {
		case it == nil:
			return damaged("tile %d is missing", id)
		case p.Codec != "" && p.Codec != it.kind:
			return unsupported("tiles of kinds %q and %q", p.Codec, it.kind)
		}
		t, err := p.add(it)
		if errors.Is(err, io.ErrUnexpectedEOF) && first != nil && first.coded != nil {
			p.tiles, p.Missing = append(p.tiles, nil), p.Missing+1
			continue
		}
		if err != nil {
			return err
		}
		if first == nil {
			first = t
		}
		if !t.like(first) {
			return damaged("tiles that differ")
		}
	}
	return p.checkTiles(first, rows)
}

// checkTiles: tiles cover the picture, none lies outside of it, and they begin at
// a chroma sample.
func (p *Picture) checkTiles(t *tile, rows int) error {
	if p.columns*t.width < p.Width || rows*t.height < p.Height {
		return damaged("tiles that do not cover the picture")
	}
	if (p.columns-1)*t.width >= p.Width || (rows-1)*t.height >= p.Height {
		return damaged("tiles outside of the picture")
	}
	if t.coded == nil {
		const mostSide = 1 << 16 // frame_width_minus_1 has 16 bits (AV1 specification, 5.5.1)
		if t.width > mostSide || t.height > mostSide {
			return damaged("AV1 tiles of %d×%d pixels", t.width, t.height)
		}
		return nil
	}
	s := newPlanes(t.width, t.height, t.coded.chroma)
	if p.columns > 1 && t.width%s.Across != 0 || rows > 1 && t.height%s.Down != 0 {
		return unsupported("tiles of %d×%d pixels", t.width, t.height)
	}
	return nil
}

// add adds a coded picture, which is read only once.
func (p *Picture) add(it *item) (*tile, error) {
	t := p.file.tile(it)
	if t.err != nil {
		return nil, t.err
	}
	p.Codec, p.depth = it.kind, max(p.depth, t.depth)
	p.pixels = max(p.pixels, int64(t.width)*int64(t.height))
	if t.coded != nil {
		p.tiles = append(p.tiles, t.coded)
	}
	return t, nil
}

// readCrop reads clap: fractions for the size and for the offset of the centre.
// A crop that is not in whole pixels within the picture is ignored.
func (p *Picture) readCrop(it *item) {
	p.Crop = Crop{Width: p.Width, Height: p.Height}
	b, ok := p.file.property(it, "clap")
	if !ok || len(b) < 32 {
		return
	}
	axis := func(b []byte, whole int) (at, length int, ok bool) {
		n, d := int(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:]))
		offset, by := int(int32(binary.BigEndian.Uint32(b[16:]))), int(binary.BigEndian.Uint32(b[20:]))
		if d == 0 || by == 0 {
			return 0, 0, false
		}
		length = n / d
		twice := 2*offset/by + whole - length
		return twice / 2, length, length >= 1 && twice >= 0 && twice/2+length <= whole
	}
	x, w, okX := axis(b, p.Width)
	y, h, okY := axis(b[8:], p.Height)
	if okX && okY {
		p.Crop = Crop{x, y, w, h}
	}
}

// orient combines irot (quarter turns counter-clockwise) and the imir that
// follows it.
func (p *Picture) orient(it *item) {
	turns, mirror := 0, 0
	if b, ok := p.file.property(it, "irot"); ok && len(b) > 0 {
		turns = int(b[0] & 3)
	}
	if b, ok := p.file.property(it, "imir"); ok && len(b) > 0 {
		mirror = 1 + int(b[0]&1) // 1 exchanges top and bottom, 2 left and right
	}
	p.Orientation = [4][3]int{{1, 4, 2}, {8, 5, 7}, {3, 2, 4}, {6, 7, 5}}[turns][mirror]
}

// readColour prefers the colours of the container to those of the stream.
func (p *Picture) readColour(it *item) {
	if len(p.tiles) > 0 {
		p.Colour = p.tiles[0].colour
	}
	for _, n := range it.properties {
		if b, ok := p.file.propertyAt(n, "colr"); ok && len(b) >= 11 && string(b[:4]) == "nclx" {
			p.Colour = Colour{Matrix: int(binary.BigEndian.Uint16(b[8:])), FullRange: b[10]&0x80 != 0}
		} else if ok && len(b) > 4 && (string(b[:4]) == "prof" || string(b[:4]) == "rICC") {
			p.Profile = b[4:]
		}
	}
}

// primary returns the file with p as its primary picture, so that any decoder of
// the file decodes p.
func (p *Picture) primary() []byte {
	m := p.file
	if m.primary == p.id {
		return m.file
	}
	file := slices.Clone(m.file)
	if m.primaryBytes == 2 {
		binary.BigEndian.PutUint16(file[m.primaryAt:], uint16(p.id))
	} else {
		binary.BigEndian.PutUint32(file[m.primaryAt:], p.id)
	}
	return file
}
