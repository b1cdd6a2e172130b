package embedding

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/hostmem"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// PresetAuto selects the preprocessing that the backbone asks for.
const PresetAuto = "auto"

// MemoryAuto is preprocess.DefaultMemory, or a quarter of the memory of the
// machine or its control group if that is less.
const MemoryAuto = "auto"

// Values of Preprocess.Decoders.
const (
	DecodersAuto      = "auto"
	DecodersGo        = "go"
	DecodersLibraries = "libraries"
	decodersTurbo     = "turbo" // of 0.2, where only JPEG had a choice: the libraries
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
	// View is what the network sees of a photo that is not square: "" as the backbone or the
	// model has it, else preprocess.ViewCrop, ViewSqueeze, ViewPad or ViewViews.
	View string `mapstructure:"view" json:"view"`
	// Decoders is "auto" (libvips and libheif where they are installed), "libraries" (which then are
	// required) or "go". A model may use others than those that it was trained with, see
	// Provenance.Compatible; without Probes it needs its own.
	Decoders string `mapstructure:"jpeg" json:"jpeg"`
	// HEIFThumbnail uses the thumbnail stored in a HEIC or AVIF file where it is
	// as large as the network's input: faster, and slightly different features.
	HEIFThumbnail bool `mapstructure:"heif_thumbnail" json:"heif_thumbnail"`
	// Memory is what all images that are decoded at the same time may take, such
	// as "512MiB" or "2GiB", or MemoryAuto. An image that exceeds it by itself is
	// refused before decoding.
	Memory string `mapstructure:"memory" json:"memory"`
}

// DefaultPreprocess returns the settings that follow the backbone.
func DefaultPreprocess() Preprocess {
	return Preprocess{Preset: PresetAuto, Decoders: DecodersAuto, Orientation: true, Memory: MemoryAuto}
}

// resolved returns the settings with the defaults of those that cannot be zero.
func (p Preprocess) resolved() Preprocess {
	p = setting.OrDefault(p, DefaultPreprocess())
	p.Preset, p.Decoders = cmp.Or(p.Preset, PresetAuto), cmp.Or(p.Decoders, DecodersAuto)
	p.Memory = cmp.Or(p.Memory, MemoryAuto)
	return p
}

// Validate returns an error that names the first setting out of range.
func (p Preprocess) Validate() error {
	if !slices.Contains([]string{DecodersAuto, DecodersGo, DecodersLibraries, decodersTurbo}, p.Decoders) {
		return fmt.Errorf("jpeg: %q is not one of auto, go, libraries", p.Decoders)
	}
	ways := []string{preprocess.ViewCrop, preprocess.ViewSqueeze, preprocess.ViewPad,
		preprocess.ViewViews}
	if p.View != "" && !slices.Contains(ways, p.View) {
		return fmt.Errorf("view: %q is not one of %s", p.View, strings.Join(ways, ", "))
	}
	if _, err := p.Budget(); err != nil {
		return err
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

// Budget returns a new Budget of p.Memory, with p.Decoders.
func (p Preprocess) Budget() (*preprocess.Budget, error) {
	b, err := p.memory()
	if err == nil && p.Decoders == DecodersGo {
		b = b.Portable()
	}
	return b, err
}

func (p Preprocess) memory() (*preprocess.Budget, error) {
	if p.Memory == MemoryAuto {
		return preprocess.NewBudget(defaultMemory(hostmem.Total()))
	}
	number, giga := strings.CutSuffix(p.Memory, "GiB")
	unit := int64(1 << 30)
	if !giga {
		number, unit = strings.TrimSuffix(p.Memory, "MiB"), 1<<20
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || number == p.Memory || n < 1 || n > mostMemory/unit {
		return nil, fmt.Errorf("memory: %q is not auto or a size such as 512MiB or 2GiB", p.Memory)
	}
	return preprocess.NewBudget(n * unit)
}

// mostMemory is more than any machine has.
const mostMemory = 1 << 50

// defaultMemory depends on the machine only if it has less than four times the
// usual amount, so that the same files fail on most. The total is 0 if unknown.
func defaultMemory(total int64) int64 {
	if total == 0 {
		return preprocess.DefaultMemory
	}
	return max(leastMemory, min(preprocess.DefaultMemory, total/4))
}

// leastMemory decodes small pictures even on the smallest machine.
const leastMemory = 16 << 20

// spec returns the preset (for PresetAuto, wanted, which is what the backbone
// asks for) with the overrides applied.
func (p Preprocess) spec(wanted preprocess.Spec) (preprocess.Spec, error) {
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
	switch p.View {
	case "":
	case preprocess.ViewCrop:
		spec.View = ""
	default:
		spec.View = p.View
	}
	if len(p.Mean) == 3 {
		copy(spec.Mean[:], p.Mean)
	}
	if len(p.Std) == 3 {
		copy(spec.Std[:], p.Std)
	}
	if !p.Orientation {
		spec.Orientation = false
	}
	if p.HEIFThumbnail {
		spec.HEIFThumbnail = true
	}
}

// set overwrites a field unless the setting has its default value.
func set[T comparable](field *T, said, standard T) {
	if said != standard {
		*field = said
	}
}
