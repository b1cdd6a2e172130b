package preprocess

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func preset(tb testing.TB, name string) Spec {
	tb.Helper()
	return must.Get(Preset(name))(tb)
}

func TestPresetsAreValidAndDiffer(t *testing.T) {
	prints := map[string]string{}
	for _, name := range Presets() {
		s := preset(t, name)
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.Side() != 224 {
			t.Errorf("%s: side %d, want 224", name, s.Side())
		}
		if other, ok := prints[s.Fingerprint()]; ok {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		prints[s.Fingerprint()] = name
	}
	if len(prints) != 3 {
		t.Errorf("%d presets, want 3", len(prints))
	}
	if _, err := Preset("resnet"); err == nil || !strings.Contains(err.Error(), "imagenet") {
		t.Errorf("unknown preset: %v", err)
	}
}

func TestSpecSurvivesJSON(t *testing.T) {
	want := preset(t, "clip")
	text := must.Get(json.Marshal(want))(t)
	got, err := ParseSpec(text)
	if err != nil || got != want {
		t.Fatalf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestParseSpecRefuses(t *testing.T) {
	valid := must.Get(json.Marshal(preset(t, "clip")))(t)
	unknown := strings.Replace(string(valid), `"crop"`, `"corp"`, 1)
	for _, text := range []string{"", "{}", "[]", unknown, string(valid) + "{}"} {
		if _, err := ParseSpec([]byte(text)); err == nil {
			t.Errorf("accepted %q", text)
		}
	}
}

// changes returns one valid change of every field.
func changes() map[string]func(*Spec) {
	return map[string]func(*Spec){
		"resize":        func(s *Spec) { s.Resize = ResizeExact },
		"size":          func(s *Spec) { s.Size = 256 },
		"crop":          func(s *Spec) { s.Crop = 223 },
		"interpolation": func(s *Spec) { s.Interpolation = Bilinear },
		"mean[1]":       func(s *Spec) { s.Mean[1] = math.Nextafter(s.Mean[1], 1) },
		"std[2]":        func(s *Spec) { s.Std[2] = math.Nextafter(s.Std[2], 1) },
		"orientation":   func(s *Spec) { s.Orientation = !s.Orientation },
		"view":          func(s *Spec) { s.View = ViewSqueeze },
		"view ":         func(s *Spec) { s.View = ViewPad },
		"view  ":        func(s *Spec) { s.View = ViewViews },
	}
}

func TestFingerprintCoversEveryField(t *testing.T) {
	base := preset(t, "imagenet")
	seen := map[string]string{base.Fingerprint(): "nothing"}
	for field, change := range changes() {
		s := base
		change(&s)
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", field, err)
		}
		if other, ok := seen[s.Fingerprint()]; ok {
			t.Errorf("changing %s gives the fingerprint of changing %s", field, other)
		}
		seen[s.Fingerprint()] = field
	}
}

func TestFingerprintFollowsGoReleases(t *testing.T) {
	for version, want := range map[string]string{
		"go1.26": "1.26", "go1.26.8": "1.26", "go1.27rc1": "1.27", "go1.26.0 X:simd": "1.26",
		"devel +abc": "devel +abc",
	} {
		if got := goRelease(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
	s := preset(t, "clip")
	if s.canonical("go1.26.1") != s.canonical("go1.26.9") {
		t.Error("a patch release changes the fingerprint")
	}
	if s.canonical("go1.25.1") == s.canonical("go1.26.1") {
		t.Error("a release does not change the fingerprint")
	}
}

func TestFingerprintNamesThePinnedXImage(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join("..", "go.mod")))(t)
	if !strings.Contains(string(text), "golang.org/x/image "+xImageVersion) {
		t.Errorf("go.mod does not pin golang.org/x/image %s: raise xImageVersion and check the goldens", xImageVersion)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*Spec){
		"resize":        func(s *Spec) { s.Resize = "longer" },
		"size":          func(s *Spec) { s.Size = 0 },
		"size ":         func(s *Spec) { s.Size = maxSide + 1 },
		"crop":          func(s *Spec) { s.Crop = 225 },
		"crop ":         func(s *Spec) { s.Crop = 0 },
		"crop  ":        func(s *Spec) { s.Crop = -1 },
		"interpolation": func(s *Spec) { s.Interpolation = "lanczos" },
		"view":          func(s *Spec) { s.View = ViewCrop },
		"mean[2]":       func(s *Spec) { s.Mean[2] = math.NaN() },
		"mean[0]":       func(s *Spec) { s.Mean[0] = math.Inf(1) },
		"std[0]":        func(s *Spec) { s.Std[0] = 0 },
		"std[1]":        func(s *Spec) { s.Std[1] = math.NaN() },
	} {
		s := preset(t, "imagenet")
		change(&s)
		err := s.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), strings.TrimSpace(field)+": ") {
			t.Errorf("%s: %v", field, err)
		}
		if _, err := New(s, DefaultBudget()); err == nil {
			t.Errorf("%s: New accepts it", field)
		}
	}
}

func TestGeometryFollowsTorchvision(t *testing.T) {
	for _, c := range []struct {
		size, crop, w, h int
		want             geometry
	}{
		{224, 224, 500, 375, geometry{width: 298, height: 224, left: 37, top: 0, side: 224}},
		{256, 224, 500, 375, geometry{width: 341, height: 256, left: 58, top: 16, side: 224}}, // 58.5 to even
		{256, 225, 256, 256, geometry{width: 256, height: 256, left: 16, top: 16, side: 225}}, // 15.5 to even
		{224, 224, 1, 65535, geometry{width: 224, height: 224 * 65535, top: 112 * 65534, side: 224}},
		{224, 224, 224, 224, geometry{width: 224, height: 224, left: 0, top: 0, side: 224}},
	} {
		s := Spec{Resize: ResizeShorter, Size: c.size, Crop: c.crop}
		if got := s.geometry(c.w, c.h); got != c.want {
			t.Errorf("%d×%d to %d/%d: %+v, want %+v", c.w, c.h, c.size, c.crop, got, c.want)
		}
	}
}
