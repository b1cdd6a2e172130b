package main

import (
	"context"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// A tally counts samples into statistics as they come.
type tally struct {
	stats  *classstats.Stats
	except []*classstats.Stats
	// known samples were counted before, here or in except; unlabelled ones
	// have no class.
	known, unlabelled int
	problems          []dataset.Problem
}

func (w *workbench) collectStats(ctx context.Context, raw bool, except []string) error {
	c := w.config
	if err := require([2]string{"out", c.Out}); err != nil {
		return err
	}
	if c.Features != "" && (c.Images != "" || c.List != "") {
		return usagef("--features and --images are two different inputs: give one")
	}
	t := &tally{}
	for _, file := range except {
		s, err := classstats.Load(file)
		if err != nil {
			return err
		}
		t.except = append(t.except, s)
	}
	count := w.countImages
	if c.Features != "" {
		count = w.countFeatures
	}
	if err := count(ctx, t, !raw); err != nil {
		return err
	}
	return w.finishStats(t)
}

// begin makes empty statistics of where embeddings come from.
func (t *tally) begin(s model.Settings, d int, unit bool) {
	t.stats = classstats.New(d, unit)
	t.stats.Backbone, t.stats.Preprocess = s.Backbone, s.Preprocess
	t.stats.PreprocessFingerprint, t.stats.ToolVersion = s.PreprocessFingerprint, version
	if s.Preprocess != nil && s.PreprocessFingerprint == "" {
		t.stats.PreprocessFingerprint = s.Preprocess.Fingerprint()
	}
}

func (t *tally) add(class string, content model.Hash, embedding []float32) error {
	if class == "" {
		t.unlabelled++
		return nil
	}
	id := model.SampleID{Content: content, Class: dataset.EscapePath(class)}
	for _, s := range t.except {
		if s.Has(id) {
			t.known++
			return nil
		}
	}
	added, err := t.stats.Add(id, embedding)
	if !added {
		t.known++
	}
	return err
}

func (w *workbench) countImages(ctx context.Context, t *tally, unit bool) (err error) {
	images, err := w.listing(ctx)
	if err != nil {
		return err
	}
	e, err := w.newEye()
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	record, err := e.backboneRecord()
	if err != nil {
		return err
	}
	t.begin(model.Settings{Backbone: record, Preprocess: &e.spec}, e.extractor.Dim(), unit)
	t.problems = images.Problems
	_, err = w.stream(ctx, e, images, func(item embed.Item) error {
		if item.Err != nil {
			t.problems = append(t.problems, dataset.Problem{Path: item.Sample.Path, Err: item.Err})
			return nil
		}
		return t.add(item.Sample.Label, model.Hash(item.Hash), item.Vector)
	})
	return err
}

func (w *workbench) countFeatures(ctx context.Context, t *tally, unit bool) error {
	begin := func(meta *dataset.Meta, d int) error {
		var s model.Settings
		if err := rememberMeta(&s, meta, d); err != nil {
			return err
		}
		t.begin(s, d, unit)
		return nil
	}
	return dataset.EachFeature(w.config.Features, begin, func(s dataset.Sample, row []float32) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return t.add(s.Label, model.HashRow(row), row)
	})
}

// finishStats writes the statistics and says what is in them.
func (w *workbench) finishStats(t *tally) error {
	if t.unlabelled > 0 {
		w.log.Warn("images without a class are left out; put them into a folder named after their class", "images", t.unlabelled)
	}
	if err := t.stats.Save(w.config.Out); err != nil {
		return err
	}
	w.say("counted %d samples of %d classes", t.stats.SampleCount(), len(t.stats.Classes()))
	if t.known > 0 {
		w.say("%d samples were counted already or occur twice; they count once", t.known)
	}
	return w.problemsOf(collection{problems: t.problems}, w.config.Out+".errors.csv")
}
