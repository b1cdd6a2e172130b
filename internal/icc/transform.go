package icc

import (
	"math"
	"sync"
)

type matrix [3][3]float64

// toSRGB is the matrix from XYZ (D50) to linear sRGB.
var toSRGB = matrix{
	{3.1338561, -1.6168667, -0.4906146},
	{-0.9787684, 1.9161415, 0.0334540},
	{0.0719453, -0.2289914, 1.4052427},
}

func (m matrix) times(other matrix) (out matrix) {
	for i := range out {
		for j := range out {
			for k := range out {
				out[i][j] += m[i][k] * other[k][j]
			}
		}
	}
	return out
}

const (
	// shift is the number of bits after the point of the matrix.
	shift = 12
	// steps is the number of steps of light.
	steps = 1 << 14
)

// A Transform converts 8-bit RGB to sRGB. It is safe for concurrent use.
type Transform struct {
	light  [3][256]int32
	matrix [3][3]int32
	stored *[steps + 1]byte
}

// New returns the conversion that a profile describes, or nil if there is nothing to
// convert: the profile is sRGB, or one that cannot be read.
func New(file []byte) *Transform {
	p := profile(file)
	if !p.isMatrix() {
		return nil
	}
	m, ok := p.matrix()
	if !ok {
		return nil
	}
	t := &Transform{}
	for c, name := range []string{"rTRC", "gTRC", "bTRC"} {
		curve := p.curve(name)
		if curve == nil {
			return nil
		}
		for v := range t.light[c] {
			l := curve(float64(v) / 255)
			if !(l >= 0) { // also NaN
				l = 0
			}
			t.light[c][v] = int32(math.Round(min(l, 1) * steps))
		}
	}
	for i, row := range toSRGB.times(m) {
		for j, v := range row {
			if !(math.Abs(v) <= mostGain) {
				return nil
			}
			t.matrix[i][j] = int32(math.Round(v * (1 << shift)))
		}
	}
	t.stored = storedSRGB()
	if t.isIdentity() {
		return nil
	}
	return t
}

// mostGain bounds the entries of the matrix, which are below 3 in all colour spaces.
const mostGain = 16

// storedSRGB returns the stored value of each step of light.
var storedSRGB = sync.OnceValue(func() *[steps + 1]byte {
	var out [steps + 1]byte
	for i := range out {
		l := float64(i) / steps
		v := 12.92 * l
		if l > 0.0031308 {
			v = 1.055*math.Pow(l, 1/2.4) - 0.055
		}
		out[i] = byte(math.Round(255 * v))
	}
	return &out
})

// isIdentity reports whether no colour of a grid changes by more than two levels.
func (t *Transform) isIdentity() bool {
	const step, most = 51, 2
	for r := 0; r < 256; r += step {
		for g := 0; g < 256; g += step {
			for b := 0; b < 256; b += step {
				before := [3]byte{byte(r), byte(g), byte(b)}
				after := before
				t.Convert(after[:])
				for c := range after {
					d := int(after[c]) - int(before[c])
					if d < -most || d > most {
						return false
					}
				}
			}
		}
	}
	return true
}

// Convert converts packed RGB in place. What sRGB cannot show is clipped.
func (t *Transform) Convert(rgb []byte) {
	m := &t.matrix
	for ; len(rgb) >= 3; rgb = rgb[3:] {
		r, g, b := int64(t.light[0][rgb[0]]), int64(t.light[1][rgb[1]]), int64(t.light[2][rgb[2]])
		for c := range 3 {
			light := (int64(m[c][0])*r + int64(m[c][1])*g + int64(m[c][2])*b + 1<<(shift-1)) >> shift
			rgb[c] = t.stored[min(max(light, 0), steps)]
		}
	}
}

// IsMatrix reports whether a profile is of RGB, with curves and a matrix, so that New reads it.
func IsMatrix(file []byte) bool {
	p := profile(file)
	return p.isMatrix() && p.tag("rXYZ", "XYZ ") != nil
}
