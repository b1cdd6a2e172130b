package preprocess

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func boxTensors(t testing.TB, p *Preprocessor, file []byte, boxes ...Box) (all [][]float32) {
	t.Helper()
	must.Do(t, p.Boxes(t.Context(), file, boxes, func(_ int, tensor func([]float32) error) error {
		dst := make([]float32, 3*p.spec.Side()*p.spec.Side())
		all = append(all, dst)
		return tensor(dst)
	}))
	return all
}

// squareOf draws a square of a picture with other means than Boxes: outside is grey.
func squareOf(t testing.TB, m image.Image, x, y, side int) []byte {
	t.Helper()
	out := image.NewNRGBA(image.Rect(0, 0, side, side))
	draw.Draw(out, out.Rect, image.NewUniform(color.NRGBA{128, 128, 128, 255}), image.Point{}, draw.Src)
	draw.Draw(out, m.Bounds().Sub(image.Pt(x, y)), m, image.Point{}, draw.Src)
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, out))
	return b.Bytes()
}

func halfSpec() Spec {
	return Spec{Resize: ResizeShorter, Size: 20, Crop: 16, Interpolation: Bicubic, Orientation: true,
		Mean: [3]float64{128. / 255, 128. / 255, 128. / 255}, Std: [3]float64{1, 1, 1}}
}

// TestBoxesArePhotosOfTheirSquare: inside, moved in from each edge, and padded.
func TestBoxesArePhotosOfTheirSquare(t *testing.T) {
	p := must.Get(New(halfSpec(), DefaultBudget()))(t)
	m := photo(200, 100).nrgba()
	whole := encoded(t, m)
	for _, c := range []struct {
		box        Box
		x, y, side int
	}{
		{Box{0.4, 0.3, 0.2, 0.2}, 77, 17, 46}, // 40 × 20 pixels around (100, 40)
		{Box{0, 0, 0.1, 0.1}, 0, 0, 23},
		{Box{0.9, 0.8, 0.1, 0.2}, 177, 77, 23},
		{Box{0, 0.2, 0.3, 0.6}, 0, 16, 69},
		{Box{0.25, 0, 0.5, 1}, 43, -7, 115}, // higher than the picture
		{Box{0, 0, 1, 1}, -15, -65, 230},
		{Box{0.5, 0.5, 0.0001, 0.0001}, 100, 50, 1},
	} {
		if x, y, side := c.box.square(200, 100); x != c.x || y != c.y || side != c.side {
			t.Errorf("%v: square at %d, %d of %d, want %d, %d, %d", c.box, x, y, side, c.x, c.y, c.side)
			continue
		}
		want := make([]float32, 3*16*16)
		must.Do(t, p.Tensor(t.Context(), want, squareOf(t, m, c.x, c.y, c.side)))
		if got := boxTensors(t, p, whole, c.box)[0]; !slices.Equal(got, want) {
			t.Errorf("%v: other pixels than those of the square cut out", c.box)
		}
		for _, side := range []int{9, 500} {
			want := must.Get(p.Thumbnail(t.Context(), squareOf(t, m, c.x, c.y, c.side), side))(t)
			if got, err := p.BoxThumbnail(t.Context(), whole, c.box, side); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: another thumbnail of %d pixels than that of the square cut out (%v)", c.box, side, err)
			}
		}
	}
	for box, side := range map[Box]int{{0.5, 0.5, 0.6, 0.1}: 10, {0, 0, 1, 1}: 0} {
		if _, err := p.BoxThumbnail(t.Context(), whole, box, side); err == nil {
			t.Errorf("%v: a thumbnail of %d pixels", box, side)
		}
	}
}

func encoded(t testing.TB, m image.Image) []byte {
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, m))
	return b.Bytes()
}

// TestBoxesOfEveryFormat: boxes lie on the upright picture, whatever the format and its
// orientation, and many give what each gives alone.
func TestBoxesOfEveryFormat(t *testing.T) {
	p := must.Get(New(halfSpec(), DefaultBudget()))(t)
	boxes := []Box{{0.1, 0.1, 0.3, 0.4}, {0, 0, 1, 1}, {0.5, 0.2, 0.5, 0.2}, {0.7, 0.8, 0.1, 0.1}}
	for name, file := range seedImages(t) {
		img, err := Decode(t.Context(), file, DefaultBudget(), true)
		if err != nil {
			t.Fatal(name, err)
		}
		upright := encoded(t, img.nrgba())
		together := boxTensors(t, p, file, boxes...)
		for i, b := range boxes {
			if !slices.Equal(boxTensors(t, p, upright, b)[0], together[i]) {
				t.Errorf("%s: box %d differs from that of the upright picture", name, i)
			}
		}
	}
}

