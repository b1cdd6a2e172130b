package heads

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/gptree"
)

// Default is the method for those who do not choose.
const Default = "plda"

// Config holds the settings of every method.
type Config struct {
	NCM    ncm.Config    `json:"ncm" mapstructure:"ncm"`
	PLDA   plda.Config   `json:"plda" mapstructure:"plda"`
	PPCA   ppca.Config   `json:"ppca" mapstructure:"ppca"`
	GPTree gptree.Config `json:"gptree" mapstructure:"gptree"`
}

// DefaultConfig returns the defaults of every method.
func DefaultConfig() Config {
	return Config{NCM: ncm.DefaultConfig(), PLDA: plda.DefaultConfig(), PPCA: ppca.DefaultConfig(), GPTree: gptree.DefaultConfig()}
}

// Validate names the method and the field that is out of range.
func (c Config) Validate() error {
	for _, m := range []struct {
		name string
		err  error
	}{{"ncm", c.NCM.Validate()}, {"plda", c.PLDA.Validate()}, {"ppca", c.PPCA.Validate()}, {"gptree", c.GPTree.Validate()}} {
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

	// config is the key of its settings where that is not its name, and
	// resolve, where there is one, what the method changes in them.
	config  string
	resolve func(Config) Config

	make func(Config) (classifier.Learner, error)
	load func(classifier.State) (classifier.Learner, error)
}

// Methods returns all methods, sorted by name.
func Methods() []Method {
	return []Method{
		treeMethod("gptree", "Gaussian processes at the splits of a tree over the classes (GP-Tree); its files contain embeddings", ""),
		treeMethod("gptree-random", "GP-Tree with a random balanced tree, a baseline", gptree.BuildRandom),
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
		treeMethod("sbm", "GP-Tree with the tree of the stick-breaking likelihood (SBM-GP), a baseline", gptree.BuildStickBreaking),
	}
}

// treeMethod returns GP-Tree under a name, with its tree built in that way
// whatever the settings say, or as they say.
func treeMethod(name, summary string, tree gptree.Builder) Method {
	return Method{
		Name: name, Summary: summary, config: "gptree",
		Novelty: "latent variance along the path, beside the prior's",
		Extend:  "novel classes, refitted; base classes with base gibbs", Forget: "novel classes and examples, refitted; base ones with base gibbs",
		resolve: func(c Config) Config {
			c.GPTree.Tree = cmp.Or(tree, c.GPTree.Tree)
			return c
		},
		make: func(c Config) (classifier.Learner, error) { return learner(gptree.New(c.GPTree)) },
		load: func(s classifier.State) (classifier.Learner, error) { return learner(gptree.Load(s)) },
	}
}

// New returns an unfitted head.
func New(name string, c Config) (classifier.Learner, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	head, err := m.make(m.Resolve(c))
	if err != nil {
		return nil, fmt.Errorf("%s.%w", m.Key(), err)
	}
	return head, nil
}

// Key returns the key of the method's settings.
func (m Method) Key() string { return cmp.Or(m.config, m.Name) }

// Resolve returns the settings that the method is made with.
func (m Method) Resolve(c Config) Config {
	if m.resolve == nil {
		return c
	}
	return m.resolve(c)
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
