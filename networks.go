package pipeline

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// A Network is one of the catalogue, which a new model may use.
type Network struct {
	// Name is what WithNetwork takes.
	Name      string `json:"name"`
	About     string `json:"about"`
	Licence   string `json:"licence"`
	Bytes     int64  `json:"bytes"` // of its files, 0 if unknown
	Dimension int    `json:"dimension"`
	// Here reports that it is on this machine, Obtainable that it can be got. Who wants one that is neither brings
	// its file.
	Here       bool `json:"here"`
	Obtainable bool `json:"obtainable"`
	Texts      bool `json:"texts"`   // it reads words
	Untried    bool `json:"untried"` // the project has not run it
	// File is where it was put when it was got, "" if it was not.
	File string `json:"-"`
}

// Networks lists the catalogue.
func (s *Studio) Networks() ([]Network, error) {
	entries, err := backbone.Catalogue()
	if err != nil {
		return nil, err
	}
	dirs, err := s.Options(context.Background()).BackboneDirs()
	if err != nil {
		return nil, err
	}
	all := make([]Network, len(entries))
	for i, e := range entries {
		all[i] = Network{
			Name: e.Name, About: e.Description, Licence: e.Licence, Bytes: e.AllBytes(), Dimension: e.Dimension,
			Here: dirs.Pulled(e), Obtainable: e.Pullable(), Texts: e.Text != nil, Untried: e.Untried,
		}
		if all[i].Here && e.Name != backbone.OfNewModels {
			all[i].File = dirs.CachePath(e)
		}
	}
	return all, nil
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

// A NetworkFile is what is known of the file of a network.
type NetworkFile struct {
	SHA256 string
	// Producer wrote it, in a version of ONNX's operators.
	Producer string
	Opset    int64
	// Inputs and Outputs are their names and shapes. Penultimate is the tensor in front of the last layer, "" if it is
	// not found.
	Inputs, Outputs, Penultimate string
	// Preprocess is nil where nobody states it. The network itself divides values by Range then, unless that is 0.
	Preprocess *preprocess.Spec
	StatedBy   string
	Range      float64
	// Reading says how embeddings are read from it. Same and Other are the cosines of two crops of one picture, and of
	// two pictures.
	Reading     string
	Same, Other float64
	// Unusable is why no embeddings can be read.
	Unusable error
}

// InspectNetwork reads the file of a network, or that of a name of the catalogue, and tries it.
func (s *Studio) InspectNetwork(ctx context.Context, ref string) (_ *NetworkFile, err error) {
	o := s.Options(ctx)
	dirs, err := o.BackboneDirs()
	if err != nil {
		return nil, err
	}
	file, err := backbone.Resolve(ref, dirs)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Parse(file.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	n := &NetworkFile{
		SHA256: file.SHA256, Producer: m.Producer, Opset: m.Opset, Inputs: onnx.Names(m.Inputs),
		Outputs: onnx.Names(m.Outputs), Preprocess: file.Preprocess, StatedBy: string(file.PreprocessSource),
		Range: file.Range,
	}
	if n.Penultimate, err = m.Penultimate(); err != nil {
		n.Penultimate = ""
	}
	o.Backbone, o.Log = ref, slog.New(slog.DiscardHandler)
	e, err := embedding.Open(o)
	if err != nil {
		n.Unusable = err
		return n, nil
	}
	defer closeInto(e, &err)
	n.Reading = e.Reading()
	n.Same, n.Other, err = e.Crops(ctx)
	return n, err
}
