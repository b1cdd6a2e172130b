package gpsoftmax

import "github.com/seed-90d10d51/pipeline/classifier"

// Methods describes lsm and ove, two likelihoods for multi-class Gaussian
// processes.
func Methods() []classifier.Method {
	return []classifier.Method{
		define(LSM, DefaultLSM(),
			"Gaussian process classification with the logistic-softmax likelihood, by Gibbs sampling (Galy-Fajou "+
				"2020), a baseline for gptree; its files contain embeddings"),
		define(OVE, DefaultOVE(),
			"Gaussian process classification with the one-vs-each likelihood, by Gibbs sampling (Snell 2021), a "+
				"baseline for gptree with few classes; its files contain embeddings"),
	}
}

func define(name string, defaults Config, summary string) classifier.Method {
	return classifier.Define(classifier.Method{
		Name: name, Key: name, Summary: summary,
		Novelty: "how low the largest function may be: its standard deviation less its mean",
		Extend:  "exact, by sampling again", Forget: "classes and examples, exact, by sampling again",
	}, classifier.Definition[Config, *Head]{
		Default:     defaults,
		New:         func(c Config) (*Head, error) { return New(name, c) },
		Load:        func(s classifier.State) (*Head, error) { return Load(name, s) },
		Seed:        func(c *Config) *uint64 { return &c.Seed },
		MaxPerClass: func(c Config) int { return c.MaxPerClass },
	})
}
