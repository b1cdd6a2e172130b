package closedset

import (
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// A pool holds the images to draw from.
type pool struct {
	train, test experiment.Labelled
	// able lists the classes with enough images.
	able []string
}

func (c Config) pool(m experiment.Material) (pool, error) {
	var p pool
	p.train, p.test = experiment.All(m.Benches[0])
	held := map[string]int{}
	for _, y := range p.test.Y {
		held[y]++
	}
	for _, g := range classifier.GroupByClass(p.train.Y) {
		if len(g.Rows) >= c.PerClass && held[g.Class] >= 2 {
			p.able = append(p.able, g.Class)
		}
	}
	if most := c.Classes[len(c.Classes)-1]; len(p.able) < most {
		return p, experiment.Inputf("%d classes have %d training images and 2 held-out ones, %d are needed: lower experiment.closedset.classes or per_class", len(p.able), c.PerClass, most)
	}
	return p, nil
}

// A sample is the data of one comparison.
type sample struct{ train, validation, test experiment.Labelled }

// draw returns the first classes of a run with their images. What it draws from
// a class depends on neither the number of classes nor other runs.
func (p pool) draw(c Config, seed uint64, run, classes int) sample {
	order := random.Stream(seed, "experiment/closedset/classes", run).Perm(len(p.able))
	var train, validation, test []int
	for _, k := range order[:classes] {
		rng := random.StreamOf(seed, "experiment/closedset/images", p.able[k:k+1], run)
		own := experiment.Shuffled(p.train.Of(p.able[k]), rng)
		train = append(train, own[:c.PerClass]...)
		held := experiment.Shuffled(p.test.Of(p.able[k]), rng)
		held = held[:min(len(held), c.HeldOut)]
		validation = append(validation, held[:len(held)/2]...)
		test = append(test, held[len(held)/2:]...)
	}
	return sample{p.train.Pick(train), p.test.Pick(validation), p.test.Pick(test)}
}
