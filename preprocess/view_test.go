package preprocess

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// ramp returns a picture whose red grows to the right and green downwards.
func ramp(t testing.TB, w, h int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.NRGBA{uint8(255 * x / max(w-1, 1)), uint8(255 * y / max(h-1, 1)), uint8(x ^ y), 255})
		}
	}
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, m))
	return b.Bytes()
}

func viewed(t testing.TB, number int, file []byte) []float32 {
	t.Helper()
	spec := must.Get(Preset("imagenet"))(t)
	spec.Size, spec.Crop, spec.Mean, spec.Std = 16, 16, [3]float64{}, [3]float64{1, 1, 1}
	p := must.Get(New(spec, DefaultBudget()))(t)
	dst := make([]float32, 3*16*16)
	must.Do(t, p.View(number).Tensor(t.Context(), dst, file))
	return dst
}

// A view is repeatable, views differ, some are mirrored and some are not, and
// each shows a quarter of the picture or more.
func TestViews(t *testing.T) {
	file := ramp(t, 80, 60)
	mirrored := 0
	for number := 1; number <= 24; number++ {
		x := viewed(t, number, file)
		if !slices.Equal(x, viewed(t, number, file)) {
			t.Fatalf("view %d does not repeat", number)
		}
		if slices.Equal(x, viewed(t, number+1, file)) {
			t.Errorf("views %d and %d are equal", number, number+1)
		}
		red, green := x[15]-x[0], x[256+15*16]-x[256]
		if red < 0 {
			mirrored++
			red = -red
		}
		if green <= 0 || red*green < 0.15 {
			t.Errorf("view %d spans %g × %g", number, red, green)
		}
	}
	if mirrored < 6 || mirrored > 18 {
		t.Errorf("%d of 24 are mirrored", mirrored)
	}
}

func TestViewsOfOddPictures(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 500}, {500, 1}, {2, 3}, {300, 7}} {
		for number := range 8 {
			for _, v := range viewed(t, number+1, ramp(t, size[0], size[1])) {
				if !(v >= 0 && v <= 1) {
					t.Fatalf("%v: %g", size, v)
				}
			}
		}
	}
}

// The window equals the crop of the picture, or mirrored, the crop read
// backwards.
func TestWindow(t *testing.T) {
	img := &Image{Width: 5, Height: 3, Pix: make([]byte, 45)}
	for i := range img.Pix {
		img.Pix[i] = byte(i)
	}
	w := &window{inner: img, x: 1, y: 1, w: 3, h: 2}
	got := make([]byte, 6)
	w.row(got, 1, 1, 3)
	want := img.Pix[3*(2*5+2) : 3*(2*5+4)]
	if !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	w.mirrored = true
	w.row(got, 1, 0, 2)
	if !bytes.Equal(got, append(slices.Clone(want[3:]), want[:3]...)) {
		t.Errorf("mirrored: %v", got)
	}
}

func TestViewFingerprintsAndErrors(t *testing.T) {
	spec := must.Get(Preset("imagenet"))(t)
	p := must.Get(New(spec, DefaultBudget()))(t)
	if a, b := p.View(1).Fingerprint(), p.View(2).Fingerprint(); a == b || a == spec.Fingerprint() || len(a) != 64 {
		t.Errorf("%s %s", a, b)
	}
	if err := p.View(1).Tensor(t.Context(), make([]float32, 3*224*224), nil); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if p.View(1).Tensor(t.Context(), make([]float32, 7), ramp(t, 3, 3)) == nil {
		t.Error("a short destination")
	}
}
