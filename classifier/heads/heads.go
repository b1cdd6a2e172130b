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
)

// Default is the method for those who do not choose.
const Default = "plda"

// Config holds the settings of every method.
type Config struct {
	NCM  ncm.Config  `json:"ncm" mapstructure:"ncm"`
	PLDA plda.Config `json:"plda" mapstructure:"plda"`
	PPCA ppca.Config `json:"ppca" mapstructure:"ppca"`
}

// DefaultConfig returns the defaults of every method.
func DefaultConfig() Config {
	return Config{NCM: ncm.DefaultConfig(), PLDA: plda.DefaultConfig(), PPCA: ppca.DefaultConfig()}
}

// Validate names the method and the field that is out of range.
func (c Config) Validate() error {
	for _, m := range []struct {
		name string
		err  error
	}{{"ncm", c.NCM.Validate()}, {"plda", c.PLDA.Validate()}, {"ppca", c.PPCA.Validate()}} {
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
			Name: "ppca", Summary: "one low-rank Gaussian per class (Wang 2023); strong with hundreds of examples a class",
			Novelty: "negative largest log-density; smallest Mahalanobis distance without log-determinant", Extend: "exact, from the statistics", Forget: "classes; examples from the statistics, exact",
			Statistics: true,
			make:       func(c Config) (classifier.Learner, error) { return learner(ppca.New(c.PPCA)) },
			load:       func(s classifier.State) (classifier.Learner, error) { return learner(ppca.Load(s)) },
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
		return nil, fmt.Errorf("%s.%w", name, err)
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
