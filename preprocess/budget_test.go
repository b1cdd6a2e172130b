package preprocess

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color/palette"
	"image/gif"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/seed-90d10d51/pipeline/internal/testing/imagebomb"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// matrix returns pictures of half a million pixels in every format.
func matrix(t *testing.T) map[string][]byte {
	t.Helper()
	const w, h = 1000, 800
	photo := photo(w, h).nrgba()
	files := map[string][]byte{
		"baseline.jpg": photoJPEG(t, w, h), "restarts.jpg": imagebomb.Restarts(w, h),
		"grey progressive.jpg": imagebomb.Progressive(w, h, 1, 20),
		"progressive.jpg":      imagebomb.Progressive(w, h, 3, 64),
		"cmyk progressive.jpg": imagebomb.Progressive(w, h, 4, 64),
		"one strip.tif":        imagebomb.TIFF(w, h, h, 3*w*h), "strips.tif": imagebomb.TIFF(w, h, 1, 3*w),
		"chroma.tif":              chromaTIFF(w, h),
		"too much in a strip.tif": imagebomb.TIFF(w, h, h, 20*w*h),
		"wide.png":                imagebomb.PNG(w*h, 1, imagebomb.RGB, 8, false),
		"tall.png":                imagebomb.PNG(1, w*h, imagebomb.RGB, 8, false),
	}
	for name, kind := range map[string]int{"grey": imagebomb.Grey, "rgb": imagebomb.RGB, "rgba": imagebomb.RGBA} {
		files[name+" 8.png"] = imagebomb.PNG(w, h, kind, 8, false)
		files[name+" 16 interlaced.png"] = imagebomb.PNG(w, h, kind, 16, true)
	}
	paletted := image.NewPaletted(photo.Rect, palette.Plan9)
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"rgb.bmp":       func(b *bytes.Buffer) error { return bmp.Encode(b, photo) },
		"raw.tif":       func(b *bytes.Buffer) error { return tiff.Encode(b, photo, nil) },
		"palette.gif":   func(b *bytes.Buffer) error { return gif.Encode(b, paletted, nil) },
		"palette 2.bmp": func(b *bytes.Buffer) error { return bmp.Encode(b, paletted) },
	} {
		var b bytes.Buffer
		must.Do(t, encode(&b))
		files[name] = b.Bytes()
	}
	return files
}

// allocated returns the bytes that f allocates, garbage included.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestEstimateCoversTheDecoders: never less than is allocated, and for usual
// files not much more. The decoder of compressed TIFF collects its garbage.
func TestEstimateCoversTheDecoders(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes large pictures")
	}
	b := DefaultBudget().Portable()
	files := matrix(t)
	for name, file := range seedImages(t) {
		files[name] = file
	}
	for name, file := range files {
		p, err := planFile(file, b, purpose{size: fullSize})
		if errors.Is(err, ErrFormat) {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := allocated(func() { err = p.run(t.Context(), func(raster, format) {}) })
		if errors.Is(err, ErrFormat) || name == "animated.webp" {
			continue // which Go's packages do not read
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		collected := int64(0)
		if p.format == formatTIFF {
			collected = 1000 * decompressorBytes // a decompressor per strip
		}
		if p.format == formatWebP {
			collected = -2 << 20 // room for Huffman trees, which small pictures lack
		}
		most := 2*got - min(0, collected) + 4*pixels(p.width, p.height) + fixedBytes
		if p.format == formatTIFF {
			most += 32*pixels(p.width, p.height) + collectBytes
		}
		if got > p.bytes+max(0, collected) || p.bytes > most {
			t.Errorf("%s: the estimate is %d for %d bytes", name, p.bytes, got)
		}
		t.Logf("%s: %.2f of the estimate, %.1f bytes per pixel", name, float64(got)/float64(p.bytes),
			float64(p.bytes)/float64(pixels(p.width, p.height)))
	}
}

// TestEstimateCoversTensor adds the rotation and the resize.
func TestEstimateCoversTensor(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes large pictures")
	}
	dst := make([]float32, 3*224*224)
	for _, resize := range []string{ResizeShorter, ResizeExact} {
		s := imagenet(t)
		s.Resize = resize
		if resize == ResizeExact {
			s.Size, s.Crop = 224, 224
		}
		for name, file := range matrix(t) {
			if strings.HasSuffix(name, ".tif") {
				continue
			}
			p, err := New(s, DefaultBudget())
			if err != nil {
				t.Fatal(err)
			}
			got := allocated(func() { err = p.Tensor(t.Context(), dst, file) })
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if most := p.budget.pictures.garbage; got > most {
				t.Errorf("%s, %s: the estimate is %d for %d bytes", name, resize, most, got)
			}
		}
	}
}

