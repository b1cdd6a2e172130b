package plda

import "github.com/seed-90d10d51/pipeline/classifier"

// Methods describes plda and its simple form, lda.
func Methods() []classifier.Method {
	common := classifier.Method{
		Novelty: "log-density of a class that has not been seen, less the largest of the classes",
		Extend:  "exact; shared covariances stay as fitted on the base session",
		Forget:  "classes and examples, exact; shared covariances stay",
	}
	two, one := common, common
	two.Name, two.Key = "plda", "plda"
	two.Summary = "two-covariance model: shared covariance, uncertain class means; learns a class from one example"
	one.Name, one.Key = "lda", "lda"
	one.Summary = "linear discriminant analysis: shared covariance, class means taken as known; the simple form of plda"
	return []classifier.Method{
		classifier.Define(one, classifier.Definition[noSettings, *PLDA]{
			New: func(noSettings) (*PLDA, error) { return New(LDA()) }, Load: LoadLDA,
		}),
		classifier.Define(two, classifier.Definition[Config, *PLDA]{
			Default: DefaultConfig(), New: made, Load: Load,
			Seed: func(c *Config) *uint64 {
				if c.Epsilon == Auto {
					return &c.Seed
				}
				return nil
			},
		}),
	}
}

// noSettings is the configuration of lda, which has none.
type noSettings struct{}

func (noSettings) Validate() error { return nil }
