package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// An eye is everything between an image file and its embedding: backbone,
// preprocessing, extractor and cache.
type eye struct {
	file      backbone.File
	spec      preprocess.Spec
	decoder   *turbojpeg.Decoder // where spec.JPEG names it
	settings  extractor.Config
	pre       *preprocess.Preprocessor
	extractor *extractor.Extractor
	cache     *embed.Cache
	stream    *embed.Stream
}

// newEye opens the backbone that the settings name.
func (w *workbench) newEye() (*eye, error) {
	dirs, err := w.backboneDirs()
	if err != nil {
		return nil, err
	}
	file, err := backbone.Resolve(w.config.Backbone, dirs)
	if err != nil {
		return nil, err
	}
	return w.openEye(file, file.Preprocess, w.config.Extractor, "")
}

// eyeOf opens the backbone that a model was trained with, by its hash. A model
// that was trained on foreign features has none: then the user must name it.
func (w *workbench) eyeOf(m *model.Model) (*eye, error) {
	if m.Backbone == nil {
		if w.config.Backbone == "" {
			return nil, usagef("the model was trained on features of an unknown backbone: say with --backbone which one made them")
		}
		e, err := w.newEye()
		if err != nil {
			return nil, err
		}
		return e.checked(m)
	}
	dirs, err := w.backboneDirs()
	if err != nil {
		return nil, err
	}
	file, err := backbone.FindByHash(m.Backbone.SHA256, m.Backbone.Path, w.config.Backbone, dirs)
	if err != nil {
		return nil, err
	}
	settings, err := w.extractorSettings(m.Backbone)
	if err != nil {
		return nil, err
	}
	jpeg := config.JPEGGo
	if m.Preprocess != nil && m.Preprocess.JPEG != "" {
		jpeg = m.Preprocess.JPEG
	}
	e, err := w.openEye(file, m.Preprocess, settings, jpeg)
	if err != nil {
		return nil, err
	}
	return e.checked(m)
}

