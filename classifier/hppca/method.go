package hppca

import "github.com/seed-90d10d51/pipeline/classifier"

// Method describes hppca.
func Method() classifier.Method {
	return classifier.Define(classifier.Method{
		Name: "hppca", Key: "hppca",
		Summary: "ppca under super-classes (Wang 2023): compares an example with the classes of a few " +
			"super-classes only; for thousands of classes",
		Novelty:    "log-density of a background of all classes, less the largest of the visited classes",
		Extend:     "exact, from the statistics; super-classes stay the same until they are refreshed",
		Forget:     "classes; examples exactly, from the statistics; super-classes stay until they are refreshed",
		Statistics: true,
	}, classifier.Definition[Config, *HPPCA]{
		Default: DefaultConfig(), New: New, Load: Load,
		Seed:      func(c *Config) *uint64 { return &c.Seed },
		Refreshes: func(c Config) bool { return c.Refresh },
		Resolve:   func(c *Config, r classifier.Run) { c.Statistics = !r.WithoutStatistics },
	})
}
