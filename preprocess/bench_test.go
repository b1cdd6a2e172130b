package preprocess

import (
	"bytes"
	"image/jpeg"
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// photo returns a smooth picture with texture, which compresses like a photo.
func photo(width, height int) *Image {
	m := &Image{Width: width, Height: height, Pix: make([]byte, 3*width*height)}
	state := uint32(1)
	for i := range m.Pix {
		x, y, c := float64(i/3%width), float64(i/3/width), float64(i%3)
		state = state*1664525 + 1013904223
		noise := float64(state>>24)/255 - 0.5
		m.Pix[i] = byte(128 + 60*math.Sin(x/23+c) + 40*math.Cos(y/17-c) + 24*noise)
	}
	return m
}

// photoJPEG encodes it as 4:2:0, quality 90.
func photoJPEG(tb testing.TB, width, height int) []byte {
	tb.Helper()
	rgb := photo(width, height).nrgba()
	var b bytes.Buffer
	must.Do(tb, jpeg.Encode(&b, rgb, &jpeg.Options{Quality: 90}))
	return b.Bytes()
}

func benchmarkTensor(b *testing.B, file []byte) {
	s := must.Get(Preset("imagenet"))(b)
	p := must.Get(New(s, DefaultBudget()))(b)
	dst := make([]float32, 3*224*224)
	b.ReportAllocs()
	for b.Loop() {
		must.Do(b, p.Tensor(b.Context(), dst, file))
	}
}

func BenchmarkTensor(b *testing.B) {
	b.Run("JPEG_500x375_to_224", func(b *testing.B) { benchmarkTensor(b, photoJPEG(b, 500, 375)) })
	b.Run("JPEG_4000x3000_to_224", func(b *testing.B) { benchmarkTensor(b, photoJPEG(b, 4000, 3000)) })
}

func BenchmarkDecode(b *testing.B) {
	file := photoJPEG(b, 500, 375)
	b.Run("image_jpeg_only_500x375", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must.Get(jpeg.Decode(bytes.NewReader(file)))(b)
		}
	})
	b.Run("JPEG_500x375_to_RGB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must.Get(Decode(b.Context(), file, DefaultBudget(), true))(b)
		}
	})
}

func BenchmarkResize(b *testing.B) {
	s := must.Get(Preset("imagenet"))(b)
	p := must.Get(New(s, DefaultBudget()))(b)
	img, dst := photo(500, 375), make([]float32, 3*224*224)
	b.Run("500x375_to_224", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must.Do(b, p.fromImage(dst, img))
		}
	})
}