func TestBoxesRefuse(t *testing.T) {
	p := must.Get(New(halfSpec(), fuzzBudget()))(t)
	nan := math.NaN()
	boxes := []Box{{nan, 0, 1, 1}, {0, 0, nan, 1}, {-0.1, 0, 1, 1}, {0.5, 0, 0.6, 1}, {0, 0, math.Inf(1), 1},
		{0, 0, 0.5, 0.5}}
	var errs []error
	dst := make([]float32, 3*16*16)
	err := p.Boxes(t.Context(), ramp(t, 40, 30), boxes, func(_ int, tensor func([]float32) error) error {
		errs = append(errs, tensor(dst))
		return nil
	})
	if err != nil || len(errs) != len(boxes) {
		t.Fatalf("%d boxes, %v", len(errs), err)
	}
	for i, err := range errs {
		if (err == nil) != (i == len(boxes)-1) {
			t.Errorf("box %v: %v", boxes[i], err)
		}
	}
	// A square around a box of a ribbon has many times its area.
	err = p.Boxes(t.Context(), ramp(t, 100_000, 1), []Box{{0, 0, 1, 1}},
		func(_ int, tensor func([]float32) error) error { return tensor(dst) })
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("the square of a ribbon: %v", err)
	}
	stop := errors.New("stop")
	calls := 0
	err = p.Boxes(t.Context(), ramp(t, 40, 30), boxes, func(int, func([]float32) error) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if err := p.Boxes(t.Context(), nil, boxes, nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("no bytes: %v", err)
	}
}

// TestViewsOfBoxes: views of a box repeat and differ, and each shows a part of its square,
// of which the left half is black here and the rest of the picture white.
func TestViewsOfBoxes(t *testing.T) {
	p := must.Get(New(halfSpec(), DefaultBudget()))(t)
	m := image.NewNRGBA(image.Rect(0, 0, 200, 100))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(m, image.Rect(77, 17, 123, 63), image.NewUniform(color.Gray{51}), image.Point{}, draw.Src)
	file := encoded(t, m)
	view := func(number int) (dst []float32) {
		dst = make([]float32, 3*16*16)
		must.Do(t, p.View(number).Boxes(t.Context(), file, []Box{{0.4, 0.3, 0.2, 0.2}},
			func(_ int, tensor func([]float32) error) error { return tensor(dst) }))
		return dst
	}
	for number := 1; number < 5; number++ {
		for _, v := range view(number) {
			if v != float32(51)/255-float32(128./255) {
				t.Fatalf("view %d shows what is around the square: %g", number, v)
			}
		}
	}
	draw.Draw(m, image.Rect(77, 17, 100, 63), image.Black, image.Point{}, draw.Src)
	file = encoded(t, m)
	if !slices.Equal(view(1), view(1)) || slices.Equal(view(1), view(2)) {
		t.Error("a view does not repeat, or two are equal")
	}
}

// BenchmarkBoxes compares a photo with its boxes: the time of n is that of decoding it once
// and of n resizes.
func BenchmarkBoxes(b *testing.B) {
	p := must.Get(New(imagenet(b), DefaultBudget()))(b)
	dst := make([]float32, 3*224*224)
	for _, size := range [][2]int{{500, 375}, {4000, 3000}} {
		file := photoJPEG(b, size[0], size[1])
		b.Run(fmt.Sprintf("%dx%d/whole", size[0], size[1]), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, p.Tensor(b.Context(), dst, file))
			}
		})
		for _, n := range []int{1, 3, 10} {
			boxes := slices.Repeat([]Box{{0.3, 0.3, 0.3, 0.3}}, n)
			b.Run(fmt.Sprintf("%dx%d/boxes=%d", size[0], size[1], n), func(b *testing.B) {
				for b.Loop() {
					must.Do(b, p.Boxes(b.Context(), file, boxes,
						func(_ int, tensor func([]float32) error) error { return tensor(dst) }))
				}
			})
		}
	}
}