// TestLargePhotoFits: a progressive photo of 50 megapixels, with either decoder.
func TestLargePhotoFits(t *testing.T) {
	h := &jpegHeader{width: 8660, height: 5773, progressive: true, adobe: -1,
		components: []component{{1, 2, 2}, {2, 1, 1}, {3, 1, 1}}}
	pictures := DefaultBudget().pictures.size
	rotated := uprightBytes(h.width, h.height)
	if n := h.goBytes() + rotated + 1<<20; n < 480<<20 || n > pictures {
		t.Errorf("image/jpeg: %d MiB of %d", n>>20, pictures>>20)
	}
	if n := h.nativeBytes(); n > pictures/2 {
		t.Errorf("libjpeg-turbo: %d MiB of %d", n>>20, pictures>>20)
	}
}

// TestBudgetRefuses what exceeds it, whatever its header, and names the setting.
func TestBudgetRefuses(t *testing.T) {
	b := must.Get(NewBudget(1 << 20))(t)
	for name, file := range matrix(t) {
		_, err := Decode(t.Context(), file, b, true)
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "preprocess.memory is 1MiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.File(t.Context(), 1<<20+1); !errors.Is(err, ErrTooLarge) ||
		!strings.Contains(err.Error(), "preprocess.memory is 1MiB") {
		t.Errorf("a large file: %v", err)
	}
	if _, err := NewBudget(leastMemory - 1); err == nil {
		t.Error("a budget of less than 1 MiB")
	}
}

// TestBudgetIsShared: pictures decoded at the same time stay within it, and all
// are decoded.
func TestBudgetIsShared(t *testing.T) {
	b, _ := NewBudget(16 << 20)
	file := photoJPEG(t, 1000, 900)
	p := must.Get(planFile(file, b, purpose{size: fullSize}))(t)
	if p.bytes < b.pictures.size/8 || p.bytes > b.pictures.size/2 {
		t.Fatalf("a share of %d does not make %d wait", p.bytes, b.pictures.size)
	}
	var mu sync.Mutex
	var now, most int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 4 {
				release, err := b.File(t.Context(), int64(len(file)))
				if err != nil {
					t.Error(err)
					return
				}
				err = b.picture(t.Context(), p, file, func() error {
					mu.Lock()
					now += p.bytes
					most = max(most, now)
					mu.Unlock()
					err := p.run(t.Context(), func(raster, format) {})
					mu.Lock()
					now -= p.bytes
					mu.Unlock()
					return err
				})
				release()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if most > b.pictures.size {
		t.Errorf("%d bytes at once, of %d", most, b.pictures.size)
	}
}

// TestBudgetWaits: in order, until memory is released or the context ends.
func TestBudgetWaits(t *testing.T) {
	b, _ := NewBudget(4 << 20)
	whole := b.files.size
	release, err := b.File(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := b.File(ctx, 1); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	go func() {
		again, err := b.File(t.Context(), whole)
		if err == nil {
			again()
		}
		done <- err
	}()
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if release, err = b.File(t.Context(), whole); err != nil { // all of it, so nothing was lost
		t.Fatal(err)
	}
	release()
}
