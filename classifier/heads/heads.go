package heads

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/classifier/shrunk"
)

// Default is the method for those who do not choose.
const Default = "plda"

// Config holds the settings of every method.
type Config struct {
	NCM  ncm.Config  `json:"ncm" mapstructure:"ncm"`
	PLDA plda.Config `json:"plda" mapstructure:"plda"`
	PPCA ppca.Config `json:"ppca" mapstructure:"ppca"`
	// Of the methods plda+ and ppca-eb: keys cannot hold their names.
	PLDAPlus shrunk.Config `json:"plda_plus" mapstructure:"plda_plus"`
	PPCAEB   shrunk.Config `json:"ppca_eb" mapstructure:"ppca_eb"`
}

// DefaultConfig returns the defaults of every method.
func DefaultConfig() Config {
	return Config{NCM: ncm.DefaultConfig(), PLDA: plda.DefaultConfig(), PPCA: ppca.DefaultConfig(), PLDAPlus: shrunk.DefaultPLDAPlus(), PPCAEB: shrunk.DefaultPPCAEB()}
}

// Validate names the method and the field that is out of range.
func (c Config) Validate() error {
	for _, m := range []struct {
		name string
		err  error
	}{{"ncm", c.NCM.Validate()}, {"plda", c.PLDA.Validate()}, {"ppca", c.PPCA.Validate()}, {"plda_plus", c.PLDAPlus.Validate()}, {"ppca_eb", c.PPCAEB.Validate()}} {
		if m.err != nil {
			return fmt.Errorf("%s.%w", m.name, m.err)
		}
	}
	return nil
}

// A Method says what a head is and what it can do.
type Method struct {
	Name    string
	Summary string
	// Novelty is what its novelty score measures.
	Novelty string
	// Extend says how an old class takes more examples, Forget how classes
	// and single examples are forgotten.
	Extend, Forget string
	// Statistics says that exact statistics are kept in a side file.
	Statistics bool

	make func(Config) (classifier.Learner, error)
	load func(classifier.State) (classifier.Learner, error)
}

// Methods returns all methods, sorted by name.
func Methods() []Method {
	return []Method{
		{
			Name: "lda", Summary: "linear discriminant analysis: shared covariance, class means taken as known; the plain relative of plda",
			Novelty: "negative largest log-density", Extend: "exact, the shared covariance stays as the base session set it", Forget: "classes and examples, exact likewise",
			make: func(Config) (classifier.Learner, error) { return learner(plda.New(plda.LDA())) },
			load: func(s classifier.State) (classifier.Learner, error) { return learner(plda.LoadLDA(s)) },
		},
		{
			Name: "ncm", Summary: "nearest class mean, cosine or Euclidean",
			Novelty: "distance to the nearest mean", Extend: "exact", Forget: "classes and examples, exact",
			make: func(c Config) (classifier.Learner, error) { return learner(ncm.New(c.NCM)) },
			load: func(s classifier.State) (classifier.Learner, error) { return learner(ncm.Load(s)) },
		},
		{
			Name: "plda", Summary: "two-covariance model: shared covariance, uncertain class means; learns a class from one example",
			Novelty: "negative largest log-density", Extend: "exact, shared covariances stay as the base session set them", Forget: "classes and examples, exact likewise",
			make: func(c Config) (classifier.Learner, error) { return learner(plda.New(c.PLDA)) },
			load: func(s classifier.State) (classifier.Learner, error) { return learner(plda.Load(s)) },
		},
		{
			Name: shrunk.PLDAPlus, Summary: "plda with class covariances shrunk to the shared one, and base classes calibrated against later ones on the base session; the most accurate with a large base session",
			Novelty: "negative largest log-density, before calibration", Extend: "exact, from the statistics; what classes share stays as the base session set it", Forget: "classes; examples from the statistics, exact likewise",
			Statistics: true,
			make:       func(c Config) (classifier.Learner, error) { return learner(shrunk.New(shrunk.PLDAPlus, c.PLDAPlus)) },
			load:       func(s classifier.State) (classifier.Learner, error) { return learner(shrunk.Load(shrunk.PLDAPlus, s)) },
		},
		{
			Name: "ppca", Summary: "one low-rank Gaussian per class (Wang 2023); strong with hundreds of examples a class",
			Novelty: "negative largest log-density; smallest Mahalanobis distance without log-determinant", Extend: "exact, from the statistics", Forget: "classes; examples from the statistics, exact",
			Statistics: true,
			make:       func(c Config) (classifier.Learner, error) { return learner(ppca.New(c.PPCA)) },
			load:       func(s classifier.State) (classifier.Learner, error) { return learner(ppca.Load(s)) },
		},
		{
			Name: shrunk.PPCAEB, Summary: "ppca with class covariances shrunk to the shared one and uncertain class means: between ppca and plda",
			Novelty: "negative largest log-density", Extend: "exact, from the statistics; what classes share stays as the base session set it", Forget: "classes; examples from the statistics, exact likewise",
			Statistics: true,
			make:       func(c Config) (classifier.Learner, error) { return learner(shrunk.New(shrunk.PPCAEB, c.PPCAEB)) },
			load:       func(s classifier.State) (classifier.Learner, error) { return learner(shrunk.Load(shrunk.PPCAEB, s)) },
		},
	}
}

// New returns an unfitted head.
func New(name string, c Config) (classifier.Learner, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	head, err := m.make(c)
	if err != nil {
		return nil, fmt.Errorf("%s.%w", Key(name), err)
	}
	return head, nil
}

// Load returns the head that its Save described.
func Load(name string, s classifier.State) (classifier.Learner, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	return m.load(s)
}

// Key returns where the settings of a method stand in Config: its name with
// letters that a key may have, as in plda_plus for plda+.
func Key(method string) string {
	return strings.NewReplacer("+", "_plus", "-", "_").Replace(method)
}

// Find returns the method of that name; the error names the nearest one and
// lists all.
func Find(name string) (Method, error) {
	methods := Methods()
	names := make([]string, len(methods))
	for i, m := range methods {
		if names[i] = m.Name; m.Name == name {
			return m, nil
		}
	}
	nearest := slices.MinFunc(names, func(a, b string) int {
		return levenshtein.ComputeDistance(name, a) - levenshtein.ComputeDistance(name, b)
	})
	return Method{}, fmt.Errorf("unknown method %q; did you mean %q? There are %s", name, nearest, strings.Join(names, ", "))
}

// learner keeps a nil head from becoming a Learner that is not nil.
func learner[T classifier.Learner](head T, err error) (classifier.Learner, error) {
	if err != nil {
		return nil, err
	}
	return head, nil
}
