package main

import (
	"context"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// A tally adds samples to statistics as they are read.
type tally struct {
	stats  *classstats.Stats
	except []*classstats.Stats
	// known is the number of samples counted before, here or in except, and
	// unlabelled the number of samples without a class.
	known, unlabelled int
}

func (a *app) collectStats(ctx context.Context, raw bool, except []string) (err error) {
	if err := require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	if err := writable(a.config.Out); err != nil {
		return err
	}
	t := &tally{}
	for _, file := range except {
		s, err := classstats.Load(file)
		if err != nil {
			return err
		}
		t.except = append(t.except, s)
	}
	in, err := a.input(ctx, nil)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	from := in.Provenance()
	t.stats = classstats.New(from.Dim, !raw)
	t.stats.Provenance, t.stats.ToolVersion = from, version
	outcome, err := in.Each(ctx, func(item embed.Item) error {
		if item.Err != nil {
			return nil // outcome.Problems has it
		}
		return t.add(item.Sample.Label, model.Hash(item.Hash), item.Vector)
	})
	if err != nil {
		return err
	}
	a.warnUnlabelled(t.unlabelled)
	if err := t.stats.Save(a.config.Out); err != nil {
		return err
	}
	a.say("counted %d samples of %d classes", t.stats.SampleCount(), len(t.stats.Classes()))
	if t.known > 0 {
		a.say("%d samples were counted before or occur twice; they count once", t.known)
	}
	return writeProblems(outcome.Problems, a.config.Out+".errors.csv")
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
