package gpr

import "github.com/seed-90d10d51/pipeline/classifier"

// Method describes gpr.
func Method() classifier.Method {
	return classifier.Define(classifier.Method{
		Name: "gpr", Key: "gpr",
		Summary: "Gaussian process regression, one-vs-all (Lütz 2011); stores its examples, up to 30 per class",
		Novelty: "how little the largest mean lies above the label of other classes, in standard deviations",
		Extend:  "exact", Forget: "classes and examples, exact",
	}, classifier.Definition[Config, *GPR]{
		Default: DefaultConfig(), New: New, Load: Load,
		MaxPerClass: func(c Config) int { return c.MaxPerClass },
	})
}
