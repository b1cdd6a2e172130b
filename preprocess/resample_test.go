package preprocess

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func noise(seed uint64, w, h int) *Image {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := &Image{Width: w, Height: h, Pix: make([]byte, 3*w*h)}
	for i := range m.Pix {
		m.Pix[i] = byte(rng.Uint32())
	}
	return m
}

func resized(src raster, f filter, g geometry) []byte { return resizedBy(new(resampler), src, f, g) }

func resizedBy(r *resampler, src raster, f filter, g geometry) []byte {
	var out []byte
	r.run(src, f, g, func(_ int, rgb []byte) { out = append(out, rgb...) })
	return out
}

// plainPass resizes one axis directly by the definition.
func plainPass(t *taps, n int, at func(i int) byte, put func(i int, v byte)) {
	for i := range n {
		start, weight := t.of(i)
		sum := int64(1) << (precisionBits - 1)
		for j, w := range weight {
			sum += int64(at(start+j)) * w
		}
		put(i, byte(min(max(sum>>precisionBits, 0), 255)))
	}
}

// plainResize runs the passes one after the other over whole pictures.
func plainResize(m *Image, f filter, side int) []byte {
	var across, down taps
	across.compute(f, m.Width, extent{}, side, 0, side)
	down.compute(f, m.Height, extent{}, side, 0, side)
	wide := make([]byte, 3*side*m.Height)
	for y := range m.Height {
		for c := range 3 {
			plainPass(&across, side, func(i int) byte { return m.Pix[3*(y*m.Width+i)+c] },
				func(i int, v byte) { wide[3*(y*side+i)+c] = v })
		}
	}
	out := make([]byte, 3*side*side)
	for x := range 3 * side {
		plainPass(&down, side, func(i int) byte { return wide[3*i*side+x] },
			func(i int, v byte) { out[3*i*side+x] = v })
	}
	return out
}

// blackWhite is noise that resizing takes far below 0 and above 255.
func blackWhite(seed uint64, w, h int) *Image {
	m := noise(seed, w, h)
	for i, v := range m.Pix {
		m.Pix[i] = 255 * (v & 1)
	}
	return m
}

// TestPassesEqualPlainArithmetic, with vector instructions where the processor has
// them and without.
func TestPassesEqualPlainArithmetic(t *testing.T) {
	for _, name := range []string{Bicubic, Bilinear} {
		for i, size := range [][2]int{{1, 1}, {2, 5}, {40, 31}, {97, 20}, {33, 33}, {9, 90}} {
			f := filterOf(name)
			for _, m := range []*Image{noise(uint64(i), size[0], size[1]), blackWhite(uint64(i), size[0], size[1])} {
				for _, side := range []int{1, 2, 7, 33} {
					g := geometry{width: side, height: side, side: side}
					portable := resizedBy(&resampler{portable: true}, m, f, g)
					if !slices.Equal(resized(m, f, g), portable) {
						t.Errorf("%s %v to %d: vector instructions make a difference", name, size, side)
					}
					if !g.verticalFirst(m.Width, m.Height) && !slices.Equal(portable, plainResize(m, f, side)) {
						t.Errorf("%s %v to %d differs", name, size, side)
					}
				}
			}
		}
	}
}

func TestWindowIsPartOfTheWhole(t *testing.T) {
	for _, size := range [][2]int{{50, 40}, {20, 300}} { // either order of passes
		m, f := noise(3, size[0], size[1]), filterOf(Bicubic)
		const side = 24
		whole := resized(m, f, geometry{width: side, height: side, side: side})
		part := resized(m, f, geometry{width: side, height: side, left: 5, top: 9, side: 11})
		for y := range 11 {
			row := whole[3*((y+9)*side+5):][:3*11]
			if !slices.Equal(part[3*11*y:][:3*11], row) {
				t.Fatalf("%v: row %d of the window differs", size, y)
			}
		}
	}
}

func TestSameSizeIsTheIdentity(t *testing.T) {
	m := noise(1, 19, 19)
	for _, name := range []string{Bicubic, Bilinear} {
		if got := resized(m, filterOf(name), geometry{width: 19, height: 19, side: 19}); !slices.Equal(got, m.Pix) {
			t.Errorf("%s changes pixels at the same size", name)
		}
	}
}

func TestConstantStaysConstant(t *testing.T) {
	for _, v := range []byte{0, 1, 128, 255} {
		m := &Image{Width: 37, Height: 91, Pix: slices.Repeat([]byte{v}, 3*37*91)}
		for _, side := range []int{1, 8, 50} {
			for _, got := range resized(m, filterOf(Bicubic), geometry{width: side, height: side, side: side}) {
				if got != v {
					t.Fatalf("side %d: %d became %d", side, v, got)
				}
			}
		}
	}
}

func TestLanesKeepSigns(t *testing.T) {
	unit := int64(1) << precisionBits
	for _, c := range [][2]int64{{0, 0}, {-3, 7}, {7, -3}, {-1, -1}, {300, 255}, {254, 301}} {
		sum := uint64(half) + uint64(c[0]*unit) + uint64(c[1]*unit)<<32
		a, b := lanes(sum)
		if a != clip8(int32(c[0])) || b != clip8(int32(c[1])) {
			t.Errorf("%v came apart as %d, %d", c, a, b)
		}
	}
}

// TestScratchIsReusableAtAnySize runs one resampler over growing and shrinking
// pictures: no picture may affect the next.
func TestScratchIsReusableAtAnySize(t *testing.T) {
	var used resampler
	for i, size := range [][2]int{{200, 10}, {3, 90}, {1, 1}, {64, 64}, {7, 300}} {
		m, g := noise(uint64(i), size[0], size[1]), geometry{width: 16, height: 16, side: 16}
		if !slices.Equal(resizedBy(&used, m, filterOf(Bicubic), g), resized(m, filterOf(Bicubic), g)) {
			t.Errorf("%v: a used resampler differs from a new one", size)
		}
	}
}
