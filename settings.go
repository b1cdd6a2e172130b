package pipeline

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// Scan selects the files of the image folder or list, and says what names their
// classes.
type Scan struct {
	// Include and Exclude are glob patterns; see dataset.Filter.
	Include []string `mapstructure:"include" json:"include"`
	Exclude []string `mapstructure:"exclude" json:"exclude"`
	// Symlinks is a dataset.Symlinks.
	Symlinks string `mapstructure:"symlinks" json:"symlinks"`
	// Shard is "i/n", or "" for all files.
	Shard string `mapstructure:"shard" json:"shard"`
	// ClassFrom is a dataset.ClassFrom.
	ClassFrom string `mapstructure:"class_from" json:"class_from"`
	// DropLabel lists classes to leave out.
	DropLabel []string `mapstructure:"drop_label" json:"drop_label"`
	// Predictions counts labels of a list that nobody decided (dataset.ListOptions.Decided).
	Predictions bool `mapstructure:"predictions" json:"predictions"`
	// PathColumn, LabelColumn and PathSuffix are as in dataset.ListOptions.
	PathColumn  string `mapstructure:"path_column" json:"path_column"`
	LabelColumn string `mapstructure:"label_column" json:"label_column"`
	PathSuffix  string `mapstructure:"path_suffix" json:"path_suffix"`
}

// Filter returns the filter that the settings describe. It validates them.
func (s Scan) Filter() (dataset.Filter, error) {
	shard, err := dataset.ParseShard(s.Shard)
	f := dataset.Filter{Include: s.Include, Exclude: s.Exclude, DropLabels: s.DropLabel, Shard: shard}
	return f, errors.Join(err, f.Validate(), dataset.Symlinks(s.Symlinks).Validate(),
		dataset.ClassFrom(s.ClassFrom).Validate())
}

// ShardFolder returns the folder for the results of the shard, below that of all: out
// itself for all files.
func (s Scan) ShardFolder(out string) string {
	shard, err := dataset.ParseShard(s.Shard)
	if err != nil || shard.N == 0 || out == "" {
		return out
	}
	return filepath.Join(out, shard.Name())
}

// List returns how to read a list.
func (s Scan) List() dataset.ListOptions {
	return dataset.ListOptions{
		PathColumn: s.PathColumn, LabelColumn: s.LabelColumn, PathSuffix: s.PathSuffix,
		ClassFrom: dataset.ClassFrom(s.ClassFrom),
	}
}

// followsLinks reports whether symbolic links are followed, as they are by default.
func (s Scan) followsLinks() bool {
	return s.Symlinks == "" || s.Symlinks == string(dataset.FollowLinks)
}

// withoutColumns returns the settings with no columns named, as those of another list.
func (s Scan) withoutColumns() Scan {
	s.PathColumn, s.LabelColumn, s.PathSuffix = "", "", ""
	return s
}

// Boxes says which parts of photos are read instead of whole ones.
type Boxes struct {
	// File has the boxes, in MegaDetector's or COCO's JSON; "" reads whole photos.
	File string `mapstructure:"file" json:"file"`
	// MinConfidence leaves out boxes of which the detector is less sure.
	MinConfidence float64 `mapstructure:"min_confidence" json:"min_confidence"`
}

// Validate returns an error that names the first setting that is out of range.
func (b Boxes) Validate() error {
	if !(b.MinConfidence >= 0 && b.MinConfidence <= 1) { // NaN is neither
		return fmt.Errorf("min_confidence: %g is not in [0, 1]", b.MinConfidence)
	}
	return nil
}

// Classifier chooses the method and holds the settings of all of them. Without a name all settings
// but Prior and OldShare are those of DefaultClassifier.
type Classifier struct {
	// Name is one of method.Methods, or method.Auto, the default.
	Name string `mapstructure:"name" json:"name"`
	// Statistics stores exact training statistics in a side file, so that
	// examples can be added to and removed from learned classes.
	Statistics bool `mapstructure:"statistics" json:"statistics"`
	// Temperature divides log-probabilities; 0 means fit it by pseudo-sessions
	// inside the base session, 1 leaves them unchanged.
	Temperature float64 `mapstructure:"temperature" json:"temperature"`
	// Prior is a file made by pipeline prior that training starts from.
	Prior string `mapstructure:"prior" json:"prior"`
	// OldShare is the share of images expected to show classes of the base session; 0
	// leaves it as the model has it, and a new model as its method says.
	OldShare model.OldShare `mapstructure:"old_share" json:"old_share"`
	// DKL trains a projection in front of the method.
	DKL DKL `mapstructure:"dkl" json:"dkl"`
	// Methods holds the settings of all methods, which a configuration decodes from
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

// resolved returns the settings with the defaults in place of those of the zero value.
func (c Classifier) resolved() Classifier {
	if c.Name != "" {
		return c
	}
	d := DefaultClassifier()
	d.Prior, d.OldShare = c.Prior, c.OldShare
	return d
}

// DefaultClassifier returns the settings that compare methods and take the best.
func DefaultClassifier() Classifier {
	return Classifier{
		Name: method.Auto, Statistics: true, Temperature: temperature.Auto,
		DKL: DKL{Resume: true, Training: dkl.DefaultTraining()}, Methods: method.DefaultConfig(),
	}
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
