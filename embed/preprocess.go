package embed

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/preprocess"
)

// PresetAuto selects the preprocessing that the backbone asks for.
const PresetAuto = "auto"

// Values of Preprocess.JPEG.
const (
	JPEGAuto  = "auto"
	JPEGGo    = "go"
	JPEGTurbo = "turbo"
)

// Preprocess chooses a preprocess.Spec: what the backbone asks for, or a
// preset, with single settings overridden. Start from DefaultPreprocess.
type Preprocess struct {
	// Preset is "auto" (as the backbone file or the catalogue specifies) or a
	// name known to preprocess.Preset.
	Preset string `mapstructure:"preset" json:"preset"`
	// Resize, Size, Crop, Interpolation, Mean and Std override the preset
	// unless they are empty or zero.
	Resize        string    `mapstructure:"resize" json:"resize"`
	Size          int       `mapstructure:"size" json:"size"`
	Crop          int       `mapstructure:"crop" json:"crop"`
	Interpolation string    `mapstructure:"interpolation" json:"interpolation"`
	Mean          []float64 `mapstructure:"mean" json:"mean"`
	Std           []float64 `mapstructure:"std" json:"std"`
	// Orientation applies the EXIF orientation of photos.
	Orientation bool `mapstructure:"orientation" json:"orientation"`
	// JPEG is "auto" (libjpeg-turbo where it is installed), "go" or "turbo". A
	// model always uses the decoder that it was trained with.
	JPEG string `mapstructure:"jpeg" json:"jpeg"`
	// MaxPixels and MaxBytes: larger images are refused before decoding.
	MaxPixels int64 `mapstructure:"max_pixels" json:"max_pixels"`
	MaxBytes  int64 `mapstructure:"max_bytes" json:"max_bytes"`
}

// DefaultPreprocess returns the settings that follow the backbone.
func DefaultPreprocess() Preprocess {
	limits := preprocess.DefaultLimits()
	return Preprocess{Preset: PresetAuto, JPEG: JPEGAuto, Orientation: true, MaxPixels: limits.MaxPixels, MaxBytes: limits.MaxBytes}
}

// Validate returns an error that names the first setting out of range.
func (p Preprocess) Validate() error {
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
			return fmt.Errorf("%s: %d values, want one each for red, green and blue", name, len(v))
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

// Spec returns the preset (for PresetAuto, wanted, which is what the backbone
// asks for) with the overrides applied.
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

// set overwrites a field unless the setting has its default value.
func set[T comparable](field *T, said, standard T) {
	if said != standard {
		*field = said
	}
}
