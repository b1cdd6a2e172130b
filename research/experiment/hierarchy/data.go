package hierarchy

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

type data struct {
	name        string
	train, test experiment.Labelled
	classes     int
	// fingerprint changes with every embedding and label.
	fingerprint string
}

func (c Config) data(env experiment.Env) (data, error) {
	if c.Synthetic.K != 0 {
		d := data{name: fmt.Sprintf("%d synthetic classes", c.Synthetic.K), classes: c.Synthetic.K,
			fingerprint: fmt.Sprintf("%+v %d", c.Synthetic, c.MaxTest)}
		d.train, d.test = c.Synthetic.Draw(env.Seed)
		d.test = evenly(d.test, c.MaxTest)
		return d, nil
	}
	if env.Features == "" {
		return data{}, experiment.Inputf("no embeddings: give a feature folder with --features, or generate classes " +
			"with experiment.hierarchy.synthetic.k")
	}
	f, err := featdir.Read(env.Features)
	if err != nil {
		return data{}, err
	}
	// Classes with enough training examples take part.
	count := make(map[string]int)
	for _, s := range f.Samples {
		if s.Part() == "train" && s.Label != "" {
			count[s.Label]++
		}
	}
	classes := make(map[string]bool)
	var rows [2][]int
	all := experiment.Labelled{X: f.X, Y: make([]string, len(f.Samples))}
	for i, s := range f.Samples {
		part := 0
		switch {
		case count[s.Label] < c.MinTrain:
			continue
		case s.Part() == "test":
			part = 1
		case s.Part() != "train":
			continue
		}
		classes[s.Label] = true
		all.Y[i] = s.Label
		rows[part] = append(rows[part], i)
	}
	if len(rows[0]) == 0 || len(rows[1]) == 0 {
		return data{}, experiment.Inputf("no class has at least %d training and any test examples: the folder's "+
			"samples.csv needs a column split that says train or test, or paths train/CLASS/IMAGE and "+
			"test/CLASS/IMAGE; or set experiment.hierarchy.min_train lower", c.MinTrain)
	}
	d := data{
		name: fmt.Sprintf("%d classes of features", len(classes)), classes: len(classes),
		train: all.Pick(rows[0]), test: evenly(all.Pick(rows[1]), c.MaxTest),
	}
	train, test := embedding.HashRows(d.train.X), embedding.HashRows(d.test.X)
	d.fingerprint, err = checkpoint.Key(d.train.Y, train, d.test.Y, test)
	return d, err
}

// evenly returns at most the given number of examples, evenly spaced; 0 means
// all.
func evenly(l experiment.Labelled, most int) experiment.Labelled {
	if most == 0 || l.X.Rows <= most {
		return l
	}
	rows := make([]int, most)
	for i := range rows {
		rows[i] = i * l.X.Rows / most
	}
	return l.Pick(rows)
}

// Synthetic describes random data: Gaussian classes that form groups. The data
// lie in a random 32-dimensional subspace, except for isotropic noise in Dim.
type Synthetic struct {
	// K is the number of classes, Groups the number of groups they fall into; 0
	// groups means √K.
	K      int `mapstructure:"k" json:"k"`
	Groups int `mapstructure:"groups" json:"groups"`
	// Dim is d. Train and Test are examples per class.
	Dim   int `mapstructure:"dim" json:"dim"`
	Train int `mapstructure:"train" json:"train"`
	Test  int `mapstructure:"test" json:"test"`
	// Noise is the root mean squared length of an example's noise. Uneven is the
	// standard deviation of the logarithm of a factor, drawn for each class, of
	// the noise and of the spread within the class.
	Noise  float64 `mapstructure:"noise" json:"noise"`
	Uneven float64 `mapstructure:"uneven" json:"uneven"`
}

// The shape of the data: dimensions of the subspace, components of a class, and
// root mean squared lengths of a group's centre, of a class's offset within its
// group, and of an example's spread within its class along the first component
// (each further one is a tenth less).
const (
	latent     = 32
	components = 20
	groupSpan  = 1.0
	classSpan  = 0.5
	firstSpan  = 0.35
	decay      = 0.9
)

func (s Synthetic) validate() error {
	return cmp.Or(
		setting.Int("k", s.K, 1, 1<<20),
		setting.Int("groups", s.Groups, 0, 1<<20),
		setting.Int("dim", s.Dim, 1, 1<<16),
		setting.Int("train", s.Train, 1, 1<<16),
		setting.Int("test", s.Test, 1, 1<<16),
		setting.Float("noise", s.Noise, 0, 100),
		setting.Float("uneven", s.Uneven, 0, 3),
	)
}

// Draw returns training and test examples, class by class. Every class has its
// own random stream: the same seed gives the same examples on any number of
// cores, and adding classes does not change the first ones.
func (s Synthetic) Draw(seed uint64) (train, test experiment.Labelled) {
	groups := s.Groups
	if groups == 0 {
		groups = max(1, int(math.Round(math.Sqrt(float64(s.K)))))
	}
	frame := normals(random.Stream(seed, "experiment/hierarchy/frame"), latent*s.Dim, 1/math.Sqrt(float64(s.Dim)))
	train = experiment.Labelled{X: dense.New32(s.K*s.Train, s.Dim), Y: make([]string, s.K*s.Train)}
	test = experiment.Labelled{X: dense.New32(s.K*s.Test, s.Dim), Y: make([]string, s.K*s.Test)}
	dense.Parallel(s.K, func(k int) {
		rng := random.Stream(seed, "experiment/hierarchy/class", k)
		g := rng.IntN(groups)
		mean := normals(random.Stream(seed, "experiment/hierarchy/group", g), latent, groupSpan/math.Sqrt(latent))
		for j, v := range normals(rng, latent, classSpan/math.Sqrt(latent)) {
			mean[j] += v
		}
		c := cluster{mean: mean, axes: normals(rng, components*latent, 1/math.Sqrt(latent)), frame: frame, dim: s.Dim,
			spread: firstSpan, noise: s.Noise}
		if s.Uneven > 0 { // no draw otherwise: the examples stay those of equal classes
			factor := math.Exp(s.Uneven * rng.NormFloat64())
			c.spread, c.noise = c.spread*factor, c.noise*factor
		}
		name := fmt.Sprintf("class%05d", k)
		for _, l := range []experiment.Labelled{train, test} {
			n := len(l.Y) / s.K
			for i := k * n; i < (k+1)*n; i++ {
				c.draw(dense.Row32(l.X, i), rng)
				l.Y[i] = name
			}
		}
	})
	return train, test
}

// cluster is one class: x = frameᵀ·(mean + axesᵀ·t) + noise.
type cluster struct {
	mean, axes, frame []float64
	dim               int
	spread, noise     float64
}

func (c *cluster) draw(dst []float32, rng *rand.Rand) {
	z := append([]float64(nil), c.mean...)
	span := c.spread
	for b := range components {
		t := span * rng.NormFloat64()
		for j, a := range c.axes[b*latent : (b+1)*latent] {
			z[j] += t * a
		}
		span *= decay
	}
	x := normals(rng, c.dim, c.noise/math.Sqrt(float64(c.dim)))
	for i, v := range z {
		for j, f := range c.frame[i*c.dim : (i+1)*c.dim] {
			x[j] += v * f
		}
	}
	for j, v := range x {
		dst[j] = float32(v)
	}
}

func normals(rng *rand.Rand, n int, scale float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = scale * rng.NormFloat64()
	}
	return out
}
