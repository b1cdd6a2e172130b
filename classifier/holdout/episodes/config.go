package episodes

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// minClasses is the minimum number of classes for a meaningful split: two of
// either kind.
const minClasses = 4

// maxCount bounds the settings that are counts.
const maxCount = 1 << 20

// Config says how pseudo-sessions are drawn.
type Config struct {
	// Splits is the number of draws.
	Splits int `json:"splits"`
	// NovelShare is the share of the classes that act as later ones.
	NovelShare float64 `json:"novel_share"`
	// Shots is the number of examples that these classes are learned from.
	Shots int `json:"shots"`
	// KeepShare is the share of its examples that every other class is learned
	// from.
	KeepShare float64 `json:"keep_share"`
	// TestPerClass is the maximum number of held-out examples of a class that are
	// scored.
	TestPerClass int `json:"test_per_class"`
	// Seed is the seed of the draws.
	Seed uint64 `json:"seed"`
}

// DefaultConfig returns 9 splits, 40 % of the classes learned from 5 shots, the
// others from 80 % of their examples, and 20 examples of each scored.
func DefaultConfig() Config {
	return Config{Splits: 9, NovelShare: 0.4, Shots: 5, KeepShare: 0.8, TestPerClass: 20, Seed: 1}
}

// Seeded returns DefaultConfig with the draws of a run with the given seed.
func Seeded(seed uint64) Config {
	c := DefaultConfig()
	c.Seed += seed
	return c
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	return cmp.Or(
		setting.Int("splits", c.Splits, 1, maxCount), setting.Int("shots", c.Shots, 1, maxCount),
		setting.Int("test_per_class", c.TestPerClass, 1, maxCount),
		checkShare("novel_share", c.NovelShare), checkShare("keep_share", c.KeepShare),
	)
}

func checkShare(name string, share float64) error {
	if !(share > 0 && share < 1) {
		return fmt.Errorf("%s: %g is not between 0 and 1", name, share)
	}
	return nil
}

// TooLittleError reports that the base session is too small for
// pseudo-sessions.
type TooLittleError struct {
	// Classes is the number of classes of the base session, of which Usable have
	// more than Shots examples.
	Classes, Usable, Shots int
}

func (e *TooLittleError) Error() string {
	return fmt.Sprintf("pseudo-sessions need %d classes with more than %d examples each; of the %d classes of the "+
		"base session, %d have that many",
		minClasses, e.Shots, e.Classes, e.Usable)
}
