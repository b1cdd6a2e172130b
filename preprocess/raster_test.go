package preprocess

import (
	"bytes"
	"compress/lzw"
	"image"
	"image/color"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestPaletteIndexOutOfRange is CVE-2023-36308 of disintegration/imaging: such
// pixels are black here, and imaging never sees the palette.
func TestPaletteIndexOutOfRange(t *testing.T) {
	m := image.NewPaletted(image.Rect(0, 0, 3, 1), color.Palette{color.RGBA{R: 9, A: 255}, nil})
	m.Pix = []byte{0, 1, 200}
	r := newRaster(m)
	dst := make([]byte, 9)
	r.row(dst, 0, 0, 3)
	if want := []byte{9, 0, 0, 0, 0, 0, 0, 0, 0}; !bytes.Equal(dst, want) {
		t.Errorf("got %v, want %v", dst, want)
	}
}

// craftedGIF has a palette of two colours and pixels of 200.
func craftedGIF(t *testing.T) []byte {
	t.Helper()
	var data bytes.Buffer
	w := lzw.NewWriter(&data, lzw.LSB, 8)
	must.Get(w.Write(bytes.Repeat([]byte{200}, 16)))(t)
	must.Do(t, w.Close())
	file := []byte("GIF89a\x04\x00\x04\x00\x80\x00\x00" + "\x00\x00\x00\xff\xff\xff") // canvas, two colours
	file = append(file, ",\x00\x00\x00\x00\x04\x00\x04\x00\x00\x08"...)               // frame, 8 bits per code
	file = append(append(file, byte(data.Len())), data.Bytes()...)
	return append(file, 0, ';')
}

func TestCraftedGIFDoesNotPanic(t *testing.T) {
	file := craftedGIF(t)
	_, decodeErr := Decode(t.Context(), file, DefaultBudget(), true)
	_, thumbnailErr := Thumbnail(t.Context(), file, DefaultBudget(), 2)
	if (decodeErr == nil) != (thumbnailErr == nil) {
		t.Errorf("decode: %v, thumbnail: %v", decodeErr, thumbnailErr)
	}
	if decodeErr != nil && !hasKind(decodeErr) {
		t.Errorf("unknown kind: %v", decodeErr)
	}
}

func TestBlendWhite(t *testing.T) {
	for c := uint32(0); c < 256; c++ {
		for a := uint32(0); a < 256; a++ {
			want := byte((2*(c*a+255*(255-a)) + 255) / 510)
			if got := blendWhite(c, a); got != want {
				t.Fatalf("blendWhite(%d, %d) = %d, want %d", c, a, got, want)
			}
		}
	}
}

func TestClip8(t *testing.T) {
	for v, want := range map[int32]byte{-1: 0, -1 << 31: 0, 0: 0, 255: 255, 256: 255, 1<<31 - 1: 255, 7: 7} {
		if got := clip8(v); got != want {
			t.Errorf("clip8(%d) = %d, want %d", v, got, want)
		}
	}
}

func TestPartialRowsEqualWholeRows(t *testing.T) {
	b := DefaultBudget()
	for name, file := range seedImages(t) {
		p, err := planFile(file, b, purpose{size: fullSize})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := p.open(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w, h := r.size()
		whole, part := make([]byte, 3*w), make([]byte, 3*w)
		for _, y := range []int{0, h / 2, h - 1} {
			r.row(whole, y, 0, w)
			x0, x1 := w/3, w-w/4
			r.row(part, y, x0, x1)
			if !bytes.Equal(part[:3*(x1-x0)], whole[3*x0:3*x1]) {
				t.Errorf("%s: row %d differs from %d to %d", name, y, x0, x1)
			}
		}
	}
}
