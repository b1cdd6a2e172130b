package pipeline

import (
	"context"

	"github.com/seed-90d10d51/pipeline/research/fscil/benchmark"
)

// A Benchmark has published lists, which say in which session each image is learned or tested.
type Benchmark struct {
	Name    string
	About   string
	Licence string
	Lists   int // files
	// Dir is the folder that the lists are got into, and Here reports that they are there, unaltered.
	Dir  string
	Here bool
}

// Benchmarks lists those whose lists can be got.
func (s *Studio) Benchmarks() ([]Benchmark, error) {
	lists, err := benchmark.All()
	if err != nil {
		return nil, err
	}
	dir, err := s.folder("datasets")
	if err != nil {
		return nil, err
	}
	all := make([]Benchmark, len(lists))
	for i, l := range lists {
		own := l.Dir(dir)
		all[i] = Benchmark{Name: l.Name, About: l.Description, Licence: l.Licence, Lists: len(l.Files), Dir: own,
			Here: l.Pulled(own)}
	}
	return all, nil
}

// ObtainLists gets the lists of a benchmark, and returns the folder that they are in.
func (s *Studio) ObtainLists(ctx context.Context, name string) (dir string, err error) {
	l, err := benchmark.Find(name)
	if err != nil {
		return "", &UsageError{err}
	}
	if dir, err = s.folder("datasets"); err != nil {
		return "", err
	}
	dir = l.Dir(dir)
	return dir, l.Pull(ctx, dir, nil)
}
