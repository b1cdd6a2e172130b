package embedding

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// Options configure an Embedder. The zero value does what the commands do by default.
type Options struct {
	// Backbone is an ONNX file, a catalogue name, or "" for New; in OpenFor "" finds the
	// recorded one.
	Backbone string
	// New is the network of new models, as Backbone; "" is backbone.OfNewModels.
	New        string
	Extractor  extractor.Config
	Preprocess Preprocess
	// Cache is the folder of embeddings and backbones; "" is the user's.
	Cache string
	// Threads is the number of images processed at once; 0 means one per core.
	Threads int
	// Library is the path of ONNX Runtime's shared library; "" searches for it.
	Library string
	// Until, unless nil, ends the runs of networks when it is done. One that has not computed an
	// embedding after ten minutes fails then.
	Until context.Context
	// Watched says that the photos are looked for again and again: one that is still being written is left for
	// later with ErrGrowing, where else it is waited for.
	Watched bool
	// ToolVersion is recorded in the Provenance.
	ToolVersion string
	// Log receives warnings; nil is silent.
	Log *slog.Logger
	// Progress, unless nil, is called when a pass over images begins, and
	// returns the functions to call after every image and at the end.
	Progress func(images int) (step, finish func())
}

// DefaultOptions returns what the zero value stands for, to change some of it.
func DefaultOptions() Options {
	return Options{Extractor: extractor.DefaultConfig(), Preprocess: DefaultPreprocess()}
}

// CacheDir returns the folder of embeddings and backbones.
func (o Options) CacheDir() (string, error) {
	if o.Cache != "" {
		return filepath.Abs(o.Cache)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; name one", err)
	}
	return filepath.Join(user, "pipeline"), nil
}

// BackboneDirs returns the folders to search for backbones.
func (o Options) BackboneDirs() (backbone.Dirs, error) {
	dir, err := o.CacheDir()
	return backbone.Dirs{Cache: filepath.Join(dir, "backbones")}, err
}

