package ppcaonline

import "github.com/seed-90d10d51/pipeline/classifier"

// Method describes ppca-online.
func Method() classifier.Method {
	return classifier.Define(classifier.Method{
		Name: "ppca-online", Key: "ppca_online",
		Summary: "one low-rank Gaussian per class that learns one image at a time (NAT-oEM, Pamplona and Manzanera " +
			"2020)",
		Novelty: "log-density of a background of all classes, less the largest of the classes",
		Extend:  "one example at a time; their order matters",
		Forget:  "classes",
	}, classifier.Definition[Config, *Online]{
		Default: DefaultConfig(), New: New, Load: Load,
		Seed: func(c *Config) *uint64 { return &c.Seed },
	})
}
