package method

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpc"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline"
	"github.com/seed-90d10d51/pipeline/classifier/shrinkage"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/vargp"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/dkl/projected"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// Default is the method for those who do not choose.
const Default = "plda"

// Config holds the settings of every method.
type Config struct {
	GPR    gpr.Config    `json:"gpr" mapstructure:"gpr"`
	GPTree gptree.Config `json:"gptree" mapstructure:"gptree"`
	HPPCA  hppca.Config  `json:"hppca" mapstructure:"hppca"`
	LSM    gpc.Config    `json:"lsm" mapstructure:"lsm"`
	NCM    ncm.Config    `json:"ncm" mapstructure:"ncm"`
	OVE    gpc.Config    `json:"ove" mapstructure:"ove"`
	PLDA   plda.Config   `json:"plda" mapstructure:"plda"`
	PPCA   ppca.Config   `json:"ppca" mapstructure:"ppca"`
	VARGP  vargp.Config  `json:"vargp" mapstructure:"vargp"`
	// Of the methods plda+, ppca-eb and ppca-online: Method.Key says how their
	// names become keys.
	PLDAPlus   shrinkage.Config  `json:"plda_plus" mapstructure:"plda_plus"`
	PPCAEB     shrinkage.Config  `json:"ppca_eb" mapstructure:"ppca_eb"`
	PPCAOnline ppcaonline.Config `json:"ppca_online" mapstructure:"ppca_online"`
	// Checkpoint keeps long trainings; nil means none.
	Checkpoint classifier.Checkpoint `json:"-" mapstructure:"-"`
}

// DefaultConfig returns the defaults of every method.
func DefaultConfig() Config {
	return Config{
		GPR: gpr.DefaultConfig(), GPTree: gptree.DefaultConfig(), HPPCA: hppca.DefaultConfig(), LSM: gpc.DefaultLSM(), NCM: ncm.DefaultConfig(), OVE: gpc.DefaultOVE(),
		PLDA: plda.DefaultConfig(), PPCA: ppca.DefaultConfig(), VARGP: vargp.DefaultConfig(),
		PLDAPlus: shrinkage.DefaultPLDAPlus(), PPCAEB: shrinkage.DefaultPPCAEB(), PPCAOnline: ppcaonline.DefaultConfig(),
	}
}

// Seeded returns c with the seed of everything that heads draw.
func (c Config) Seeded(seed uint64) Config {
	c.GPTree.Seed, c.LSM.Seed, c.OVE.Seed, c.VARGP.Seed = seed, seed, seed, seed
	return c
}