// resolved returns the options with the defaults of those that cannot be zero.
func (o Options) resolved() Options {
	o.Preprocess = o.Preprocess.resolved()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Runtime finds and loads ONNX Runtime.
func (o Options) Runtime() (*ort.Runtime, error) {
	library, _, err := ort.Locate(o.Library)
	if err != nil {
		return nil, err
	}
	return ort.Open(library)
}

// A SettingsError reports that the options are wrong, rather than the machine
// or a file.
type SettingsError struct{ Err error }

func (e *SettingsError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SettingsError) Unwrap() error { return e.Err }

// An Embedder turns image files into embeddings: it combines backbone,
// preprocessing, extractor and cache. It runs one pass over images at a time.
type Embedder struct {
	options   Options
	file      backbone.File
	settings  extractor.Config
	spec      preprocess.Spec
	probes    Probes
	reading   string
	budget    *preprocess.Budget
	pre       *preprocess.Preprocessor
	extractor *extractor.Extractor
	cache     *cache.Cache
	stream    *Stream
}

// Open returns an Embedder for the backbone that the options name. Close it
// after use. It embeds the probe pictures unless the cache has them.
func Open(o Options) (*Embedder, error) {
	e, err := o.resolved().openNamed()
	if err != nil {
		return nil, err
	}
	e.sayDecoders()
	if e.probes, err = e.probe(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.checkReference()
	return e, nil
}

func (o Options) openNamed() (*Embedder, error) {
	dirs, err := o.BackboneDirs()
	if err != nil {
		return nil, err
	}
	file, err := backbone.Resolve(cmp.Or(o.Backbone, o.New), dirs)
	if err != nil {
		return nil, err
	}
	e, err := o.open(file, file.Preprocess, o.Extractor)
	if err != nil {
		return nil, err
	}
	return e.settle()
}

// OpenFor returns an Embedder that reproduces the embeddings of a model or
// feature folder. It finds the backbone by its hash: built in, in the cache, at
// the recorded path, or named by the options. The error wraps ErrOtherBackbone
// or ErrOtherPreprocessing if the options ask for something else, or the decoder
// at hand gives other features; Provenance.Note tells of a smaller difference.
func OpenFor(p Provenance, o Options) (*Embedder, error) {
	e, err := o.resolved().openFor(p)
	if err != nil {
		return nil, err
	}
	e.sayDecoders()
	if err := e.compare(p); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// compare sets the features of the probe pictures, which need no computing if the
// pixels are the same, and returns the error of Provenance.Compatible.
func (e *Embedder) compare(p Provenance) (err error) {
	if e.probes = p.Probes; differ(e.spec.Fingerprint(), p.PreprocessFingerprint) {
		if e.probes, err = e.probe(); err != nil {
			return err
		}
	}
	return e.Provenance().Compatible(p, "in the model")
}

func (o Options) openFor(p Provenance) (*Embedder, error) {
	if p.Backbone.SHA256 == "" {
		if o.Backbone == "" {
			return nil, &SettingsError{phrase.New("the model was trained on features of an unknown backbone: name " +
				"the one that computed them with {backbone}")}
		}
		return o.openNamed()
	}
	dirs, err := o.BackboneDirs()
	if err != nil {
		return nil, err
	}
	file, err := backbone.FindByHash(p.Backbone.SHA256, p.Backbone.Path, o.Backbone, dirs)
	if err != nil {
		return nil, err
	}
	settings, err := o.recordedExtractor(p)
	if err != nil {
		return nil, err
	}
	return o.open(file, p.Preprocess, settings)
}

// recordedExtractor returns the recorded settings. The options may choose other
// hardware, but not settings that change values.
func (o Options) recordedExtractor(p Provenance) (extractor.Config, error) {
	recorded, standard := extractor.DefaultConfig(), extractor.DefaultConfig()
	if len(p.Extractor) > 0 {
		if err := json.Unmarshal(p.Extractor, &recorded); err != nil {
			return recorded, fmt.Errorf("extractor settings in the model: %w", err)
		}
	}
	said := o.Extractor.Resolved()
	settings := recorded
	set(&settings.Provider, said.Provider, standard.Provider)
	set(&settings.Batch, said.Batch, standard.Batch)
	wanted := settings
	set(&wanted.Input, said.Input, standard.Input)
	set(&wanted.Output, said.Output, standard.Output)
	set(&wanted.Layout, said.Layout, standard.Layout)
	set(&wanted.Pool, said.Pool, standard.Pool)
	set(&wanted.Token, said.Token, standard.Token)
	set(&wanted.Map, said.Map, standard.Map)
	set(&wanted.Side, said.Side, standard.Side)
	if wanted != settings {
		return settings, &SettingsError{fmt.Errorf("the model was trained with the extractor settings %s; other "+
			"settings give other embeddings", p.Extractor)}
	}
	return settings, nil
}

// open returns an Embedder for a backbone.
func (o Options) open(file backbone.File, wanted *preprocess.Spec, settings extractor.Config) (*Embedder, error) {
	if settings.Output == "" {
		settings.Output = file.Output
	}
	runtime, err := o.Runtime()
	if err != nil {
		return nil, err
	}
	e := &Embedder{options: o, file: file, settings: settings}
	if e.extractor, err = extractor.Open(runtime.Until(o.Until), file.Bytes(), file.Name, settings); err != nil {
		return nil, err
	}
	if err := e.prepare(wanted); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// prepare chooses the preprocessing and opens the cache.
func (e *Embedder) prepare(wanted *preprocess.Spec) error {
	if err := e.chooseSpec(wanted); err != nil {
		return err
	}
	var err error
	if e.budget, err = e.options.Preprocess.Budget(); err != nil {
		return &SettingsError{fmt.Errorf("preprocess.%w", err)}
	}
	if err := e.chooseDecoders(); err != nil {
		return err
	}
	if e.pre, err = preprocess.New(e.spec, e.budget); err != nil {
		return &SettingsError{err}
	}
	e.cache, err = e.openCache(e.spec.Fingerprint())
	e.stream = e.newStream(e.pre, e.cache)
	return err
}

// Stored opens the stored embeddings of a provenance, for which no backbone is
// needed. The Cache is nil, and has nothing, if it does not say how they were
// computed.
func (o Options) Stored(p Provenance) (*cache.Cache, error) {
	if p.ExtractorFingerprint == "" || p.PreprocessFingerprint == "" {
		return nil, nil
	}
	dir, err := o.CacheDir()
	if err != nil {
		return nil, err
	}
	return cache.Open(dir, cache.Namespace{Extractor: p.ExtractorFingerprint, Preprocess: p.PreprocessFingerprint},
		o.Log)
}

func (e *Embedder) openCache(fingerprint string) (*cache.Cache, error) {
	return e.options.Stored(Provenance{ExtractorFingerprint: e.extractor.Fingerprint(),
		PreprocessFingerprint: fingerprint})
}

func (e *Embedder) newStream(pre Preprocessor, c *cache.Cache) *Stream {
	return &Stream{
		Cache: c, Preprocessor: pre, Open: Opened(e.extractor), Side: e.spec.Side(),
		Workers: e.options.Threads, Budget: e.budget,
		growing: &patient{leave: e.options.Watched, now: time.Now, sleep: sleep},
	}
}

// Close makes the cache durable and frees the backbone.
func (e *Embedder) Close() error {
	return errors.Join(e.cache.Close(), e.extractor.Close())
}

// Dim returns the number of values in an embedding.
func (e *Embedder) Dim() int { return e.extractor.Dim() }

// Backbone returns the backbone's file.
func (e *Embedder) Backbone() backbone.File { return e.file }

// Extractor returns the backbone, ready to run. The Embedder closes it.
func (e *Embedder) Extractor() *extractor.Extractor { return e.extractor }

// Provenance describes how the embeddings are computed.
func (e *Embedder) Provenance() Provenance {
	settings, _ := json.Marshal(e.settings) // strings and integers always marshal
	path := e.file.Path
	abs, err := filepath.Abs(path)
	if err == nil && path != "" {
		path = abs
	}
	spec := e.spec
	return Provenance{
		ToolVersion: e.options.ToolVersion,
		Backbone:    Backbone{Name: e.file.Name, SHA256: e.file.SHA256, Path: path},
		Extractor:   settings, ExtractorFingerprint: e.extractor.Fingerprint(),
		Preprocess: &spec, PreprocessFingerprint: spec.Fingerprint(), GeometryFingerprint: spec.Geometry(),
		Probes: e.probes, Dim: e.Dim(),
	}
}

// EmbedSeq embeds a sequence of images whose paths are relative to root, as
// Stream.runSeq does.
func (e *Embedder) EmbedSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample],
	emit func(Item) error) (Counts, error) {
	return e.stream.runSeq(ctx, root, samples, emit)
}

// Embed returns the embeddings of a folder or list of images as Rows: ordered,
// computed in parallel, and cached. Nothing happens before Rows.Each.
func (e *Embedder) Embed(images *dataset.Source) Rows { return imageRows{e, images} }

type imageRows struct {
	embedder *Embedder
	images   *dataset.Source
}

// Provenance implements Rows.
func (r imageRows) Provenance() Provenance { return r.embedder.Provenance() }

// Each implements Rows.
func (r imageRows) Each(ctx context.Context, emit func(Item) error) (Outcome, error) {
	step, finish := r.embedder.progress(r.images.Len())
	defer finish()
	var failed []dataset.Problem
	said := remarks{}
	counts, err := r.embedder.EmbedSeq(ctx, r.images.Root(), r.images.Samples(ctx), func(item Item) error {
		step()
		said.add(item)
		if item.Err != nil {
			failed = append(failed, dataset.Problem{Path: item.Sample.Path, Err: item.Err})
		}
		return emit(item)
	})
	said.log(r.embedder.options.Log, counts.Inferred)
	if err != nil {
		return Outcome{Counts: counts}, err
	}
	found, err := r.images.Outcome()
	return Outcome{Counts: counts, Problems: append(failed, found.Problems...), Skipped: found.Skipped}, err
}

func (e *Embedder) progress(images int) (step, finish func()) {
	if e.options.Progress == nil {
		return func() {}, func() {}
	}
	return e.options.Progress(images)
}
