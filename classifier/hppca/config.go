package hppca

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// What is clustered into super-classes (Config.Cluster).
const (
	// ClusterGaussians clusters the class models (Algorithm 2).
	ClusterGaussians = "gaussians"
	// ClusterRaw clusters examples and assigns a class to the cluster with most
	// of its examples (section 5.1.4).
	ClusterRaw = "raw"
)

// Which part of the Bhattacharyya distance draws the seeds
// (Config.SeedDistance).
const (
	SeedFull = "full" // eq. 4.9
	SeedMean = "mean" // its mean term only
)

// The presets.
const (
	PresetDefault = "default"
	PresetPaper   = "paper"
)

// maxCount bounds the settings that are counts.
const maxCount = 1 << 16

// Config holds the settings of hierarchical PPCA.
type Config struct {
	// Preset is "default" or "paper": it sets Normalize and LogDet if they are
	// nil.
	Preset string `json:"preset" mapstructure:"preset"`
	// Q and R are the maximum numbers of principal components of a class and of a
	// super-class.
	Q int `json:"q" mapstructure:"q"`
	R int `json:"r" mapstructure:"r"`
	// Lambda is λ, the noise variance, on the scale of the embeddings.
	Lambda float64 `json:"lambda" mapstructure:"lambda"`
	// S is the number of super-classes; 0 means K^((Levels−1)/Levels) for K
	// classes, which is √K with two levels.
	S int `json:"s" mapstructure:"s"`
	// T is the maximum number of super-classes that an example visits.
	T int `json:"t" mapstructure:"t"`
	// Gap, in nats, skips super-classes whose score is more than this below the
	// best; 0 means visit T whatever their scores.
	Gap float64 `json:"gap" mapstructure:"gap"`
	// Levels is 2 for classes and super-classes, as in the paper; higher values
	// add super-classes of super-classes above.
	Levels int `json:"levels" mapstructure:"levels"`
	// Cluster is "gaussians" or "raw".
	Cluster string `json:"cluster" mapstructure:"cluster"`
	// SeedDistance is "full" or "mean".
	SeedDistance string `json:"seed_distance" mapstructure:"seed_distance"`
	// MaxIter bounds the rounds of assignment and update.
	MaxIter int `json:"max_iter" mapstructure:"max_iter"`
	// Refresh rebuilds the super-classes whenever the head changes; otherwise new
	// classes join those of the base session.
	Refresh bool `json:"refresh" mapstructure:"refresh"`
	// Normalize scales embeddings to length 1; nil means as in the preset.
	Normalize *bool `json:"normalize" mapstructure:"normalize"`
	// LogDet uses the log-determinant, making the scores log-densities; nil means
	// as in the preset.
	LogDet *bool `json:"logdet" mapstructure:"logdet"`
	// Seed draws the initial super-classes. It is the seed of the run, not a key
	// of the section.
	Seed uint64 `json:"seed" mapstructure:"-"`
	// Statistics stores what is needed to learn more examples of an old class and
	// to forget single ones: up to 4d² bytes per class. It is not a key of the
	// section: classifier.statistics sets it.
	Statistics bool `json:"statistics" mapstructure:"-"`
}

// DefaultConfig returns the paper's q = r = 20 and λ = 0.01, S = √K, T = 4, on
// embeddings of length 1, with log-determinant and statistics.
func DefaultConfig() Config {
	return Config{
		Preset: PresetDefault, Q: 20, R: 20, Lambda: 0.01, T: 4, Levels: 2, Cluster: ClusterGaussians,
		SeedDistance: SeedFull,
		MaxIter:      50, Statistics: true,
	}
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if err := cmp.Or(
		setting.OneOf("preset", c.Preset, PresetDefault, PresetPaper),
		setting.Int("q", c.Q, 0, maxCount), setting.Int("r", c.R, 0, maxCount), setting.Int("s", c.S, 0, 1<<24),
		setting.Int("t", c.T, 1, 1<<24),
		setting.Int("levels", c.Levels, 2, 8), setting.Int("max_iter", c.MaxIter, 1, maxCount),
		setting.OneOf("cluster", c.Cluster, ClusterGaussians, ClusterRaw),
		setting.OneOf("seed_distance", c.SeedDistance, SeedFull, SeedMean),
	); err != nil {
		return err
	}
	if !(c.Lambda >= 1e-12 && c.Lambda <= 1e12) {
		return fmt.Errorf("lambda: %g is outside 1e-12 … 1e12", c.Lambda)
	}
	if !(c.Gap >= 0 && c.Gap <= math.MaxFloat64) {
		return fmt.Errorf("gap: %g is not 0 or more", c.Gap)
	}
	if c.Refresh && c.Cluster == ClusterRaw {
		return fmt.Errorf("refresh: with cluster %s it needs all examples again, which are not stored; use %s",
			ClusterRaw, ClusterGaussians)
	}
	return nil
}

// resolve returns the configuration with Normalize and LogDet set.
func (c Config) resolve() Config {
	if c.Normalize == nil {
		c.Normalize = new(c.Preset == PresetDefault)
	}
	if c.LogDet == nil {
		c.LogDet = new(c.Preset == PresetDefault)
	}
	return c
}

// sizes returns the number of nodes of each level above k classes, lowest
// first. Levels that would not be smaller than the one below are left out,
// except the lowest.
func (c Config) sizes(k int) []int {
	lowest := float64(c.S)
	if c.S == 0 {
		lowest = math.Pow(float64(k), float64(c.Levels-1)/float64(c.Levels))
	}
	var sizes []int
	for level := range c.Levels - 1 {
		n := int(math.Round(math.Pow(lowest, float64(c.Levels-1-level)/float64(c.Levels-1))))
		n = min(max(n, 1), k)
		if level > 0 && (n >= sizes[level-1] || n == 1) {
			break
		}
		sizes = append(sizes, n)
	}
	return sizes
}
