package preprocess

// expand returns the indices of a run-length encoded picture, one a byte, as far as the
// data goes; what the data leaves out is 0.
func (h *bmpHeader) expand() []byte {
	r := rleReader{data: h.data, width: h.width, out: make([]byte, h.width*h.height), nibbles: h.depth == 4}
	for r.step() {
	}
	return r.out
}

type rleReader struct {
	data    []byte
	out     []byte
	width   int
	x, y    int
	nibbles bool
}

// step takes one code, and reports whether there may be more.
func (r *rleReader) step() bool {
	if len(r.data) < 2 || r.y*r.width >= len(r.out) {
		return false
	}
	n, value := int(r.data[0]), r.data[1]
	r.data = r.data[2:]
	if n > 0 {
		for i := range n {
			r.put(r.sample(value, i))
		}
		return true
	}
	switch value {
	case 0: // the end of a row
		r.x, r.y = 0, r.y+1
	case 1: // the end of the picture
		return false
	case 2:
		if len(r.data) < 2 {
			return false
		}
		r.x, r.y, r.data = r.x+int(r.data[0]), r.y+int(r.data[1]), r.data[2:]
	default:
		r.literal(int(value))
	}
	return true
}

// literal takes n values as they stand, padded to whole words.
func (r *rleReader) literal(n int) {
	size := n
	if r.nibbles {
		size = (n + 1) / 2
	}
	for i := range n {
		at := i
		if r.nibbles {
			at /= 2
		}
		if at >= len(r.data) {
			break
		}
		r.put(r.sample(r.data[at], i))
	}
	r.data = r.data[min(size+size&1, len(r.data)):]
}

// sample returns the value of position i in a byte.
func (r *rleReader) sample(value byte, i int) byte {
	switch {
	case !r.nibbles:
		return value
	case i%2 == 0:
		return value >> 4
	}
	return value & 15
}

func (r *rleReader) put(index byte) {
	if at := r.y*r.width + r.x; r.x < r.width && at < len(r.out) {
		r.out[at] = index
	}
	r.x++
}
