package embed

import (
	"errors"
	"fmt"
	"os"

	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
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

// requiredJPEG returns the decoder that a model requires: its own, unless the
// features of the probe pictures show whether another one does.
func requiredJPEG(p Provenance) string {
	switch {
	case len(p.Probes) > 0:
		return ""
	case p.Preprocess != nil && p.Preprocess.JPEG != "":
		return p.Preprocess.JPEG
	}
	return JPEGGo
}

// chooseJPEG records the JPEG decoder in the spec and returns it; nil is Go's.
// model is the decoder that a model requires.
func (e *Embedder) chooseJPEG(model string) (preprocess.JPEGDecoder, error) {
	e.spec.JPEG = ""
	chosen := e.options.Preprocess.JPEG
	if chosen == JPEGGo || (chosen == JPEGAuto && model == JPEGGo) {
		return nil, nil
	}
	decoder, err := turbojpeg.Find()
	switch {
	case err == nil:
		e.spec.JPEG = preprocess.TurboJPEG(decoder)
	case chosen == JPEGTurbo:
		return nil, fmt.Errorf("preprocess.jpeg: turbo: %w", err)
	case model != "":
		return nil, fmt.Errorf("the model was trained on photos decoded by libjpeg-turbo: %w; or train again with "+
			"preprocess.jpeg=go", err)
	case !errors.Is(err, turbojpeg.ErrNoLibrary) || os.Getenv(turbojpeg.EnvLibrary) != "":
		e.options.Log.Warn("libjpeg-turbo is not used", "reason", err)
		return nil, nil
	default:
		return nil, nil
	}
	if model != "" && model != JPEGGo && e.spec.JPEG != model {
		return nil, fmt.Errorf("the model was trained on photos decoded by another libjpeg-turbo (%s, here %s), "+
			"whose pixels differ; train again, or set %s to that library", model, e.spec.JPEG, turbojpeg.EnvLibrary)
	}
	return decoder, nil
}