// Validate names the method and the field that is out of range.
func (c Config) Validate() error {
	for _, m := range []struct {
		name string
		err  error
	}{
		{"gpr", c.GPR.Validate()}, {"gptree", c.GPTree.Validate()}, {"hppca", c.HPPCA.Validate()}, {"lsm", c.LSM.Validate()}, {"ncm", c.NCM.Validate()}, {"ove", c.OVE.Validate()},
		{"plda", c.PLDA.Validate()}, {"ppca", c.PPCA.Validate()}, {"vargp", c.VARGP.Validate()},
		{"plda_plus", c.PLDAPlus.Validate()}, {"ppca_eb", c.PPCAEB.Validate()}, {"ppca_online", c.PPCAOnline.Validate()},
	} {
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

	// config is the key of its settings where that is not made of its name, and
	// resolve, where there is one, what the method changes in them.
	config  string
	resolve func(Config) Config

	maxPerClass func(Config) int
	make        func(Config) (classifier.Learner, error)
	load        func(classifier.State) (classifier.Learner, error)
}

// MaxPerClass returns the most examples of a class that the head keeps and
// needs, 0 for those that keep none.
func (m Method) MaxPerClass(c Config) int {
	if m.maxPerClass == nil {
		return 0
	}
	return m.maxPerClass(c)
}

// Methods returns all methods, sorted by name.
func Methods() []Method {
	return []Method{
		{
			Name: "gpr", Summary: "Gaussian process regression, one against all (Lütz 2011); keeps its examples, 30 a class",
			Novelty: "predictive variance", Extend: "exact", Forget: "classes and examples, exact",
			maxPerClass: func(c Config) int { return c.GPR.MaxPerClass },
			make:        func(c Config) (classifier.Learner, error) { return learner(gpr.New(c.GPR)) },
			load:        func(s classifier.State) (classifier.Learner, error) { return learner(gpr.Load(s)) },
		},
		treeMethod("gptree", "Gaussian processes at the splits of a tree over the classes (GP-Tree); its files contain embeddings", ""),
		treeMethod("gptree-random", "GP-Tree with a random balanced tree, a baseline", gptree.BuildRandom),
		{
			Name: "hppca", Summary: "ppca under super-classes (Wang 2023): an example visits a few of them, not all classes; for thousands of classes",
			Novelty: "negative largest log-density of the visited classes", Extend: "exact, from the statistics; super-classes stay until they are refreshed", Forget: "classes; examples from the statistics, exact likewise",
			Statistics: true,
			make:       func(c Config) (classifier.Learner, error) { return learner(hppca.New(c.HPPCA)) },
			load:       func(s classifier.State) (classifier.Learner, error) { return learner(hppca.Load(s)) },
		},
		{
			Name: "lda", Summary: "linear discriminant analysis: shared covariance, class means taken as known; the plain relative of plda",
			Novelty: "negative largest log-density", Extend: "exact, the shared covariance stays as the base session set it", Forget: "classes and examples, exact likewise",
			make: func(Config) (classifier.Learner, error) { return learner(plda.New(plda.LDA())) },
			load: func(s classifier.State) (classifier.Learner, error) { return learner(plda.LoadLDA(s)) },
		},
		gpcMethod(gpc.LSM, "Gaussian process classification with the logistic-softmax likelihood, sampled (Galy-Fajou 2020), a baseline of gptree; its files contain embeddings", func(c Config) gpc.Config { return c.LSM }),
		{
			Name: "ncm", Summary: "nearest class mean, cosine or Euclidean",
			Novelty: "distance to the nearest mean", Extend: "exact", Forget: "classes and examples, exact",
			make: func(c Config) (classifier.Learner, error) { return learner(ncm.New(c.NCM)) },
			load: func(s classifier.State) (classifier.Learner, error) { return learner(ncm.Load(s)) },
		},
		gpcMethod(gpc.OVE, "Gaussian process classification with the one-vs-each likelihood, sampled (Snell 2021), a baseline of gptree for few classes; its files contain embeddings", func(c Config) gpc.Config { return c.OVE }),
		{
			Name: "plda", Summary: "two-covariance model: shared covariance, uncertain class means; learns a class from one example",
			Novelty: "negative largest log-density", Extend: "exact, shared covariances stay as the base session set them", Forget: "classes and examples, exact likewise",
			make: func(c Config) (classifier.Learner, error) { return learner(plda.New(c.PLDA)) },
			load: func(s classifier.State) (classifier.Learner, error) { return learner(plda.Load(s)) },
		},
		{
			Name: shrinkage.PLDAPlus, Summary: "plda with class covariances shrunk to the shared one, and base classes calibrated against later ones on the base session; the most accurate with a large base session",
			Novelty: "negative largest log-density, before calibration", Extend: "exact, from the statistics; what classes share stays as the base session set it", Forget: "classes; examples from the statistics, exact likewise",
			Statistics: true,
			make: func(c Config) (classifier.Learner, error) {
				return learner(shrinkage.New(shrinkage.PLDAPlus, c.PLDAPlus))
			},
			load: func(s classifier.State) (classifier.Learner, error) {
				return learner(shrinkage.Load(shrinkage.PLDAPlus, s))
			},
		},
		{
			Name: "ppca", Summary: "one low-rank Gaussian per class (Wang 2023); strong with hundreds of examples a class",
			Novelty: "negative largest log-density; smallest Mahalanobis distance without log-determinant", Extend: "exact, from the statistics", Forget: "classes; examples from the statistics, exact",
			Statistics: true,
			make:       func(c Config) (classifier.Learner, error) { return learner(ppca.New(c.PPCA)) },
			load:       func(s classifier.State) (classifier.Learner, error) { return learner(ppca.Load(s)) },
		},
		{
			Name: shrinkage.PPCAEB, Summary: "ppca with class covariances shrunk to the shared one and uncertain class means: between ppca and plda",
			Novelty: "negative largest log-density", Extend: "exact, from the statistics; what classes share stays as the base session set it", Forget: "classes; examples from the statistics, exact likewise",
			Statistics: true,
			make:       func(c Config) (classifier.Learner, error) { return learner(shrinkage.New(shrinkage.PPCAEB, c.PPCAEB)) },
			load: func(s classifier.State) (classifier.Learner, error) {
				return learner(shrinkage.Load(shrinkage.PPCAEB, s))
			},
		},
		{
			Name: "ppca-online", Summary: "one low-rank Gaussian per class that learns one image at a time (NAT-oEM, Pamplona and Manzanera 2020)",
			Novelty: "negative largest log-density", Extend: "one example after the other; their order matters", Forget: "classes",
			make: func(c Config) (classifier.Learner, error) { return learner(ppcaonline.New(c.PPCAOnline)) },
			load: func(s classifier.State) (classifier.Learner, error) { return learner(ppcaonline.Load(s)) },
		},
		treeMethod("sbm", "GP-Tree with the tree of the stick-breaking likelihood (SBM-GP), a baseline", gptree.BuildStickBreaking),
		{
			Name: "vargp", Summary: "a Gaussian process a class, trained session by session with a posterior that builds on those before (VAR-GP, Kapoor 2021); for a moderate number of sessions and classes",
			Novelty: "entropy, with a class for what was never seen", Extend: "as a session of its own, not exact", Forget: "no",
			make: func(c Config) (classifier.Learner, error) { return learner(vargp.New(c.VARGP)) },
			load: func(s classifier.State) (classifier.Learner, error) { return learner(vargp.Load(s)) },
		},
	}
}

// gpcMethod returns a multi-class Gaussian process with settings of its own.
func gpcMethod(name, summary string, settings func(Config) gpc.Config) Method {
	return Method{
		Name: name, Summary: summary,
		Novelty: "variance of the latent functions, beside the prior's",
		Extend:  "exact, sampled anew", Forget: "classes and examples, exact, sampled anew",
		maxPerClass: func(c Config) int { return settings(c).MaxPerClass },
		make:        func(c Config) (classifier.Learner, error) { return learner(gpc.New(name, settings(c))) },
		load:        func(s classifier.State) (classifier.Learner, error) { return learner(gpc.Load(name, s)) },
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
	if c.Checkpoint != nil {
		classifier.UseCheckpoint(head, c.Checkpoint)
	}
	return head, nil
}

// NewOn is New for a head that multiplies with m; nil is gonum.
func NewOn(m linalg.Backend, name string, c Config) (classifier.Learner, error) {
	head, err := New(name, c)
	if err == nil {
		classifier.UseBackend(head, m)
	}
	return head, err
}

// Tempered returns an unfitted head as NewOn does, whose probabilities have a
// temperature.
func Tempered(m linalg.Backend, name string, c Config, t temperature.Config) (classifier.Learner, error) {
	return temperature.New(t, func() (classifier.Learner, error) { return NewOn(m, name, c) })
}

// Projected returns an unfitted head as Tempered does, behind a projection that
// deep kernel learning trains through the tree of the gptree settings.
func Projected(name string, c Config, t temperature.Config, d dkl.Training, gym projected.Gym) (classifier.Learner, error) {
	method, err := Find(name)
	if err != nil {
		return nil, err
	}
	return temperature.New(t, func() (classifier.Learner, error) {
		cfg := projected.Config{Training: d, GPTree: method.Resolve(c).GPTree}
		return learner(projected.New(cfg, gym, func() (classifier.Learner, error) { return NewOn(gym.Backend, name, c) }))
	})
}

// Load returns the head that its Save described, with its temperature and its
// projection if it has them.
func Load(name string, s classifier.State) (classifier.Learner, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	if temperature.Is(s) {
		return temperature.Load(s, m.loadProjected)
	}
	return m.loadProjected(s)
}

// loadProjected loads a head that may be behind a projection.
func (m Method) loadProjected(s classifier.State) (classifier.Learner, error) {
	if projected.Is(s) {
		return learner(projected.Load(s, m.load))
	}
	return m.load(s)
}

// Key returns where the settings of the method stand in Config: its name with
// letters that a key may have, as in plda_plus for plda+, or the key of the
// method that it is a variant of.
func (m Method) Key() string {
	return cmp.Or(m.config, strings.NewReplacer("+", "_plus", "-", "_").Replace(m.Name))
}

// Resolve returns the settings that the method is made with.
func (m Method) Resolve(c Config) Config {
	if m.resolve == nil {
		return c
	}
	return m.resolve(c)
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
