package pipeline

import (
	"context"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
)

// A Network is one that a new model may use.
type Network struct {
	// Name is what WithNetwork takes; "" is the best that is set up.
	Name    string `json:"name"`
	About   string `json:"about"`
	Licence string `json:"licence"`
	Bytes   int64  `json:"bytes"` // of its files, 0 if unknown
	// Here reports that it is on this machine, Obtainable that it can be got.
	Here       bool `json:"here"`
	Obtainable bool `json:"obtainable"`
	Texts      bool `json:"texts"`   // it reads words
	Untried    bool `json:"untried"` // the project has not run it
}

// Networks lists the networks of new models, those that are here first.
func (s *Studio) Networks() ([]Network, error) {
	entries, err := backbone.Catalogue()
	if err != nil {
		return nil, err
	}
	dirs, err := s.Options(context.Background()).BackboneDirs()
	if err != nil {
		return nil, err
	}
	here := []Network{}
	var others []Network
	for _, e := range entries {
		n := Network{
			Name: e.Name, About: e.Description, Licence: e.Licence, Bytes: e.AllBytes(), Here: dirs.Pulled(e),
			Obtainable: e.Pullable(), Texts: e.Text != nil, Untried: e.Untried,
		}
		switch {
		case n.Here:
			here = append(here, n)
		case n.Obtainable:
			others = append(others, n)
		}
	}
	return append(here, others...), nil
}

// Ready returns what this machine lacks, without which no network runs.
func (s *Studio) Ready() error {
	_, err := s.Options(context.Background()).Runtime()
	return err
}

// Obtain gets a network of the catalogue, and returns where it is.
func (s *Studio) Obtain(ctx context.Context, name string) (path string, err error) {
	entry, err := backbone.Lookup(name)
	if err != nil {
		return "", &UsageError{err}
	}
	dirs, err := s.Options(ctx).BackboneDirs()
	if err != nil {
		return "", err
	}
	p := s.listener.Begin(Bytes, entry.AllBytes())
	defer p.Finish()
	return backbone.Pull(ctx, entry, backbone.PullOptions{Dir: dirs.Cache, Progress: p.Set})
}
