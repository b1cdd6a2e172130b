package config

import (
	"errors"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// Scan selects the files of the image folder or list.
type Scan struct {
	// Include and Exclude are glob patterns; see dataset.Filter.
	Include []string `mapstructure:"include" json:"include"`
	Exclude []string `mapstructure:"exclude" json:"exclude"`
	// Symlinks is a dataset.Symlinks.
	Symlinks string `mapstructure:"symlinks" json:"symlinks"`
	// Shard is "i/n", or "" for all files.
	Shard string `mapstructure:"shard" json:"shard"`
}

// Filter returns the filter that the settings describe. It validates them.
func (s Scan) Filter() (dataset.Filter, error) {
	shard, err := dataset.ParseShard(s.Shard)
	f := dataset.Filter{Include: s.Include, Exclude: s.Exclude, Shard: shard}
	return f, errors.Join(err, f.Validate(), dataset.Symlinks(s.Symlinks).Validate())
}
