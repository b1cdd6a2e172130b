package embedding

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

var update = flag.Bool("update", false, "write the probe pictures")

// A probeScene is a picture whose detail has the spectrum of a photo's: octaves
// of noise, and discs and bars in strong colours.
type probeScene struct {
	width, height int
	octaves       []noise
	shapes        []shape
}

// A shape has its centre, radius and colour; bar chooses between bars and discs.
type shape struct{ x, y, r, red, green, blue, bar float64 }

func newProbeScene(width, height int, seed uint64) *probeScene {
	s := &probeScene{width: width, height: height, shapes: make([]shape, 24)}
	rng := rand.New(rand.NewPCG(seed, 1))
	for wavelength := float64(height) / 2; wavelength >= 6; wavelength /= 2 {
		s.octaves = append(s.octaves, newNoise(rng, width, height, wavelength))
	}
	for i := range s.shapes {
		u := rng.Float64
		s.shapes[i] = shape{u() * float64(width), u() * float64(height), (0.03 + 0.1*u()) * float64(height), 255 * u(),
			255 * u(), 255 * u(), u()}
	}
	return s
}

func (s *probeScene) ColorModel() color.Model { return color.RGBAModel }

func (s *probeScene) Bounds() image.Rectangle { return image.Rect(0, 0, s.width, s.height) }

func (s *probeScene) At(column, row int) color.Color {
	x, y := float64(column), float64(row)
	red, green, blue := 150-60*y/float64(s.height), 120+60*x/float64(s.width), 110.0
	for _, s := range s.shapes {
		dx, dy := x-s.x, y-s.y
		if s.bar < 0.5 && math.Hypot(dx, dy) < s.r || s.bar >= 0.5 && math.Abs(dx) < s.r/3 && math.Abs(dy) < 2*s.r {
			red, green, blue = s.red, s.green, s.blue
		}
	}
	v := 0.0
	for i, o := range s.octaves {
		v += o.at(x, y) * 60 / float64(int(1)<<i)
	}
	return color.RGBA{level(red + v), level(green + v), level(blue + v), 255}
}

func level(v float64) uint8 { return uint8(min(max(v, 0), 255)) }

// noise interpolates random values on a grid.
type noise struct {
	wavelength float64
	stride     int
	values     []float64
}

func newNoise(rng *rand.Rand, width, height int, wavelength float64) noise {
	n := noise{wavelength: wavelength, stride: int(float64(width)/wavelength) + 2}
	n.values = make([]float64, n.stride*(int(float64(height)/wavelength)+2))
	for i := range n.values {
		n.values[i] = 2*rng.Float64() - 1
	}
	return n
}

func (n noise) at(x, y float64) float64 {
	x, y = x/n.wavelength, y/n.wavelength
	i, j := int(x), int(y)
	x, y = x-float64(i), y-float64(j)
	top, bottom := n.values[j*n.stride+i:], n.values[(j+1)*n.stride+i:]
	return (top[0]*(1-x)+top[1]*x)*(1-y) + (bottom[0]*(1-x)+bottom[1]*x)*y
}

// TestProbePictures: the files are what is drawn here; -update writes them.
func TestProbePictures(t *testing.T) {
	sizes := [][2]int{{500, 375}, {300, 400}, {3000, 2250}}
	for i, name := range probeNames() {
		scene := newProbeScene(sizes[i][0], sizes[i][1], uint64(i))
		file := filepath.Join("probes", name)
		if *update {
			var b bytes.Buffer
			must.Do(t, jpeg.Encode(&b, scene, &jpeg.Options{Quality: []int{90, 90, 75}[i]}))
			must.Do(t, os.WriteFile(file, b.Bytes(), 0o644))
		}
		b := must.Get(os.ReadFile(file))(t)
		m, err := jpeg.Decode(bytes.NewReader(b))
		if err != nil || m.Bounds() != scene.Bounds() {
			t.Fatalf("%s: %v, %v", name, err, m.Bounds())
		}
		sum, n := 0.0, 0
		for y := 0; y < sizes[i][1]; y += 15 {
			for x := 0; x < sizes[i][0]; x += 15 {
				_, a, _, _ := m.At(x, y).RGBA()
				_, b, _, _ := scene.At(x, y).RGBA()
				sum, n = sum+math.Abs(float64(a>>8)-float64(b>>8)), n+1
			}
		}
		if mean := sum / float64(n); mean > 4 {
			t.Errorf("%s: differs by %.1f levels on average", name, mean)
		}
	}
}

