package embedding

import (
	"errors"
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// chooseSpec uses the backbone's preprocessing; if that is unknown, the
// ImageNet preset at the backbone's input side.
func (e *Embedder) chooseSpec(wanted *preprocess.Spec) error {
	asked, side := e.options.Preprocess, e.extractor.Side()
	if wanted == nil {
		guess, err := preprocess.Preset("imagenet")
		if err != nil {
			return err
		}
		if side > 0 {
			guess.Size, guess.Crop = side, side
		}
		wanted = &guess
		if most := e.file.Range; most > 0 {
			guess.Mean, guess.Std = [3]float64{}, [3]float64{1 / most, 1 / most, 1 / most}
		}
		if asked.Preset == PresetAuto {
			e.options.Log.Warn("the backbone does not state its preprocessing; using the preset imagenet"+
				ownNormalisation(e.file.Range)+" (set preprocess.preset to choose)", "backbone", e.file.Name)
		}
	}
	var err error
	if e.spec, err = asked.spec(*wanted); err != nil {
		return &SettingsError{err}
	}
	if side > 0 && side != e.spec.Side() {
		return &SettingsError{fmt.Errorf("backbone %s takes images of side %d, but the preprocessing produces %d: set "+
			"preprocess.size and preprocess.crop", e.file.Name, side, e.spec.Side())}
	}
	return nil
}

// ownNormalisation says that a network normalises values up to most itself, 0 if it does not.
func ownNormalisation(most float64) string {
	if most == 0 {
		return ""
	}
	return fmt.Sprintf(" without its mean and std, as the network itself normalises values of 0 to %g", most)
}

// chooseDecoders records in the spec what decodes photos.
func (e *Embedder) chooseDecoders() error {
	d, err := e.budget.Decoders()
	e.spec.Decoder = d.Name()
	chosen := e.options.Preprocess.Decoders
	vips, _ := d.Libvips()
	required := chosen == DecodersLibraries || chosen == decodersTurbo
	if !required || vips != "" {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("there is no libvips: %s", imagelib.Vips().Remedy())
	}
	return fmt.Errorf("preprocess.jpeg: %s: %w", chosen, err)
}

// sayDecoders says that photos are decoded by less than could be.
func (e *Embedder) sayDecoders() {
	d, err := e.budget.Decoders()
	vips, _ := d.Libvips()
	switch {
	case e.options.Preprocess.Decoders == DecodersGo:
	case errors.Is(err, imagelib.ErrTooOld): // as those of older systems are
		e.options.Log.Info("a library that decodes photos is not used", "reason", err)
	case err != nil:
		e.options.Log.Warn("a library that decodes photos is not used", "reason", err)
	case vips == "":
		e.options.Log.Info("photos are decoded by Go's packages, more slowly and without AVIF: pipeline setup gets " +
			"libvips")
	}
}
