package config

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/wording"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/internal/linalg/native"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/experiment/kind"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/serve"
)

// Config holds the settings of all commands. The resolved settings of a run are
// saved with its results.
type Config struct {
	// Seed makes a run repeatable bit for bit, at any number of threads.
	Seed uint64 `mapstructure:"seed" json:"seed"`
	// Threads is the number of images processed in parallel; 0 means all cores.
	Threads int `mapstructure:"threads" json:"threads"`
	// Cache is the folder of embeddings and pulled backbones; "" means the
	// user's cache folder.
	Cache string `mapstructure:"cache" json:"cache"`
	// Log is the format of the log on stderr: "text" or "json".
	Log string `mapstructure:"log" json:"log"`
	// Quiet leaves out progress and remarks; warnings, errors and results stay.
	Quiet bool `mapstructure:"quiet" json:"quiet"`
	// Images, List and Features are a command's input, Out is its output.
	Images   string `mapstructure:"images" json:"images"`
	List     string `mapstructure:"list" json:"list"`
	Features string `mapstructure:"features" json:"features"`
	Out      string `mapstructure:"out" json:"out"`
	// Texts is a file of classes and texts that describe them, or a folder of their
	// embeddings.
	Texts string `mapstructure:"texts" json:"texts"`
	// Backbone is a name from the catalogue, "default", or an ONNX file; ""
	// means the model's own, or if there is no model yet the network that pipeline
	// setup obtained, else "default".
	Backbone   string           `mapstructure:"backbone" json:"backbone"`
	Scan       Scan             `mapstructure:"scan" json:"scan"`
	Boxes      Boxes            `mapstructure:"boxes" json:"boxes"`
	Runtime    Runtime          `mapstructure:"runtime" json:"runtime"`
	Linalg     native.Config    `mapstructure:"linalg" json:"linalg"`
	Preprocess embed.Preprocess `mapstructure:"preprocess" json:"preprocess"`
	Extractor  extractor.Config `mapstructure:"extractor" json:"extractor"`
	Text       wording.Config   `mapstructure:"text" json:"text"`
	Classifier Classifier       `mapstructure:"classifier" json:"classifier"`
	Label      label.Config     `mapstructure:"label" json:"label"`
	Rank       rank.Config      `mapstructure:"rank" json:"rank"`
	Serve      serve.Config     `mapstructure:"serve" json:"serve"`
	FSCIL      fscil.Config     `mapstructure:"fscil" json:"fscil"`
	Experiment kind.Config      `mapstructure:"experiment" json:"experiment"`
}

// Runtime locates ONNX Runtime.
type Runtime struct {
	// Library is the path of the shared library; "" means search for it.
	Library string `mapstructure:"library" json:"library"`
}

// Classifier chooses the method and holds the settings of all of them.
type Classifier struct {
	// Name is one of method.Methods, or method.Auto, the default.
	Name string `mapstructure:"name" json:"name"`
	// Statistics stores exact training statistics in a side file, so that
	// examples can be added to and removed from learned classes.
	Statistics bool `mapstructure:"statistics" json:"statistics"`
	// Temperature divides log-probabilities; 0 means fit it by pseudo-sessions
	// inside the base session, 1 leaves them unchanged.
	Temperature float64 `mapstructure:"temperature" json:"temperature"`
	// Prior is a file made by pipeline prior, or prior.BuiltIn, that training starts from.
	Prior string `mapstructure:"prior" json:"prior"`
	// OldShare is the share of images expected to show classes of the base session; 0
	// leaves it as the model has it, and a new model as its method says.
	OldShare model.OldShare `mapstructure:"old_share" json:"old_share"`
	// DKL trains a projection in front of the method.
	DKL DKL `mapstructure:"dkl" json:"dkl"`
	// Methods holds the settings of all methods, which Load decodes from
	// Sections, nested maps by key.
	Methods  method.Config  `mapstructure:"-" json:"methods"`
	Sections map[string]any `mapstructure:",remain" json:"-"`
}

