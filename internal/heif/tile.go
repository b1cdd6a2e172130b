package heif

// A tile is what was read of a coded picture.
type tile struct {
	width, height, depth int
	coded                *coded // nil for AV1, whose data only the decoder reads
	err                  error
}

func (t *tile) like(other *tile) bool {
	return t.width == other.width && t.height == other.height &&
		(t.coded == nil || t.coded.chroma == other.coded.chroma)
}

// tile returns what is read of a coded picture, once.
func (m *meta) tile(it *item) *tile {
	if it.tile != nil {
		return it.tile
	}
	t := &tile{}
	it.tile = t
	if t.err = m.reserve(1, tileBytes); t.err != nil {
		return t
	}
	switch it.kind {
	case HEVC:
		if t.coded, t.err = m.coded(it); t.err == nil {
			t.width, t.height, t.depth = t.coded.width, t.coded.height, t.coded.depth
		}
	case AV1:
		t.err = m.readAV1(it, t)
	default:
		t.err = unsupported("tiles of kind %q", it.kind)
	}
	return t
}

// readAV1 reads the configuration (av1C).
func (m *meta) readAV1(it *item, t *tile) (err error) {
	body, ok := m.property(it, "av1C")
	if !ok || len(body) < 4 {
		return damaged("AV1 without its configuration")
	}
	data, err := m.data(it)
	if err != nil {
		return err
	}
	const deep = 1 << 6
	t.depth = 8 + int(body[2]&deep)>>5 // 8 or 10, which stands for 12 too
	if t.width, t.height, err = m.size(it); err != nil {
		return err
	}
	return m.willDecode(frames(data), int64(t.width)*int64(t.height))
}

// frames returns the number of frames in the units of AV1 (AV1 specification, 5.3), which
// may be hidden. What cannot be read is left to the decoder.
func frames(data []byte) (n int) {
	const header, frame = 3, 6
	for r := (&reader{b: data}); len(r.b) > 0 && !r.short; {
		head := r.number(1)
		if head&4 != 0 {
			r.take(1) // layers
		}
		if kind := head >> 3 & 15; kind == header || kind == frame {
			n++
		}
		if head&2 == 0 {
			return n // it extends to the end
		}
		r.take(int(r.leb128()))
	}
	return n
}
