package vargp

import "github.com/seed-90d10d51/pipeline/classifier"

// Method describes vargp.
func Method() classifier.Method {
	return classifier.Define(classifier.Method{
		Name: "vargp", Key: "vargp",
		Summary: "one Gaussian process per class, trained session by session, each posterior building on the earlier " +
			"ones (VAR-GP, Kapoor 2021); for a moderate number of sessions and classes",
		Novelty: "entropy, including a class for unseen input",
		Extend:  "as a separate session, not exact",
		Forget:  "only by learning the rest again",
	}, classifier.Definition[Config, *VARGP]{
		Default: DefaultConfig(), New: New, Load: Load,
		Seed: func(c *Config) *uint64 { return &c.Seed },
	})
}