// checked returns the eye if its embeddings belong to the model, and closes it
// otherwise.
func (e *eye) checked(m *model.Model) (*eye, error) {
	if err := m.CheckBackbone(e.source()); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// extractorSettings are those that the model recorded. The user may choose
// other hardware, but not other values.
func (w *workbench) extractorSettings(b *model.Backbone) (extractor.Config, error) {
	recorded := extractor.DefaultConfig()
	if len(b.Extractor) > 0 {
		if err := json.Unmarshal(b.Extractor, &recorded); err != nil {
			return recorded, fmt.Errorf("extractor settings in the model: %w", err)
		}
	}
	settings := config.Override(recorded, w.config.Extractor, extractor.DefaultConfig())
	recorded.Provider, recorded.Batch = settings.Provider, settings.Batch
	if settings != recorded {
		return settings, usagef("the model was trained with the extractor settings %s; others would give other embeddings", b.Extractor)
	}
	return settings, nil
}

// openEye opens a backbone. The model's JPEG decoder holds where there is a
// model; "" leaves the choice to the settings.
func (w *workbench) openEye(file backbone.File, wanted *preprocess.Spec, settings extractor.Config, jpeg string) (*eye, error) {
	if settings.Output == "" {
		settings.Output = file.Output
	}
	e := &eye{file: file, settings: settings}
	steps := []func() error{
		func() error { return e.openExtractor(w) },
		func() error { return e.chooseSpec(w, wanted) },
		func() error { return e.chooseJPEG(w, jpeg) },
		func() error { return e.openStream(w) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// runtime finds and loads ONNX Runtime.
func (w *workbench) runtime() (*ort.Runtime, error) {
	library, _, err := ort.Locate(w.config.Runtime.Library)
	if err != nil {
		return nil, err
	}
	return ort.Open(library)
}

func (e *eye) openExtractor(w *workbench) error {
	runtime, err := w.runtime()
	if err != nil {
		return err
	}
	e.extractor, err = extractor.Open(runtime, e.file.Bytes(), e.file.Name, e.settings)
	return err
}

// chooseSpec takes what the backbone asks for; where nothing says what that
// is, the ImageNet preset at the side that the backbone takes.
func (e *eye) chooseSpec(w *workbench, wanted *preprocess.Spec) error {
	if wanted == nil {
		guess, err := preprocess.Preset("imagenet")
		if err != nil {
			return err
		}
		if side := e.extractor.Side(); side > 0 {
			guess.Size, guess.Crop = side, side
		}
		wanted = &guess
		if w.config.Preprocess.Preset == config.PresetAuto {
			w.log.Warn("the backbone does not say how its images are prepared; taking the preset imagenet (set preprocess.preset to choose)", "backbone", e.file.Name)
		}
	}
	var err error
	e.spec, err = w.config.Preprocess.Spec(*wanted)
	if err != nil {
		return usageError{err}
	}
	if side := e.extractor.Side(); side > 0 && side != e.spec.Side() {
		return usagef("backbone %s takes images of side %d, the preprocessing gives %d: set preprocess.size and preprocess.crop", e.file.Name, side, e.spec.Side())
	}
	return nil
}

// chooseJPEG makes the decoder part of the spec.
func (e *eye) chooseJPEG(w *workbench, model string) error {
	e.spec.JPEG = ""
	chosen := w.config.Preprocess.JPEG
	if chosen == config.JPEGGo || (chosen == config.JPEGAuto && model == config.JPEGGo) {
		return nil
	}
	var err error
	e.decoder, err = w.jpeg()
	switch {
	case err == nil:
		e.spec.JPEG = preprocess.TurboJPEG(e.decoder)
	case chosen == config.JPEGTurbo:
		return fmt.Errorf("preprocess.jpeg: turbo: %w", err)
	case model != "":
		return fmt.Errorf("the model was trained on photos decoded by libjpeg-turbo: %w; or train again with preprocess.jpeg=go", err)
	case !errors.Is(err, turbojpeg.ErrNoLibrary) || os.Getenv(turbojpeg.EnvLibrary) != "":
		w.log.Warn("libjpeg-turbo is not used", "reason", err)
	}
	if model != "" && model != config.JPEGGo && e.spec.JPEG != model {
		return fmt.Errorf("the model was trained on photos decoded by another libjpeg-turbo (%s, here %s), whose pixels differ; train again, or set %s to that library", model, e.spec.JPEG, turbojpeg.EnvLibrary)
	}
	return nil
}

func (e *eye) openStream(w *workbench) error {
	var native preprocess.JPEGDecoder
	if e.spec.JPEG != "" {
		native = e.decoder
	}
	pre, err := preprocess.NewNative(e.spec, w.config.Preprocess.Limits(), native)
	if err != nil {
		return usageError{err}
	}
	dir, err := w.cacheDir()
	if err != nil {
		return err
	}
	e.cache, err = embed.OpenCache(dir, e.namespace(), w.log)
	if err != nil {
		return err
	}
	e.pre = pre
	e.stream = &embed.Stream{
		Cache: e.cache, Preprocessor: pre, Open: embed.Opened(e.extractor), Side: e.spec.Side(),
		Workers: w.config.Workers(), MaxBytes: w.config.Preprocess.MaxBytes,
	}
	return nil
}

func (e *eye) namespace() embed.Namespace {
	return embed.Namespace{Extractor: e.extractor.Fingerprint(), Preprocess: e.spec.Fingerprint()}
}

// source says what made the embeddings, for a model to compare with its own.
// The extractor's fingerprint is left out: it also tells hardware and library
// versions apart, which change nothing but the last bits.
func (e *eye) source() model.Source {
	return model.Source{
		BackboneSHA256: e.file.SHA256, Preprocess: &e.spec,
		PreprocessFingerprint: e.spec.Fingerprint(), Dim: e.extractor.Dim(),
	}
}

// Close makes the cache durable and frees the backbone.
func (e *eye) Close() error {
	var err error
	if e.cache != nil {
		err = e.cache.Close()
	}
	if e.extractor != nil {
		err = errors.Join(err, e.extractor.Close())
	}
	return err
}

// closeInto closes the eye and adds what goes wrong to err, which stays as it is
// otherwise.
func (e *eye) closeInto(err *error) {
	if closing := e.Close(); closing != nil {
		*err = errors.Join(*err, closing)
	}
}

// backboneRecord is what a model keeps of the eye.
func (e *eye) backboneRecord() (*model.Backbone, error) {
	settings, err := json.Marshal(e.settings)
	if err != nil {
		return nil, err
	}
	path := e.file.Path
	if path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	return &model.Backbone{
		Name: e.file.Name, SHA256: e.file.SHA256, Path: path, Dim: e.extractor.Dim(),
		ExtractorFingerprint: e.extractor.Fingerprint(), Extractor: settings,
	}, nil
}
