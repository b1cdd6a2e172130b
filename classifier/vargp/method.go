package vargp

import "github.com/seed-90d10d51/pipeline/classifier"

// Method describes vargp.
func Method() classifier.Method {
	return classifier.Define(classifier.Method{
		Name: "vargp", Key: "vargp",
		Summary: "one Gaussian process per class, trained session by session with a posterior that builds on the earlier ones (VAR-GP, Kapoor 2021); for a moderate number of sessions and classes",
		Novelty: "entropy, with a class for what was never seen",
		Extend:  "as a session of its own, not exact",
		Forget:  "no",
	}, classifier.Definition[Config, *VARGP]{
		Default: DefaultConfig(), New: New, Load: Load,
		Resolve: func(c Config, r classifier.Run) Config {
			c.Seed = r.Seed
			return c
		},
	})
}
