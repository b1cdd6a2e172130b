package runner

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

func (r Runner) protocol(s *Samples, run int) (*fscil.Protocol, error) {
	c := r.Sessions
	switch {
	case c.Protocol != fscil.Official:
		return r.draw(s, run)
	case s.official != nil:
		return s.official, nil
	case c.Lists == "":
		return fscil.Recorded(s.rows.Samples)
	}
	lists, err := fscil.ReadLists(c.Lists)
	if err != nil {
		return nil, err
	}
	if lists.Numbered() {
		return nil, experiment.Inputf("the lists in %s contain numbers, which are indices into the files of a data "+
			"set: give --images, or features with the columns split and session", c.Lists)
	}
	return r.named(lists, s.embeddings.Has)
}

func (r Runner) draw(s *Samples, run int) (*fscil.Protocol, error) {
	c := r.Sessions
	pool, err := fscil.NewPool(s.rows.Samples, c.TestPerClass, func(i int) model.Hash { return s.rows.Content[i] })
	if err != nil {
		return nil, err
	}
	if c.Protocol == fscil.Incremental {
		return pool.ClassIncremental(c.Steps, r.Env.Seed, run)
	}
	return pool.FewShot(c.BaseClasses, c.Ways, c.Shots, r.Env.Seed, run)
}

func (r Runner) named(lists *fscil.Lists, exists func(string) bool) (*fscil.Protocol, error) {
	n := r.Sessions.Strip
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
func (r Runner) listedImages() (*fscil.Protocol, dataset.Listing, error) {
	images := dataset.Listing{Root: r.Images}
	lists, err := fscil.ReadLists(r.Sessions.Lists)
	if err != nil {
		return nil, images, err
	}
	var p *fscil.Protocol
	if lists.Numbered() {
		p, images.Root, err = r.extractCIFAR(lists)
	} else {
		p, err = r.named(lists, func(path string) bool { return isFile(images.Root, path) })
	}
	if err != nil {
		return nil, images, fmt.Errorf("images %s: %w", r.Images, err)
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
		err = fmt.Errorf("images %s: missing image %s (%d of the %d listed images are missing)",
			images.Root, missing[0], len(missing), len(images.Samples))
	}
	return p, images, err
}

func isFile(root, path string) bool {
	info, err := os.Stat(dataset.FullPath(root, path))
	return err == nil && info.Mode().IsRegular()
}

// extractCIFAR writes the listed records as image files into the cache folder,
// once per data set.
func (r Runner) extractCIFAR(lists *fscil.Lists) (*fscil.Protocol, string, error) {
	data, err := fscil.ReadCIFAR(r.Images)
	if err != nil {
		return nil, "", err
	}
	p, err := lists.Protocol(data.Locate)
	if err != nil {
		return nil, "", err
	}
	cache, err := r.Embed.CacheDir()
	if err != nil {
		return nil, "", err
	}
	sum := data.Sum()
	root := filepath.Join(cache, "datasets", data.Name+"-"+hex.EncodeToString(sum[:8]))
	return p, root, data.Extract(root, p.Samples())
}
