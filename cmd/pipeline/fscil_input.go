package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/model"
)

// A gallery is every image that a benchmark may use, embedded.
type gallery struct {
	embeddings *fscil.Embeddings
	// samples and content have a row for every embedding.
	samples []dataset.Sample
	content []model.Hash
	// official is the protocol of the lists, where the images were found by it.
	official *fscil.Protocol
	// backbone is its name for tables, without folders.
	backbone string
	builtIn  bool
	// views embeds augmented views of images; nil where there are none.
	views func(blas32.General) ([]blas32.General, error)
}

func (w *app) gallery(ctx context.Context) (*gallery, error) {
	if w.config.Features != "" {
		return w.galleryOfFeatures()
	}
	g := &gallery{}
	var images dataset.Listing
	var err error
	if w.config.FSCIL.Protocol == fscil.Official {
		g.official, images, err = w.listedImages()
	} else if images, err = w.scan(ctx); err == nil && len(images.Problems) > 0 {
		err = fmt.Errorf("%s: %w", images.Problems[0].Path, images.Problems[0].Err)
	}
	if err != nil {
		return nil, err
	}
	return g, w.embedGallery(ctx, g, images)
}

func (w *app) embedGallery(ctx context.Context, g *gallery, images dataset.Listing) (err error) {
	e, err := embed.Open(w.options())
	if err != nil {
		return err
	}
	defer closeInto(e, &err)
	all, err := embed.Collect(ctx, e.Embed(images.Source()))
	if err != nil {
		return err
	}
	if err := whole("fscil", all.Outcome.Problems); err != nil {
		return err
	}
	w.say("embedded %d images (%d from the cache)", all.Outcome.Cached+all.Outcome.Inferred, all.Outcome.Cached)
	g.backbone, g.builtIn = filepath.Base(e.Backbone().Name), e.Backbone().Source == backbone.BuiltIn
	g.views = w.views(ctx, images.Root, all)
	return g.fill(all)
}

func (w *app) galleryOfFeatures() (*gallery, error) {
	f, err := featdir.Read(w.config.Features)
	if err != nil {
		return nil, err
	}
	g := &gallery{backbone: filepath.Base(w.config.Backbone)}
	if w.config.Backbone == "" {
		g.backbone = "unknown (" + filepath.Base(w.config.Features) + ")"
	}
	if name := f.Provenance.Backbone.Name; name != "" {
		g.backbone, g.builtIn = filepath.Base(name), name == backbone.Default
	}
	return g, g.fill(f)
}

func (g *gallery) fill(e embed.Embeddings) error {
	paths := make([]string, len(e.Samples))
	for i, s := range e.Samples {
		paths[i] = s.Path
	}
	g.samples, g.content = e.Samples, e.Content
	var err error
	g.embeddings, err = fscil.NewEmbeddings(e.X, paths, e.Content)
	return err
}

// protocol is that of one run.
func (w *app) protocol(g *gallery, run int) (*fscil.Protocol, error) {
	c := w.config.FSCIL
	switch {
	case c.Protocol != fscil.Official:
		return w.draw(g, run)
	case g.official != nil:
		return g.official, nil
	case c.Lists == "":
		return fscil.Recorded(g.samples)
	}
	lists, err := fscil.ReadLists(c.Lists)
	if err != nil {
		return nil, err
	}
	if lists.Numbered() {
		return nil, usagef("the lists in %s hold numbers, which mean images of a data set's own files: give --images, or features with the columns split and session", c.Lists)
	}
	return w.named(lists, g.embeddings.Has)
}

func (w *app) draw(g *gallery, run int) (*fscil.Protocol, error) {
	c := w.config.FSCIL
	pool, err := fscil.NewPool(g.samples, c.TestPerClass, func(i int) model.Hash { return g.content[i] })
	if err != nil {
		return nil, err
	}
	if c.Protocol == fscil.Incremental {
		return pool.ClassIncremental(c.Steps, w.config.Seed, run)
	}
	return pool.FewShot(c.BaseClasses, c.Ways, c.Shots, w.config.Seed, run)
}

// named makes a protocol of lists of paths.
func (w *app) named(lists *fscil.Lists, exists func(string) bool) (*fscil.Protocol, error) {
	n := w.config.FSCIL.Strip
	if n < 0 {
		var err error
		if n, err = lists.FindStrip(exists); err != nil {
			return nil, err
		}
	}
	return lists.Protocol(fscil.Stripped(n))
}

// listedImages reads the official lists and finds their images; a missing one
// is named.
func (w *app) listedImages() (*fscil.Protocol, dataset.Listing, error) {
	images := dataset.Listing{Root: w.config.Images}
	lists, err := fscil.ReadLists(w.config.FSCIL.Lists)
	if err != nil {
		return nil, images, err
	}
	var p *fscil.Protocol
	if lists.Numbered() {
		p, images.Root, err = w.extractCIFAR(lists)
	} else {
		p, err = w.named(lists, func(path string) bool { return isFile(images.Root, path) })
	}
	if err != nil {
		return nil, images, fmt.Errorf("images %s: %w", w.config.Images, err)
	}
	for _, s := range p.Samples() {
		images.Samples = append(images.Samples, dataset.Sample{Path: s.Path, Label: s.Class})
	}
	slices.SortFunc(images.Samples, func(a, b dataset.Sample) int { return strings.Compare(a.Path, b.Path) })
	return p, images, missing(images)
}

func isFile(root, path string) bool {
	info, err := os.Stat(dataset.FullPath(root, path))
	return err == nil && info.Mode().IsRegular()
}

func missing(images dataset.Listing) error {
	var first string
	n := 0
	for _, s := range images.Samples {
		if !isFile(images.Root, s.Path) {
			if n++; n == 1 {
				first = s.Path
			}
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("images %s: missing image %s (%d of the %d listed images are missing)", images.Root, first, n, len(images.Samples))
}

// extractCIFAR makes image files of the listed records, once per data set, in
// the cache folder.
func (w *app) extractCIFAR(lists *fscil.Lists) (*fscil.Protocol, string, error) {
	data, err := fscil.ReadCIFAR100(w.config.Images)
	if err != nil {
		return nil, "", err
	}
	p, err := lists.Protocol(data.Name)
	if err != nil {
		return nil, "", err
	}
	cache, err := w.options().CacheDir()
	if err != nil {
		return nil, "", err
	}
	sum := data.Sum()
	root := filepath.Join(cache, "datasets", "cifar100-"+hex.EncodeToString(sum[:8]))
	return p, root, data.Extract(root, p.Samples())
}
