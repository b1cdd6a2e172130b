package aligned

import "github.com/seed-90d10d51/pipeline/classifier"

// name is that of the method.
const name = "aligned"

// Method describes the head.
func Method() classifier.Method {
	return classifier.Define(classifier.Method{
		Name: name, Key: name,
		Summary: "logistic regression on the base session, to which later classes are aligned by what plda expects of them; for a large base session and many classes to come",
		Novelty: "negative largest log-density of plda",
		Extend:  "from the sums of its examples; the regression of base classes stays as fitted on the base session",
		Forget:  "classes and examples; shared parameters and the regression of base classes stay",
	}, classifier.Definition[Config, *Head]{Default: DefaultConfig(), New: New, Load: Load})
}
