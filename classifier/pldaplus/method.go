package pldaplus

import "github.com/seed-90d10d51/pipeline/classifier"

// Methods describes plda+ and ppca-eb, two heads of one family.
func Methods() []classifier.Method {
	plus := classifier.Method{
		Name: PLDAPlus, Key: "plda_plus",
		Summary: "plda with class covariances shrunk toward the shared one, and scores of base and later classes " +
			"calibrated on the base session; the most accurate method with a large base session",
		Novelty: "log-density of a class that has not been seen, less the largest of the classes, before calibration",
	}
	eb := classifier.Method{
		Name: PPCAEB, Key: "ppca_eb",
		Summary: "ppca with class covariances shrunk toward the shared one and uncertain class means: between ppca " +
			"and plda",
		Novelty: "log-density of a class that has not been seen, less the largest of the classes, all with the " +
			"shared covariance",
	}
	return []classifier.Method{define(plus, DefaultPLDAPlus()), define(eb, DefaultPPCAEB())}
}

func define(m classifier.Method, defaults Config) classifier.Method {
	m.Extend = "exact, from the statistics; shared parameters stay as fitted on the base session"
	m.Forget = "classes; examples exactly, from the statistics; shared parameters stay"
	m.Statistics = true
	return classifier.Define(m, classifier.Definition[Config, *Head]{
		Default: defaults,
		New:     func(c Config) (*Head, error) { return New(m.Name, c) },
		Load:    func(s classifier.State) (*Head, error) { return Load(m.Name, s) },
		Seed: func(c *Config) *uint64 {
			if c.chooses() {
				return &c.Seed
			}
			return nil
		},
		Resolve: func(c *Config, r classifier.Run) { c.Statistics = !r.WithoutStatistics },
	})
}
