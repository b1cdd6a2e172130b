package fscil

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// The names of splits, in columns and folders.
const (
	splitTrain = "train"
	splitTest  = "test"
	splitVal   = "val" // ImageNet tests on it
)

// A Pool holds the images that sessions are drawn from, by class.
type Pool struct {
	classes []string // sorted
	train   map[string][]Sample
	test    map[string][]Sample // nil where test images are held out by seed
	holdOut int
}

// NewPool sorts images into classes. With testPerClass > 0 every draw holds out
// that many images of each class for testing. With 0 the images are marked: by
// their split, or by lying in train/CLASS/… and test/CLASS/… (or val/CLASS/…).
//
// content identifies images; of identical ones the pool only takes the first by
// path. It may be nil.
func NewPool(samples []dataset.Sample, testPerClass int, content func(i int) [32]byte) (*Pool, error) {
	p := &Pool{train: map[string][]Sample{}, holdOut: testPerClass}
	if testPerClass == 0 {
		p.test = map[string][]Sample{}
	}
	for _, s := range distinct(samples, content) {
		if err := p.add(s); err != nil {
			return nil, err
		}
	}
	p.classes = slices.Sorted(maps.Keys(p.train))
	return p, p.check()
}

// distinct returns the samples sorted by path, without duplicates.
func distinct(samples []dataset.Sample, content func(i int) [32]byte) []dataset.Sample {
	order := make([]int, len(samples))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(samples[a].Path, samples[b].Path) })
	seen := map[[32]byte]bool{}
	var kept []dataset.Sample
	for _, i := range order {
		if content != nil {
			h := content(i)
			if seen[h] {
				continue
			}
			seen[h] = true
		}
		kept = append(kept, samples[i])
	}
	return kept
}

func (p *Pool) add(s dataset.Sample) error {
	x := Sample{Path: s.Path, Class: dataset.EscapePath(s.Label)}
	part := s.Part()
	if p.holdOut > 0 {
		part = splitTrain
	} else if folders := strings.Split(s.Path, "/"); s.Split == "" && len(folders) >= 3 {
		x.Class = dataset.EscapePath(folders[1])
	}
	switch part {
	case splitTrain:
		p.train[x.Class] = append(p.train[x.Class], x)
	case splitTest, splitVal:
		p.test[x.Class] = append(p.test[x.Class], x)
	default:
		return fmt.Errorf("%s: is marked neither for training nor for testing: it has no split and is not in "+
			"train/CLASS or test/CLASS; set fscil.test_per_class to hold images out by seed", s.Path)
	}
	return nil
}

func (p *Pool) check() error {
	for _, c := range p.classes {
		if c == "" {
			return fmt.Errorf("%s: has no class; put each class into its own folder", p.train[c][0].Path)
		}
		if n := len(p.train[c]); p.holdOut > 0 && n <= p.holdOut {
			return fmt.Errorf("class %s has %d images; holding out %d (fscil.test_per_class) leaves none to learn", c,
				n, p.holdOut)
		}
		if p.holdOut == 0 && len(p.test[c]) == 0 {
			return fmt.Errorf("class %s has no test images", c)
		}
	}
	return nil
}

// draw shuffles the classes and their training images, and holds out test
// images if the pool is configured to.
func (p *Pool) draw(seed uint64, run int) (classes []string, train, test map[string][]Sample) {
	rng := random.Stream(seed, "eval/fscil/draw", run)
	train, test = map[string][]Sample{}, map[string][]Sample{}
	for _, c := range p.classes {
		images := slices.Clone(p.train[c])
		rng.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
		train[c], test[c] = images[p.holdOut:], images[:p.holdOut]
		if p.holdOut == 0 {
			test[c] = p.test[c]
		}
	}
	classes = slices.Clone(p.classes)
	rng.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	return classes, train, test
}

// FewShot draws a protocol from a pool: a base session of baseClasses with all
// their training images, then sessions of ways new classes with shots training
// images each, until no class is left (the last session takes what remains).
// The same seed and run give the same protocol.
func (p *Pool) FewShot(baseClasses, ways, shots int, seed uint64, run int) (*Protocol, error) {
	if baseClasses < 1 || ways < 1 || shots < 1 {
		return nil, fmt.Errorf("few-shot: %d base classes, %d ways, %d shots: each must be at least 1", baseClasses,
			ways, shots)
	}
	if len(p.classes) <= baseClasses {
		return nil, fmt.Errorf("few-shot: %d classes are no more than the %d of the base session (fscil.base_classes)",
			len(p.classes), baseClasses)
	}
	classes, train, test := p.draw(seed, run)
	for _, c := range classes[baseClasses:] {
		if len(train[c]) < shots {
			return nil, fmt.Errorf("few-shot: class %s has %d training images, fewer than %d shots",
				c, len(train[c]), shots)
		}
		train[c] = train[c][:shots]
	}
	sessions := []Session{sessionOf(classes[:baseClasses], train, test)}
	for first := baseClasses; first < len(classes); first += ways {
		sessions = append(sessions, sessionOf(classes[first:min(first+ways, len(classes))], train, test))
	}
	return New(sessions)
}

// ClassIncremental draws Wang's protocol from a pool: half of the classes in
// random order, then steps sessions of equal size (±1) with the others, all
// with all their training images.
func (p *Pool) ClassIncremental(steps int, seed uint64, run int) (*Protocol, error) {
	base := (len(p.classes) + 1) / 2
	novel := len(p.classes) - base
	if steps < 1 || novel < steps {
		return nil, fmt.Errorf("class-incremental: %d classes cannot make a base session of %d and %d steps "+
			"(fscil.steps)", len(p.classes), base, steps)
	}
	classes, train, test := p.draw(seed, run)
	sessions := []Session{sessionOf(classes[:base], train, test)}
	for s := range steps {
		from, to := base+novel*s/steps, base+novel*(s+1)/steps
		sessions = append(sessions, sessionOf(classes[from:to], train, test))
	}
	return New(sessions)
}

func sessionOf(classes []string, train, test map[string][]Sample) Session {
	var s Session
	for _, c := range classes {
		s.Train = append(s.Train, train[c]...)
		s.Test = append(s.Test, test[c]...)
	}
	return s
}
