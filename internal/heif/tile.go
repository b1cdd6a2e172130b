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

func (m *meta) readTile(it *item) *tile {
	t := &tile{}
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
	if _, err := m.data(it); err != nil {
		return err
	}
	const deep = 1 << 6
	t.depth = 8 + int(body[2]&deep)>>5 // 8 or 10, which stands for 12 too
	t.width, t.height, err = m.size(it)
	return err
}
