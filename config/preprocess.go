package config

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/preprocess"
)

// PresetAuto takes the preprocessing that the backbone asks for.
const PresetAuto = "auto"

// Values of Preprocess.JPEG.
const (
	JPEGAuto  = "auto"
	JPEGGo    = "go"
	JPEGTurbo = "turbo"
)

func (p Preprocess) validate() error {
	if p.JPEG != JPEGAuto && p.JPEG != JPEGGo && p.JPEG != JPEGTurbo {
		return fmt.Errorf("jpeg: %q is not one of auto, go, turbo", p.JPEG)
	}
	if p.MaxPixels <= 0 {
		return fmt.Errorf("max_pixels: %d is not positive", p.MaxPixels)
	}
	if p.MaxBytes <= 0 {
		return fmt.Errorf("max_bytes: %d is not positive", p.MaxBytes)
	}
	for name, v := range map[string][]float64{"mean": p.Mean, "std": p.Std} {
		if len(v) != 0 && len(v) != 3 {
			return fmt.Errorf("%s: %d values, want one for each of red, green and blue", name, len(v))
		}
	}
	if p.Preset == PresetAuto {
		return nil
	}
	_, err := preprocess.Preset(p.Preset)
	return err
}

// Limits returns the bounds that are checked before an image is decoded.
func (p Preprocess) Limits() preprocess.Limits {
	return preprocess.Limits{MaxPixels: p.MaxPixels, MaxBytes: p.MaxBytes}
}

// Spec returns the preprocessing: the preset, or for PresetAuto the wanted one
// (what the backbone asks for), with the overrides applied.
func (p Preprocess) Spec(wanted preprocess.Spec) (preprocess.Spec, error) {
	spec := wanted
	if p.Preset != PresetAuto {
		preset, err := preprocess.Preset(p.Preset)
		if err != nil {
			return spec, err
		}
		spec = preset
	}
	p.override(&spec)
	if err := spec.Validate(); err != nil {
		return spec, fmt.Errorf("preprocess.%w", err)
	}
	return spec, nil
}

func (p Preprocess) override(spec *preprocess.Spec) {
	set(&spec.Resize, p.Resize, "")
	set(&spec.Size, p.Size, 0)
	set(&spec.Crop, p.Crop, 0)
	set(&spec.Interpolation, p.Interpolation, "")
	if len(p.Mean) == 3 {
		copy(spec.Mean[:], p.Mean)
	}
	if len(p.Std) == 3 {
		copy(spec.Std[:], p.Std)
	}
	if !p.Orientation {
		spec.Orientation = false
	}
}
