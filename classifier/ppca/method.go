package ppca

import "github.com/seed-90d10d51/pipeline/classifier"

// Method describes ppca.
func Method() classifier.Method {
	return classifier.Define(classifier.Method{
		Name: "ppca", Key: "ppca",
		Summary:    "one low-rank Gaussian per class (Wang 2023); strong with hundreds of examples per class",
		Novelty:    "log-density of a background of all classes, less the largest of the classes",
		Extend:     "exact, from the statistics",
		Forget:     "classes; examples exactly, from the statistics",
		Statistics: true,
	}, classifier.Definition[Config, *PPCA]{
		Default: DefaultConfig(), New: New, Load: Load,
		Seed: func(c *Config) *uint64 {
			if c.Lambda == Auto {
				return &c.Seed
			}
			return nil
		},
		Resolve: func(c *Config, r classifier.Run) { c.Statistics = !r.WithoutStatistics },
	})
}
