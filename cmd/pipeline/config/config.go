package config

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/wording"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/method"
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
	// Backbone is a name from the catalogue or an ONNX file; ""
	// means the model's own, or if there is no model yet EfficientNet-Lite0.
	Backbone   string               `mapstructure:"backbone" json:"backbone"`
	Scan       pipeline.Scan        `mapstructure:"scan" json:"scan"`
	Boxes      pipeline.Boxes       `mapstructure:"boxes" json:"boxes"`
	Runtime    Runtime              `mapstructure:"runtime" json:"runtime"`
	Linalg     native.Config        `mapstructure:"linalg" json:"linalg"`
	Preprocess embedding.Preprocess `mapstructure:"preprocess" json:"preprocess"`
	Extractor  extractor.Config     `mapstructure:"extractor" json:"extractor"`
	Text       wording.Config       `mapstructure:"text" json:"text"`
	Classifier pipeline.Classifier  `mapstructure:"classifier" json:"classifier"`
	Label      label.Config         `mapstructure:"label" json:"label"`
	Rank       rank.Config          `mapstructure:"rank" json:"rank"`
	Serve      serve.Config         `mapstructure:"serve" json:"serve"`
	FSCIL      fscil.Config         `mapstructure:"fscil" json:"fscil"`
	Experiment kind.Config          `mapstructure:"experiment" json:"experiment"`
}

// Runtime locates ONNX Runtime.
type Runtime struct {
	// Library is the path of the shared library; "" means search for it.
	Library string `mapstructure:"library" json:"library"`
}

// Default returns the default settings.
func Default() Config {
	return Config{
		Log: "text",
		Scan: pipeline.Scan{Include: []string{}, Exclude: []string{}, DropLabel: []string{},
			Symlinks: string(dataset.FollowLinks)},
		Boxes:      pipeline.Boxes{MinConfidence: 0.2},
		Linalg:     native.DefaultConfig(),
		Preprocess: embedding.DefaultPreprocess(),
		Extractor:  extractor.DefaultConfig(),
		Text:       wording.DefaultConfig(),
		Classifier: pipeline.DefaultClassifier(),
		Label:      label.DefaultConfig(),
		Rank:       rank.DefaultConfig(),
		Serve:      serve.DefaultConfig(),
		FSCIL:      fscil.DefaultConfig(),
		Experiment: kind.DefaultConfig(),
	}
}

// Validate returns an error that names the first setting that is out of range.
func (c Config) Validate() error {
	if err := c.Studio().Validate(); err != nil {
		return err
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

// Studio returns the settings that all requests share.
func (c Config) Studio() pipeline.Settings {
	return pipeline.Settings{
		Network: c.Backbone, Cache: c.Cache, Threads: c.Threads, Preprocess: c.Preprocess, Extractor: c.Extractor,
		Text: c.Text, Linalg: c.Linalg, Library: c.Runtime.Library,
	}
}

// Source returns the input of a command.
func (c Config) Source() pipeline.Source {
	return pipeline.Source{Images: c.Images, List: c.List, Features: c.Features, Scan: c.Scan, Boxes: c.Boxes}
}
