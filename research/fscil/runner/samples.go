package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// Samples holds the embeddings of all images that a benchmark may use.
type Samples struct {
	// Embedded counts the images; it is zero for a feature folder.
	Embedded   embedding.Counts
	embeddings *fscil.Embeddings
	// rows are the embeddings with their labels and columns.
	rows embedding.Embeddings
	// fingerprint changes with every embedding, label and column.
	fingerprint string
	// official is the protocol of the lists that the images were found with, nil
	// otherwise.
	official *fscil.Protocol
	// backbone is the name of the backbone in tables, without folders.
	backbone string
	// trainedOn is all that the backbone has seen, as the catalogue says; "" is unknown.
	trainedOn string
	// views embeds augmented views of images; nil if there are none.
	views func(blas32.General) ([]blas32.General, error)
}

// Read embeds the images, or reads the feature folder.
func (r Runner) Read(ctx context.Context) (*Samples, error) {
	if r.Env.Features != "" {
		return r.readFeatures(r.Env.Features)
	}
	s := &Samples{}
	var images dataset.Listing
	var err error
	if r.Sessions.Protocol == fscil.Official {
		s.official, images, err = r.listedImages()
	} else if images, err = dataset.Scan(ctx, r.Images, r.Scan); err == nil && len(images.Problems) > 0 {
		err = fmt.Errorf("%s: %w", images.Problems[0].Path, images.Problems[0].Err)
	}
	if err != nil {
		return nil, err
	}
	return s, r.embed(ctx, s, images)
}

func (r Runner) embed(ctx context.Context, s *Samples, images dataset.Listing) (err error) {
	o := r.Embed
	if o.Backbone = cmp.Or(o.Backbone, o.New); o.Backbone == "" {
		return errors.New("name a network with --backbone: the usual one has seen the new classes; default-0.2 has " +
			"seen the base classes of mini-ImageNet alone (pipeline backbones pull default-0.2)")
	}
	e, err := embedding.Open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	all, err := embedding.Collect(ctx, e.Embed(images.Source()))
	if err != nil {
		return err
	}
	if err := all.Outcome.Complete("fscil"); err != nil {
		return err
	}
	s.Embedded = all.Outcome.Counts
	s.backbone = filepath.Base(e.Backbone().Name)
	if r.DKL && r.Training.Views > 0 {
		s.views = all.Views(ctx, r.Embed, images.Root, r.Training.Views)
	}
	return s.fill(all)
}

func (r Runner) readFeatures(dir string) (*Samples, error) {
	f, err := featdir.Read(dir)
	if err != nil {
		return nil, err
	}
	s := &Samples{backbone: filepath.Base(r.Embed.Backbone)}
	if r.Embed.Backbone == "" {
		s.backbone = "unknown (" + filepath.Base(dir) + ")"
	}
	if name := f.Provenance.Backbone.Name; name != "" {
		s.backbone = filepath.Base(name)
	}
	return s, s.fill(f)
}

func (s *Samples) fill(e embedding.Embeddings) error {
	paths := make([]string, len(e.Samples))
	for i, row := range e.Samples {
		paths[i] = row.Path
	}
	s.rows = e
	var err error
	if s.trainedOn, err = backbone.TrainedOn(e.Provenance.Backbone.SHA256); err != nil {
		return err
	}
	if s.fingerprint, err = checkpoint.Key(e.Samples, e.Content, embedding.HashRows(e.X)); err != nil {
		return err
	}
	s.embeddings, err = fscil.NewEmbeddings(e.X, paths, e.Content)
	return err
}