func TestProbesInJSON(t *testing.T) {
	p := Provenance{Dim: 2, Probes: Probes{1, -2, 0.5, 4, 5, 6}}
	text := must.Get(json.Marshal(p))(t)
	var back Provenance
	if err := json.Unmarshal(text, &back); err != nil || len(back.Probes) != 6 || back.Probes[2] != 0.5 ||
		back.Validate() != nil {
		t.Errorf("%v: %v", err, back.Probes)
	}
	if text, err := json.Marshal(Provenance{}); err != nil || strings.Contains(string(text), "probes") {
		t.Errorf("%v: %s", err, text)
	}
	for _, bad := range []string{`"AAA"`, `"AAAA"`, `"?"`, `[1]`} {
		if err := json.Unmarshal([]byte(`{"probes": `+bad+`}`), &back); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	for _, bad := range []Probes{{1, 2}, {1, 2, 3}, {1, 2, 3, 4, 5, float32(math.NaN())}} {
		if (Provenance{Dim: 2, Probes: bad}).Validate() == nil {
			t.Errorf("%v is valid", bad)
		}
	}
}

// TestDecodersMayDiffer as long as the features of the probe pictures agree;
// geometry may not.
func TestDecodersMayDiffer(t *testing.T) {
	spec := must.Get(preprocess.Preset("imagenet"))(t)
	from := func(jpeg string, probes ...float32) Provenance {
		s := spec
		s.Decoder = jpeg
		return Provenance{Preprocess: &s, PreprocessFingerprint: s.Fingerprint(), GeometryFingerprint: s.Geometry(),
			Probes: probes, Dim: len(probes) / 3}
	}
	goes, turbo := from("", 1, 0, 1, 0, 1, 0), from("turbo:0123abcd", 1, 0.01, 1, 0, 1, -0.02)
	if goes.GeometryFingerprint != turbo.GeometryFingerprint {
		t.Error("the decoder is part of the geometry")
	}
	if err := turbo.Compatible(goes, "in the model"); err != nil {
		t.Error(err)
	}
	note := turbo.Note(goes, "in the model")
	if !strings.Contains(note, "libjpeg-turbo (0123abcd) here, Go's in the model") ||
		!strings.Contains(note, "0.9999") {
		t.Errorf("note %q", note)
	}
	if note := goes.Note(goes, "in the model"); note != "" {
		t.Errorf("note %q", note)
	}
	crop := *turbo.Preprocess
	crop.Crop--
	cropped := turbo
	cropped.Preprocess, cropped.PreprocessFingerprint, cropped.GeometryFingerprint = &crop, crop.Fingerprint(),
		crop.Geometry()
	rules := turbo
	rules.GeometryFingerprint = "0"
	unknown := turbo
	unknown.Probes = nil
	for name, c := range map[string]struct {
		p    Provenance
		want string
	}{
		"other pixels": {from("turbo:0123abcd", 1, 0.1, 1, 0, 1, 0), "mean cosine 0.998"},
		"no length":    {from("turbo:0123abcd", 0, 0, 1, 0, 1, 0), "mean cosine NaN"},
		"geometry":     {cropped, "crop is 223 here, 224 in the model"},
		"rules":        {rules, "this version of pipeline"},
		"unknown":      {unknown, "cannot be compared"},
	} {
		if err := c.p.Compatible(goes, "in the model"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDecoderWithOtherPixels: the probe pictures find a decoder that gives other
// pixels, and their features are computed once per cache.
func TestDecoderWithOtherPixels(t *testing.T) {
	orttest.Open(t)
	o := DefaultOptions()
	o.Backbone, o.Cache, o.Preprocess.Decoders = testenv.Small(t), t.TempDir(), DecodersGo
	e := must.Get(Open(o))(t)
	stored := e.cache
	defer func() {
		if err := errors.Join(e.Close(), stored.Close()); err != nil {
			t.Error(err)
		}
	}()
	trained := e.Provenance()
	if len(trained.Probes) != 3*e.Dim() {
		t.Errorf("%d values", len(trained.Probes))
	}
	for _, name := range probeNames() {
		file, err := probeFiles.ReadFile("probes/" + name)
		if _, found := e.cache.Get(cache.HashOf(file)); err != nil || !found {
			t.Errorf("%s is not in the cache, %v", name, err)
		}
	}
	if again, err := e.probe(); err != nil || !slices.Equal(again, trained.Probes) {
		t.Errorf("from the cache: %v", err)
	}
	trained.PreprocessFingerprint, trained.Probes = "another decoder's", slices.Repeat(Probes{1}, len(trained.Probes))
	if err := e.compare(trained); !errors.Is(err, ErrOtherPreprocessing) ||
		!strings.Contains(err.Error(), "mean cosine") {
		t.Errorf("%v", err)
	}
}
