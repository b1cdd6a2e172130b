package command

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// samples holds the embeddings of all images that a benchmark may use.
type samples struct {
	embeddings *fscil.Embeddings
	// list and content have one row per embedding.
	list    []dataset.Sample
	content []model.Hash
	// fingerprint changes with every embedding, label and column.
	fingerprint string
	// official is the protocol of the lists that the images were found with, nil
	// otherwise.
	official *fscil.Protocol
	// backbone is the name of the backbone in tables, without folders.
	backbone string
	builtIn  bool
	// imageNet reports whether the backbone is known to have been trained on
	// ImageNet and nothing else.
	imageNet bool
	// trainings trains projections, or loads those that another method trained.
	trainings dkl.TrainEnv
	// views embeds augmented views of images; nil if there are none.
	views func(blas32.General) ([]blas32.General, error)
}

func (a *app) samples(ctx context.Context) (*samples, error) {
	if s := a.config.Scan; (s.ClassFrom != "" || len(s.DropLabel) > 0) && (a.config.Features != "" || a.config.FSCIL.Protocol == fscil.Official) {
		return nil, usagef("--class-from and --drop-label are about folders of classes; features and official lists name the classes themselves")
	}
	if a.config.Features != "" {
		return a.samplesOfFeatures()
	}
	s := &samples{}
	var images dataset.Listing
	var err error
	if a.config.FSCIL.Protocol == fscil.Official {
		s.official, images, err = a.listedImages()
	} else if images, err = a.scan(ctx); err == nil && len(images.Problems) > 0 {
		err = fmt.Errorf("%s: %w", images.Problems[0].Path, images.Problems[0].Err)
	}
	if err != nil {
		return nil, err
	}
	return s, a.embedSamples(ctx, s, images)
}

func (a *app) embedSamples(ctx context.Context, s *samples, images dataset.Listing) (err error) {
	e, err := embed.Open(a.options())
	if err != nil {
		return err
	}
	defer closeInto(e, &err)
	all, err := embed.Collect(ctx, e.Embed(images.Source()))
	if err != nil {
		return err
	}
	if err := requireAll("fscil", all.Outcome.Problems); err != nil {
		return err
	}
	a.say("embedded %s (%d from the cache)", plural(all.Outcome.Cached+all.Outcome.Inferred, "image", "images"), all.Outcome.Cached)
	s.backbone, s.builtIn = filepath.Base(e.Backbone().Name), e.Backbone().Source == backbone.BuiltIn
	s.views = a.views(ctx, images.Root, all)
	return s.fill(all)
}

func (a *app) samplesOfFeatures() (*samples, error) {
	f, err := featdir.Read(a.config.Features)
	if err != nil {
		return nil, err
	}
	s := &samples{backbone: filepath.Base(a.config.Backbone)}
	if a.config.Backbone == "" {
		s.backbone = "unknown (" + filepath.Base(a.config.Features) + ")"
	}
	if name := f.Provenance.Backbone.Name; name != "" {
		s.backbone, s.builtIn = filepath.Base(name), backbone.IsBuiltIn(name)
	}
	return s, s.fill(f)
}

func (s *samples) fill(e embed.Embeddings) error {
	paths := make([]string, len(e.Samples))
	for i, row := range e.Samples {
		paths[i] = row.Path
	}
	s.list, s.content = e.Samples, e.Content
	var err error
	if s.imageNet, err = backbone.OnlyImageNet(e.Provenance.Backbone.SHA256); err != nil {
		return err
	}
	if s.fingerprint, err = checkpoint.Key(e.Samples, e.Content, embed.HashRows(e.X)); err != nil {
		return err
	}
	s.embeddings, err = fscil.NewEmbeddings(e.X, paths, e.Content)
	return err
}

// protocol returns the protocol of one run.
func (a *app) protocol(s *samples, run int) (*fscil.Protocol, error) {
	c := a.config.FSCIL
	switch {
	case c.Protocol != fscil.Official:
		return a.draw(s, run)
	case s.official != nil:
		return s.official, nil
	case c.Lists == "":
		return fscil.Recorded(s.list)
	}
	lists, err := fscil.ReadLists(c.Lists)
	if err != nil {
		return nil, err
	}
	if lists.Numbered() {
		return nil, usagef("the lists in %s contain numbers, which are indices into the files of a data set: give --images, or features with the columns split and session", c.Lists)
	}
	return a.named(lists, s.embeddings.Has)
}

func (a *app) draw(s *samples, run int) (*fscil.Protocol, error) {
	c := a.config.FSCIL
	pool, err := fscil.NewPool(s.list, c.TestPerClass, func(i int) model.Hash { return s.content[i] })
	if err != nil {
		return nil, err
	}
	if c.Protocol == fscil.Incremental {
		return pool.ClassIncremental(c.Steps, a.config.Seed, run)
	}
	return pool.FewShot(c.BaseClasses, c.Ways, c.Shots, a.config.Seed, run)
}

// named returns the protocol of lists of paths.
func (a *app) named(lists *fscil.Lists, exists func(string) bool) (*fscil.Protocol, error) {
	n := a.config.FSCIL.Strip
	if n < 0 {
		var err error
		if n, err = lists.FindStrip(exists); err != nil {
			return nil, err
		}
	}
	return lists.Protocol(fscil.Stripped(n))
}

// listedImages reads the official lists and finds their images. The error names
// the first one that is missing.
func (a *app) listedImages() (*fscil.Protocol, dataset.Listing, error) {
	images := dataset.Listing{Root: a.config.Images}
	lists, err := fscil.ReadLists(a.config.FSCIL.Lists)
	if err != nil {
		return nil, images, err
	}
	var p *fscil.Protocol
	if lists.Numbered() {
		p, images.Root, err = a.extractCIFAR(lists)
	} else {
		p, err = a.named(lists, func(path string) bool { return isFile(images.Root, path) })
	}
	if err != nil {
		return nil, images, fmt.Errorf("images %s: %w", a.config.Images, err)
	}
	for _, s := range p.Samples() {
		images.Samples = append(images.Samples, dataset.Sample{Path: s.Path, Label: s.Class})
	}
	slices.SortFunc(images.Samples, func(a, b dataset.Sample) int { return strings.Compare(a.Path, b.Path) })
	var missing []string
	for _, x := range images.Samples {
		if !isFile(images.Root, x.Path) {
			missing = append(missing, x.Path)
		}
	}
	if len(missing) > 0 {
		err = fmt.Errorf("images %s: missing image %s (%d of the %d listed images are missing)", images.Root, missing[0], len(missing), len(images.Samples))
	}
	return p, images, err
}

func isFile(root, path string) bool {
	info, err := os.Stat(dataset.FullPath(root, path))
	return err == nil && info.Mode().IsRegular()
}

// extractCIFAR writes the listed records as image files into the cache folder,
// once per data set.
func (a *app) extractCIFAR(lists *fscil.Lists) (*fscil.Protocol, string, error) {
	data, err := fscil.ReadCIFAR(a.config.Images)
	if err != nil {
		return nil, "", err
	}
	p, err := lists.Protocol(data.Locate)
	if err != nil {
		return nil, "", err
	}
	cache, err := a.options().CacheDir()
	if err != nil {
		return nil, "", err
	}
	sum := data.Sum()
	root := filepath.Join(cache, "datasets", data.Name+"-"+hex.EncodeToString(sum[:8]))
	return p, root, data.Extract(root, p.Samples())
}
