package config

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/dataset"
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
