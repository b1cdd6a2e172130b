package hierarchy

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
)

// data holds the examples that both heads learn and are tested on.
type data struct {
	name        string
	train, test experiment.Labelled
	classes     int
	// fingerprint changes with every embedding and label.
	fingerprint string
}

func (c Config) data(env experiment.Env) (data, error) {
	if c.Synthetic.K != 0 {
		d := data{name: fmt.Sprintf("%d synthetic classes", c.Synthetic.K), classes: c.Synthetic.K, fingerprint: fmt.Sprintf("%+v %d", c.Synthetic, c.MaxTest)}
		d.train, d.test = c.Synthetic.Draw(env.Seed)
		d.test = evenly(d.test, c.MaxTest)
		return d, nil
	}
	if env.Features == "" {
		return data{}, experiment.Inputf("no embeddings: give a feature folder with --features, or generate classes with experiment.hierarchy.synthetic.k")
	}
	f, err := featdir.Read(env.Features)
	if err != nil {
		return data{}, err
	}
	// Classes with enough training examples take part; the column split says
	// which examples those are.
	count := make(map[string]int)
	for _, s := range f.Samples {
		if s.Split == "train" && s.Label != "" {
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
		case s.Split == "test":
			part = 1
		case s.Split != "train":
			continue
		}
		classes[s.Label] = true
		all.Y[i] = s.Label
		rows[part] = append(rows[part], i)
	}
	if len(rows[0]) == 0 || len(rows[1]) == 0 {
		return data{}, experiment.Inputf("no class has at least %d training and any test examples: the folder's samples.csv needs a column split that says train or test, or set experiment.hierarchy.min_train lower", c.MinTrain)
	}
	d := data{
		name: fmt.Sprintf("%d classes of features", len(classes)), classes: len(classes),
		train: all.Pick(rows[0]), test: evenly(all.Pick(rows[1]), c.MaxTest),
	}
	d.fingerprint, err = checkpoint.Key(d.train.Y, embed.HashRows(d.train.X), d.test.Y, embed.HashRows(d.test.X))
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
