package preprocess

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

// A fakeDecoder paints one colour and records the scales.
type fakeDecoder struct {
	level byte
	err   error
	by    []int
}

func (d *fakeDecoder) ID() string { return "0123abcd" }

func (d *fakeDecoder) Decode(dst, _ []byte, _, _, by, _ int, _ int64) error {
	d.by = append(d.by, by)
	for i := range dst {
		dst[i] = d.level
	}
	return d.err
}

func imagenet(tb testing.TB) Spec {
	tb.Helper()
	s, err := Preset("imagenet")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// native returns a Preprocessor for 224 pixels with a decoder.
func native(tb testing.TB, d JPEGDecoder) *Preprocessor {
	tb.Helper()
	s := imagenet(tb)
	s.JPEG = TurboJPEG(d)
	p, err := NewNative(s, DefaultBudget(), d)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// TestReduction: only from four times the target, and never below twice.
func TestReduction(t *testing.T) {
	s := imagenet(t)
	for _, c := range []struct{ width, height, want int }{
		{500, 375, 1}, {1194, 895, 1}, {1195, 896, 2}, {4000, 896, 2}, {4000, 1792, 4}, {4000, 3000, 4},
		{3000, 4000, 4}, {4776, 3583, 4}, {4778, 3584, 8}, {30000, 20000, 8},
	} {
		by := reduction(s.Size, c.width, c.height)
		if by != c.want || by > 1 && min(c.width, c.height)/by < 2*s.Size {
			t.Errorf("%d×%d: 1/%d, want 1/%d", c.width, c.height, by, c.want)
		}
	}
}

// TestNativeIsForPlainJPEG only; everything else, and files that it refuses, go
// to Go's decoders, which return the errors.
func TestNativeIsForPlainJPEG(t *testing.T) {
	d := &fakeDecoder{level: 255}
	p := native(t, d)
	dst, other := make([]float32, 3*224*224), make([]float32, 3*224*224)
	white := (float32(1) - float32(p.spec.Mean[0])) / float32(p.spec.Std[0])
	file := photoJPEG(t, 1200, 1000)
	if err := p.Tensor(t.Context(), dst, file); err != nil || len(d.by) != 1 || d.by[0] != 2 ||
		math.Abs(float64(dst[0]-white)) > 1e-6 {
		t.Fatalf("%v, scales %v, value %v", err, d.by, dst[0])
	}
	var cmyk bytes.Buffer // image/jpeg writes no CMYK: a PNG stands for all other formats
	if err := png.Encode(&cmyk, photo(30, 20).nrgba()); err != nil {
		t.Fatal(err)
	}
	if err := p.Tensor(t.Context(), dst, cmyk.Bytes()); err != nil || len(d.by) != 1 {
		t.Errorf("PNG: %v, scales %v", err, d.by)
	}
	for name, bad := range map[string][]byte{"cut": file[:len(file)/2], "empty": nil, "text": []byte("no picture")} {
		err := p.Tensor(t.Context(), dst, bad)
		plain, _ := New(imagenet(t), DefaultBudget())
		if want := plain.Tensor(t.Context(), other, bad); err == nil || want == nil || err.Error() != want.Error() ||
			len(d.by) != 1 {
			t.Errorf("%s: %v, want %v; scales %v", name, err, want, d.by)
		}
	}
	d.err = errors.New("odd file")
	plain, _ := New(imagenet(t), DefaultBudget())
	if err := errors.Join(p.Tensor(t.Context(), dst, file), plain.Tensor(t.Context(), other, file)); err != nil ||
		dst[0] != other[0] {
		t.Errorf("a file that it refuses: %v, %v and %v", err, dst[0], other[0])
	}
	p.budget, _ = NewBudget(leastMemory)
	if err := p.Tensor(t.Context(), dst, file); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file beyond the limit: %v", err)
	}
}

func TestDecoderIsPartOfTheSpec(t *testing.T) {
	plain := imagenet(t)
	turbo := plain
	turbo.JPEG = TurboJPEG(&fakeDecoder{})
	if turbo.Fingerprint() == plain.Fingerprint() {
		t.Error("both have the same fingerprint")
	}
	if _, err := New(turbo, DefaultBudget()); !errors.Is(err, ErrNoDecoder) {
		t.Errorf("without the decoder: %v", err)
	}
	for _, bad := range []string{"turbo", "turbo:", "turbo:xyzxyzxy", "go", "turbo:0123abcd0"} {
		s := plain
		s.JPEG = bad
		if s.Validate() == nil {
			t.Errorf("%q is allowed", bad)
		}
	}
}

// TestNativeThumbnail: scaled decoding for the thumbnail's own size, and Go's
// decoders for the rest.
func TestNativeThumbnail(t *testing.T) {
	d := &fakeDecoder{level: 255}
	p := native(t, d)
	jpg, err := p.Thumbnail(t.Context(), photoJPEG(t, 2000, 1500), 160)
	if err != nil || len(d.by) != 1 || d.by[0] != 4 {
		t.Fatalf("%v, scales %v", err, d.by)
	}
	if c, err := jpeg.DecodeConfig(bytes.NewReader(jpg)); err != nil || c.Width != 160 || c.Height != 120 {
		t.Errorf("%d×%d, %v", c.Width, c.Height, err)
	}
	if _, err := p.Thumbnail(t.Context(), []byte("no picture"), 160); !errors.Is(err, ErrFormat) {
		t.Errorf("%v", err)
	}
	if _, err := p.Thumbnail(t.Context(), nil, 0); err == nil {
		t.Error("a thumbnail of 0 pixels")
	}
}

// turbo returns this machine's library.
func turbo(tb testing.TB) *turbojpeg.Decoder {
	tb.Helper()
	path, err := turbojpeg.Locate()
	if err != nil {
		tb.Skip(err)
	}
	d, err := turbojpeg.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// TestReducedGeometry: a picture decoded at reduced size is resized to the same
// pixels as the whole one, also where its sides are no multiples, in every
// orientation.
func TestReducedGeometry(t *testing.T) {
	const width, height, by = 1003, 917, 4
	full := &Image{Width: width, Height: height, Pix: make([]byte, 3*width*height)}
	for i := range full.Pix {
		x, y := i/3%width, i/3/width
		full.Pix[i] = byte(128 + 60*math.Sin(float64(x)/40) + 60*math.Cos(float64(y)/30))
	}
	small := average(full, by)
	spec := imagenet(t)
	for o := 1; o <= 8; o++ {
		n := plan{width: width, height: height, by: by}
		pictures := [2][]byte{}
		whole, reduced := upright(full, o), upright(small, o)
		resize := func(r raster, g geometry) (out []byte) {
			new(resampler).run(r, filterOf(spec.Interpolation), g,
				func(_ int, rgb []byte) { out = append(out, rgb...) })
			return out
		}
		pictures[0], pictures[1] = resize(whole, spec.geometry(whole.size())),
			resize(reduced, spec.geometryIn(reduced, n, o))
		worst := 0
		for i, v := range pictures[0] {
			worst = max(worst, int(v)-int(pictures[1][i]), int(pictures[1][i])-int(v))
		}
		if worst > 2 {
			t.Errorf("orientation %d: %d levels", o, worst)
		}
	}
}

// TestTurboPixels: at full size within the 3 levels of the inverse DCT of Go's
// decoder; scaled decoding moves the resized picture little.
func TestTurboPixels(t *testing.T) {
	d := turbo(t)
	p, plain := native(t, d), func() *Preprocessor { p, _ := New(imagenet(t), DefaultBudget()); return p }()
	for _, c := range []struct {
		width, height int
		worst, mean   float64 // levels
	}{{500, 375, 4, 0.1}, {375, 500, 4, 0.1}, {1280, 960, 20, 2}, {2400, 1800, 20, 2}} {
		file := photoJPEG(t, c.width, c.height)
		a, b := make([]float32, 3*224*224), make([]float32, 3*224*224)
		if err := errors.Join(p.Tensor(t.Context(), a, file), plain.Tensor(t.Context(), b, file)); err != nil {
			t.Fatal(err)
		}
		worst, sum := 0.0, 0.0
		for i := range a {
			levels := math.Abs(float64(a[i]-b[i])) * 255 * 0.225
			worst, sum = max(worst, levels), sum+levels
		}
		if mean := sum / float64(len(a)); worst > c.worst || mean > c.mean {
			t.Errorf("%d×%d: worst %.1f levels, mean %.2f", c.width, c.height, worst, mean)
		} else {
			t.Logf("%d×%d: worst %.1f levels, mean %.2f", c.width, c.height, worst, mean)
		}
	}
}

func TestTurboGrey(t *testing.T) {
	var file bytes.Buffer
	grey := image.NewGray(image.Rect(0, 0, 300, 300))
	for i := range grey.Pix {
		grey.Pix[i] = byte(i % 300 * 255 / 300)
	}
	if err := jpeg.Encode(&file, grey, nil); err != nil {
		t.Fatal(err)
	}
	a, b := make([]float32, 3*224*224), make([]float32, 3*224*224)
	plain, _ := New(imagenet(t), DefaultBudget())
	if err := errors.Join(native(t, turbo(t)).Tensor(t.Context(), a, file.Bytes()),
		plain.Tensor(t.Context(), b, file.Bytes())); err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 0.08 {
			t.Fatalf("value %d is %v, want %v", i, a[i], b[i])
		}
	}
}

func BenchmarkTensorTurbo(b *testing.B) {
	p := native(b, turbo(b))
	dst := make([]float32, 3*224*224)
	for _, c := range []struct {
		name          string
		width, height int
	}{{"JPEG_500x375_to_224", 500, 375}, {"JPEG_4000x3000_to_224", 4000, 3000}} {
		file := photoJPEG(b, c.width, c.height)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Tensor(b.Context(), dst, file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
