package preprocess

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// Values of Spec.Resize.
const (
	// ResizeShorter scales the shorter side to Spec.Size and keeps the aspect
	// ratio; the longer side is ⌊Size·long/short⌋, as in torchvision.
	ResizeShorter = "shorter"
	// ResizeExact scales to Size×Size whatever the aspect ratio.
	ResizeExact = "exact"
)

// Values of Spec.Interpolation, both antialiased as in Pillow.
const (
	// Bicubic is Keys' cubic with a = −0.5.
	Bicubic = "bicubic"
	// Bilinear is the triangle filter.
	Bilinear = "bilinear"
)

// maxSide bounds Size and Crop: no backbone takes more, and it keeps the
// buffers of the resizer small.
const maxSide = 4096

// A Spec holds everything that changes the pixels of a tensor.
type Spec struct {
	// Resize is ResizeShorter or ResizeExact.
	Resize string `json:"resize"`
	// Size is the shorter side, or both sides, after the resize, in pixels.
	Size int `json:"size"`
	// Crop is the side of the centre crop in pixels; 0 means no crop, which
	// only ResizeExact allows.
	Crop int `json:"crop"`
	// Interpolation is Bicubic or Bilinear.
	Interpolation string `json:"interpolation"`
	// Mean and Std normalise each channel (R, G, B) as (v/255 − mean)/std.
	Mean [3]float64 `json:"mean"`
	Std  [3]float64 `json:"std"`
	// Orientation applies the EXIF orientation first. It should be on for
	// users' photos, and off to match torchvision's loader.
	Orientation bool `json:"orientation"`
	// View is "" for the centre crop, ViewSqueeze, ViewPad or ViewViews.
	View string `json:"view,omitempty"`
	// Decoder names what decoded, for the fingerprint: Decoders.Name of libraries, which read
	// large JPEG photos at reduced size, "" for Go's packages. New sets it. Its key is from when
	// only JPEG had a choice.
	Decoder string `json:"jpeg,omitempty"`
	// HEIFThumbnail decodes, instead of a HEIC or AVIF picture, the smallest
	// thumbnail that is stored with it and has a shorter side of at least Size.
	HEIFThumbnail bool `json:"heif_thumbnail,omitempty"`
}

func presets() map[string]Spec {
	of := func(mean, std [3]float64) Spec {
		return Spec{
			Resize: ResizeShorter, Size: 224, Crop: 224, Interpolation: Bicubic,
			Mean: mean, Std: std, Orientation: true,
		}
	}
	half := [3]float64{0.5, 0.5, 0.5}
	return map[string]Spec{
		"imagenet": of([3]float64{0.485, 0.456, 0.406}, [3]float64{0.229, 0.224, 0.225}),
		"clip":     of([3]float64{0.48145466, 0.4578275, 0.40821073}, [3]float64{0.26862954, 0.26130258, 0.27577711}),
		"vit-0.5":  of(half, half),
	}
}

// Presets returns the names that Preset knows, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets())) }

// Preset returns a named Spec: "imagenet" (torchvision and timm ResNets),
// "clip" (OpenAI and OpenCLIP) or "vit-0.5" (timm's augreg ViTs). All are
// bicubic, shorter side 224, centre crop 224, orientation applied.
func Preset(name string) (Spec, error) {
	s, ok := presets()[name]
	if !ok {
		return Spec{}, fmt.Errorf("preprocess: unknown preset %q: the presets are %s", name,
			strings.Join(Presets(), ", "))
	}
	return s, nil
}

// ParseSpec reads a Spec from JSON, refusing unknown keys, and validates it.
func ParseSpec(text []byte) (Spec, error) {
	var s Spec
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("preprocess: read spec: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Spec{}, fmt.Errorf("preprocess: read spec: more than one JSON value")
	}
	return s, s.Validate()
}

// Side returns the side of the square tensor in pixels.
func (s Spec) Side() int { return cmp.Or(s.Crop, s.Size) }

// Validate returns an error that names the first field out of range.
func (s Spec) Validate() error {
	switch {
	case s.Resize != ResizeShorter && s.Resize != ResizeExact:
		return fieldError("resize", fmt.Sprintf("%q", s.Resize), `"shorter" or "exact"`)
	case s.Size < 1 || s.Size > maxSide:
		return fieldError("size", s.Size, fmt.Sprintf("1 to %d", maxSide))
	case s.Crop < 0 || s.Crop > s.Size:
		return fieldError("crop", s.Crop, fmt.Sprintf("0 to size (%d)", s.Size))
	case s.Crop == 0 && s.Resize == ResizeShorter:
		return fieldError("crop", s.Crop, fmt.Sprintf("1 to size (%d) when resize is \"shorter\"", s.Size))
	case s.Interpolation != Bicubic && s.Interpolation != Bilinear:
		return fieldError("interpolation", fmt.Sprintf("%q", s.Interpolation), `"bicubic" or "bilinear"`)
	case s.View != "" && s.View != ViewSqueeze && s.View != ViewPad && s.View != ViewViews:
		return fieldError("view", fmt.Sprintf("%q", s.View), `"" (centre crop), "squeeze", "pad" or "views"`)
	}
	for c := range 3 {
		if m := s.Mean[c]; math.IsNaN(m) || math.Abs(m) > 255 {
			return fieldError(fmt.Sprintf("mean[%d]", c), m, "−255 to 255")
		}
		if d := s.Std[c]; math.IsNaN(d) || d < 1e-6 || d > 255 {
			return fieldError(fmt.Sprintf("std[%d]", c), d, "1e-6 to 255")
		}
	}
	return s.checkDecoder()
}

func fieldError(field string, value any, allowed string) error {
	return fmt.Errorf("%s: %v is not allowed; allowed is %s", field, value, allowed)
}
