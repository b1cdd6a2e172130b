package icc

import (
	"encoding/binary"
	"math"
)

const (
	headerBytes = 128
	entryBytes  = 12
	// mostTags is more than any profile has.
	mostTags = 256
)

// A profile finds the tags in the bytes of a profile.
type profile []byte

// isMatrix reports whether a profile is of RGB, with curves and a matrix to XYZ.
func (p profile) isMatrix() bool {
	return len(p) >= headerBytes+4 && string(p[16:20]) == "RGB " && string(p[20:24]) == "XYZ " &&
		string(p[36:40]) == "acsp"
}

// tag returns the content of a tag of the given type, after the type.
func (p profile) tag(name, kind string) []byte {
	n := min(binary.BigEndian.Uint32(p[headerBytes:]), mostTags)
	for i := range int(n) {
		at := headerBytes + 4 + i*entryBytes
		if at+entryBytes > len(p) {
			return nil
		}
		if string(p[at:at+4]) != name {
			continue
		}
		from := uint64(binary.BigEndian.Uint32(p[at+4:]))
		to := from + uint64(binary.BigEndian.Uint32(p[at+8:]))
		if to > uint64(len(p)) || to-from < 8 || string(p[from:from+4]) != kind {
			return nil
		}
		return p[from+8 : to]
	}
	return nil
}

// fixed reads an s15Fixed16 number.
func fixed(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) / (1 << 16) }

// matrix returns the matrix from linear RGB to XYZ (D50).
func (p profile) matrix() (m matrix, ok bool) {
	for column, name := range []string{"rXYZ", "gXYZ", "bXYZ"} {
		b := p.tag(name, "XYZ ")
		if len(b) < 12 {
			return m, false
		}
		for row := range m {
			m[row][column] = fixed(b[4*row:])
		}
	}
	return m, true
}

// A curve turns a stored value, 0 to 1, into light.
type curve func(v float64) float64

func (p profile) curve(name string) curve {
	if b := p.tag(name, "curv"); len(b) >= 4 {
		return table(b[4:], binary.BigEndian.Uint32(b))
	}
	if b := p.tag(name, "para"); len(b) >= 4 {
		return parametric(int(binary.BigEndian.Uint16(b)), b[4:])
	}
	return nil
}

// table is a curve of n values; none is a straight line, one is the exponent.
func table(b []byte, n uint32) curve {
	switch {
	case n == 0:
		return func(v float64) float64 { return v }
	case uint64(len(b)) < 2*uint64(n):
		return nil
	case n == 1:
		gamma := float64(binary.BigEndian.Uint16(b)) / 256
		return func(v float64) float64 { return math.Pow(v, gamma) }
	}
	last := int(n) - 1
	at := func(i int) float64 { return float64(binary.BigEndian.Uint16(b[2*i:])) / math.MaxUint16 }
	return func(v float64) float64 {
		i := min(int(v*float64(last)), last-1)
		share := v*float64(last) - float64(i)
		return at(i)*(1-share) + at(i+1)*share
	}
}

// parametric is one of the five functions of ICC.1:2022, 10.18.
func parametric(kind int, b []byte) curve {
	counts := []int{1, 3, 4, 5, 7}
	if kind >= len(counts) || len(b) < 4*counts[kind] {
		return nil
	}
	var k [7]float64 // g, a, b, c, d, e, f
	for i := range counts[kind] {
		k[i] = fixed(b[4*i:])
	}
	g, a, shift, c, d, e, f := k[0], k[1], k[2], k[3], k[4], k[5], k[6]
	switch kind {
	case 0:
		a, d = 1, 0
	case 1, 2:
		if a == 0 {
			return nil
		}
		e, f, c, d = c, c, 0, -shift/a
	}
	return func(v float64) float64 {
		if v >= d {
			return math.Pow(max(0, a*v+shift), g) + e
		}
		return c*v + f
	}
}
