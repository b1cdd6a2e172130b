package rank

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// By is a ranking criterion.
type By string

// The criteria.
const (
	Entropy    By = "entropy"
	Margin     By = "margin"
	Variance   By = "variance"
	Novelty    By = "novelty"
	LabelError By = "label-error"
)

// Criteria lists all of them.
func Criteria() []string {
	return []string{string(Entropy), string(Margin), string(Variance), string(Novelty), string(LabelError)}
}

// ErrCannot means that a head cannot compute the criterion.
var ErrCannot = errors.New("the classifier does not provide it")

// Config configures a Ranking.
type Config struct {
	By By `mapstructure:"by" json:"by"`
	// Top is the maximum number of entries, 0 for all.
	Top int `mapstructure:"top" json:"top"`
	// ClusterImages is the maximum number of images to group; the most novel
	// are chosen.
	ClusterImages int `mapstructure:"cluster_images" json:"cluster_images"`
	// MaxGroups is the maximum number of groups, MinGroup the minimum size of
	// one; the remaining images stay ungrouped.
	MaxGroups int `mapstructure:"max_groups" json:"max_groups"`
	MinGroup  int `mapstructure:"min_group" json:"min_group"`
}

// DefaultConfig returns the configuration that ranks all images by entropy.
func DefaultConfig() Config {
	return Config{By: Entropy, ClusterImages: 2000, MaxGroups: 30, MinGroup: 3}
}

// Validate returns an error that names the field, its value and what is
// allowed.
func (c Config) Validate() error {
	switch {
	case !slices.Contains(Criteria(), string(c.By)):
		return fmt.Errorf("by: %q is not one of %s", string(c.By), strings.Join(Criteria(), ", "))
	case c.Top < 0:
		return fmt.Errorf("top: %d is negative; use 0 for all", c.Top)
	case c.ClusterImages < 1 || c.ClusterImages > 20000:
		return fmt.Errorf("cluster_images: %d is not from 1 to 20000 (memory grows with the square)", c.ClusterImages)
	case c.MaxGroups < 1:
		return fmt.Errorf("max_groups: %d is not positive", c.MaxGroups)
	case c.MinGroup < 1:
		return fmt.Errorf("min_group: %d is not positive", c.MinGroup)
	}
	return nil
}
