package config

import (
	"errors"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// Scan says which files of the image folder or list are looked at.
type Scan struct {
	// Include and Exclude are glob patterns; see dataset.Filter.
	Include []string `mapstructure:"include" json:"include"`
	Exclude []string `mapstructure:"exclude" json:"exclude"`
	// Symlinks is a dataset.Symlinks.
	Symlinks string `mapstructure:"symlinks" json:"symlinks"`
	// Shard is "i/n", "" for everything.
	Shard string `mapstructure:"shard" json:"shard"`
}

// Filter is what the settings mean, or why they mean nothing.
func (s Scan) Filter() (dataset.Filter, error) {
	shard, err := dataset.ParseShard(s.Shard)
	f := dataset.Filter{Include: s.Include, Exclude: s.Exclude, Shard: shard}
	return f, errors.Join(err, f.Validate(), dataset.Symlinks(s.Symlinks).Validate())
}
