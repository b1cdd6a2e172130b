package preprocess

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// A manifest lists the goldens that testdata/make_goldens.py made.
type manifest struct {
	Decode []struct {
		File, Want string
		Levels     int
		Orient     bool
	}
	Tensor []struct {
		File, Want string
		Spec       Spec
	}
}

func readManifest(tb testing.TB) manifest {
	tb.Helper()
	text := must.Get(os.ReadFile(filepath.Join("testdata", "manifest.json")))(tb)
	var m manifest
	must.Do(tb, json.Unmarshal(text, &m))
	return m
}

func readFile(tb testing.TB, parts ...string) []byte {
	tb.Helper()
	return must.Get(os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...)))(tb)
}

// wanted reads a golden, an opaque PNG, without using our own code.
func wanted(tb testing.TB, name string) *Image {
	tb.Helper()
	m := must.Get(png.Decode(bytes.NewReader(readFile(tb, "want", name))))(tb)
	b := m.Bounds()
	img := &Image{Width: b.Dx(), Height: b.Dy()}
	for y := range img.Height {
		for x := range img.Width {
			r, g, b, _ := m.At(x, y).RGBA()
			img.Pix = append(img.Pix, byte(r>>8), byte(g>>8), byte(b>>8))
		}
	}
	return img
}

func largestDifference(a, b []byte) int {
	worst := 0
	for i := range a {
		worst = max(worst, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return worst
}

func TestDecodeEqualsPillow(t *testing.T) {
	for _, c := range readManifest(t).Decode {
		t.Run(c.File, func(t *testing.T) {
			got := must.Get(Decode(t.Context(), readFile(t, "images", c.File), DefaultBudget(), c.Orient))(t)
			want := wanted(t, c.Want)
			if got.Width != want.Width || got.Height != want.Height {
				t.Fatalf("%d×%d pixels, want %d×%d", got.Width, got.Height, want.Width, want.Height)
			}
			if d := largestDifference(got.Pix, want.Pix); d > c.Levels {
				t.Errorf("differs by %d levels, allowed are %d", d, c.Levels)
			}
		})
	}
}

func TestTensorEqualsTorchvision(t *testing.T) {
	for _, c := range readManifest(t).Tensor {
		t.Run(c.Want, func(t *testing.T) {
			p := must.Get(New(c.Spec, DefaultBudget()))(t)
			want := wanted(t, c.Want)
			area := want.Width * want.Height
			dst := make([]float32, 3*area)
			must.Do(t, p.Tensor(t.Context(), dst, readFile(t, "images", c.File)))
			for i, v := range dst {
				if level := float32(want.Pix[3*(i%area)+i/area]) / 255; v != level {
					t.Fatalf("value %d is %g, want exactly %g", i, v, level)
				}
			}
		})
	}
}

func TestNormalisationIsBitExact(t *testing.T) {
	s := must.Get(Preset("imagenet"))(t)
	s.Size, s.Crop = 16, 16
	p := must.Get(New(s, DefaultBudget()))(t)
	dst := make([]float32, 3*16*16)
	must.Do(t, p.Tensor(t.Context(), dst, readFile(t, "images", "noise_61x47.png")))
	want := readFile(t, "want", "noise_61x47.imagenet_16.f32")
	for i, v := range dst {
		if w := math.Float32frombits(binary.LittleEndian.Uint32(want[4*i:])); v != w {
			t.Fatalf("value %d is %g, torchvision gives %g", i, v, w)
		}
	}
}

// sharedPhotos returns up to n photos of the shared data, evenly spread.
func sharedPhotos(t *testing.T, n int) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "data", "caltech101_10"), "*", "*.jpg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d photos, %v", len(files), err)
	}
	step := max(1, len(files)/n)
	var some []string
	for i := 0; i < len(files); i += step {
		some = append(some, files[i])
	}
	return some
}

func TestSharedPhotosHaveFiniteTensors(t *testing.T) {
	s := must.Get(Preset("vit-0.5"))(t)
	p := must.Get(New(s, DefaultBudget()))(t)
	dst := make([]float32, 3*224*224)
	for _, file := range sharedPhotos(t, 60) {
		b := must.Get(os.ReadFile(file))(t)
		if err := p.Tensor(t.Context(), dst, b); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		for _, v := range dst {
			if !(v >= -1 && v <= 1) {
				t.Fatalf("%s: value %g is not in −1 … 1", filepath.Base(file), v)
			}
		}
	}
}

// seedImages are small files of every format, for other tests and fuzzing.
func seedImages(tb testing.TB) map[string][]byte {
	tb.Helper()
	seeds := map[string][]byte{}
	for _, c := range readManifest(tb).Decode {
		if !strings.HasPrefix(c.File, "101x77") {
			seeds[c.File] = readFile(tb, "images", c.File)
		}
	}
	return seeds
}