// DKL configures the training of a projection in front of the method.
type DKL struct {
	Enabled bool `mapstructure:"enabled" json:"enabled"`
	// Resume continues from the checkpoint of a run that was stopped.
	Resume       bool `mapstructure:"resume" json:"resume"`
	dkl.Training `mapstructure:",squash"`
}

// maxThreads is far above the cores of a machine; each thread takes memory.
const maxThreads = 1024

// Default returns the default settings.
func Default() Config {
	return Config{
		Log: "text",
		Scan: Scan{Include: []string{}, Exclude: []string{}, DropLabel: []string{},
			Symlinks: string(dataset.FollowLinks)},
		Boxes:      Boxes{MinConfidence: 0.2},
		Linalg:     native.DefaultConfig(),
		Preprocess: embed.DefaultPreprocess(),
		Extractor:  extractor.DefaultConfig(),
		Text:       wording.DefaultConfig(),
		Classifier: Classifier{Name: method.Auto, Statistics: true, Temperature: temperature.Auto,
			DKL: DKL{Resume: true, Training: dkl.DefaultTraining()}, Methods: method.DefaultConfig()},
		Label:      label.DefaultConfig(),
		Rank:       rank.DefaultConfig(),
		Serve:      serve.DefaultConfig(),
		FSCIL:      fscil.DefaultConfig(),
		Experiment: kind.DefaultConfig(),
	}
}

// Validate returns an error that names the first setting that is out of range.
func (c Config) Validate() error {
	if c.Threads < 0 || c.Threads > maxThreads {
		return fmt.Errorf("threads: %d is not in 0…%d; use 0 for all cores", c.Threads, maxThreads)
	}
	if c.Log != "text" && c.Log != "json" {
		return fmt.Errorf("log: %q is neither text nor json", c.Log)
	}
	_, scan := c.Scan.Filter()
	for _, section := range []struct {
		prefix string
		err    error
	}{
		{"scan.", scan},
		{"boxes.", c.Boxes.Validate()},
		{"linalg.", c.Linalg.Validate()},
		{"preprocess.", c.Preprocess.Validate()},
		{"", c.Extractor.Validate()},
		{"text.", c.Text.Validate()},
		{"label.", c.Label.Validate()},
		{"rank.", c.Rank.Validate()},
		{"serve.", c.Serve.Validate()},
		{"fscil.", c.FSCIL.Validate()},
		{"fscil.methods: ", trainable(c.FSCIL.Methods...)},
		{"fscil.variants: ", method.ValidateVariants(c.FSCIL.Variants, c.Classifier.Methods)},
		{"experiment.", c.Experiment.Validate()},
		{"classifier.name: ", trainable(c.Classifier.Name)},
		{"classifier.", c.Classifier.Tempered().Validate()},
		{"classifier.", c.Classifier.OldShare.Validate()},
		{"classifier.dkl.", c.Classifier.DKL.Validate()},
		{"classifier.", c.Classifier.Methods.Validate()},
	} {
		if section.err != nil {
			return fmt.Errorf("%s%w", section.prefix, section.err)
		}
	}
	return nil
}

// trainable returns an error that names the first that is neither a method nor auto.
func trainable(names ...string) error {
	for _, name := range names {
		if name == method.Auto {
			continue
		}
		if _, err := method.Find(name); err != nil {
			return err
		}
	}
	return nil
}

// Tempered returns the settings of the temperature.
func (c Classifier) Tempered() temperature.Config {
	return temperature.Config{Temperature: c.Temperature}
}

// Heads returns the settings of the methods for a run with the given seed.
func (c Classifier) Heads(seed uint64) method.Config {
	c.Methods.WithoutStatistics = !c.Statistics
	return c.Methods.Seeded(seed)
}

// Training returns the settings of deep kernel learning for a run with the given
// seed.
func (c Classifier) Training(seed uint64) dkl.Training {
	t := c.DKL.Training
	t.Seed = seed
	return t
}

// Workers returns the number of images to process in parallel.
func (c Config) Workers() int { return cmp.Or(c.Threads, runtime.GOMAXPROCS(0)) }
