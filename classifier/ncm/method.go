package ncm

import "github.com/seed-90d10d51/pipeline/classifier"

// Method describes ncm.
func Method() classifier.Method {
	return classifier.Define(classifier.Method{
		Name: "ncm", Key: "ncm", Summary: "nearest class mean, cosine or Euclidean",
		Novelty: "how much nearer a class that has not been seen is than the nearest class", Extend: "exact",
		Forget: "classes and examples, exact; the temperature stays",
	}, classifier.Definition[Config, *NCM]{Default: DefaultConfig(), New: New, Load: Load})
}
