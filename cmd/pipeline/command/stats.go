package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

func newStats() *cobra.Command {
	return group(&cobra.Command{
		Use:   "stats",
		Short: "Collect class statistics on many machines and merge them",
		Long: `Some methods need only the count, mean and covariance of each class, not the images:
` + strings.Join(methodsWith[moments.Learner](), ", ") + `. Collect these statistics on several machines, each with
a part of the images, and merge them in any order: the result is exactly the
statistics of all images, for pipeline train --stats and pipeline learn --stats.

An image counted on two machines counts once if one of the two files still has the
embeddings of its class. Otherwise the files cannot be merged.`,
		Example: "  pipeline stats collect --images shard1 --out 1.stats",
	}, newStatsCollect(), newStatsMerge())
}

func newStatsCollect() *cobra.Command {
	var raw bool
	var except []string
	cmd := &cobra.Command{
		Use:   "collect --images DIR | --features FEATDIR --out STATS",
		Short: "Collect the statistics of the classes of a folder",
		Long: `Writes the statistics of the classes of a folder of images (DIR/CLASS/IMAGE) or of
embeddings. Memory grows only by 32 bytes per image, the content hash that makes it
count once.

A class of at most as many images as an embedding has values is stored as its
embeddings, a larger class as its count, mean and covariance.`,
		Example: "  pipeline stats collect --images shard1 --out 1.stats",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			return a.collectStats(ctx, raw, except)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	predictionsFlag(cmd)
	outFlag(cmd, "`file` for the statistics")
	backboneFlag(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false,
		"do not scale embeddings to length 1 (for ppca with normalize: false and Euclidean ncm)")
	cmd.Flags().StringArrayVar(&except, "except", nil,
		"skip the images that are in this `file` of statistics; may be repeated")
	return cmd
}

func newStatsMerge() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge STATS... --out STATS",
		Short: "Merge statistics made on different machines",
		Long: `Merges files written by pipeline stats collect or merge into the statistics of all
their images. Except for rounding (1e-12 of the squared length of the data) the result
does not depend on order and grouping. All files must have the same backbone,
preprocessing (except for decoders whose features hardly differ), dimension and scaling
of embeddings. Memory holds the result and one input at a time.`,
		Example: "  pipeline stats merge 1.stats 2.stats 3.stats --out all.stats",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			return a.mergeStats(ctx, args)
		}),
	}
	outFlag(cmd, "`file` for the statistics of all images")
	return cmd
}

func (a *app) mergeStats(ctx context.Context, files []string) error {
	if err := a.outFile(); err != nil {
		return err
	}
	sum, err := classstats.Load(files[0])
	if err != nil {
		return err
	}
	shared := 0
	for _, file := range files[1:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := classstats.Load(file)
		if err != nil {
			return err
		}
		n, err := sum.Merge(s)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		a.notes.differ(s.Source(), sum.Source(), "in "+files[0])
		shared += n
	}
	sum.ToolVersion = version
	if err := sum.Save(a.config.Out); err != nil {
		return err
	}
	a.say("merged %s: %s of %s", plural(len(files), "file", "files"), plural(sum.SampleCount(), "sample", "samples"),
		plural(len(sum.Classes()), "class", "classes"))
	if shared > 0 {
		a.say("%s in more than one file: counted once", plural(shared, "sample", "samples"))
	}
	return nil
}

// A tally adds samples to statistics as they are read.
type tally struct {
	stats  *classstats.Stats
	except []*classstats.Stats
	// known is the number of samples counted before, here or in except, and
	// unlabelled the number of samples without a class.
	known, unlabelled int
	// see, if it is set, is given every labelled sample.
	see func(class string, content model.Hash, embedding []float32)
}

func (a *app) collectStats(ctx context.Context, raw bool, except []string) error {
	if err := a.outFile(); err != nil {
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
	outcome, err := t.count(ctx, a.inputs(), !raw)
	if err != nil {
		return err
	}
	if err := t.stats.Save(a.config.Out); err != nil {
		return err
	}
	a.say("counted %s of %s", plural(t.stats.SampleCount(), "sample", "samples"),
		plural(len(t.stats.Classes()), "class", "classes"))
	if t.known > 0 {
		a.say("%s counted before or given twice: not counted again", plural(t.known, "sample", "samples"))
	}
	return writeProblems(outcome.Problems, a.config.Out+".errors.csv")
}

// count adds the samples of in to new statistics, of embeddings scaled to length 1 if
// unit is set.
func (t *tally) count(ctx context.Context, in inputs, unit bool) (outcome embed.Outcome, err error) {
	rows, err := in.open(ctx, nil, classes)
	if err != nil {
		return outcome, err
	}
	defer closeInto(rows, &err)
	from := rows.Provenance()
	t.stats = classstats.New(from.Dim, unit)
	t.stats.Provenance, t.stats.ToolVersion = from, version
	outcome, err = rows.Each(ctx, func(item embed.Item) error {
		if item.Err != nil {
			return nil // outcome.Problems has it
		}
		return t.add(item.Sample.Label, model.Hash(item.Hash), item.Vector)
	})
	if err != nil {
		return outcome, err
	}
	if t.unlabelled > 0 && len(t.stats.Classes()) == 0 && t.known == 0 {
		return outcome, embed.ErrNoLabels
	}
	in.noteLeftOut(t.unlabelled, 0, outcome.Skipped)
	return outcome, nil
}

func (t *tally) add(class string, content model.Hash, embedding []float32) error {
	if class == "" {
		t.unlabelled++
		return nil
	}
	id := model.SampleID{Content: content, Class: dataset.EscapePath(class)}
	if t.see != nil {
		t.see(id.Class, id.Content, embedding)
	}
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

// trainStats trains on a STATS file.
func (a *app) trainStats(ctx context.Context, file string) error {
	c := a.config
	if err := a.outFile(); err != nil {
		return err
	}
	if err := replaceable(c.Out); err != nil {
		return err
	}
	if err := a.onlyStats(); err != nil {
		return err
	}
	if c.Classifier.DKL.Enabled {
		return usagef("--dkl needs examples, which --stats does not have: give --images or --features")
	}
	s, err := classstats.Load(file)
	if err != nil {
		return err
	}
	settings := a.modelSettings()
	if settings.Backend, err = a.products(); err != nil {
		return err
	}
	if settings.Prior, err = a.prior(); err != nil {
		return err
	}
	m, outcome, err := model.TrainStats(ctx, settings, s)
	if err != nil {
		return err
	}
	if err := a.save(m, c.Out); err != nil {
		return err
	}
	a.sayTrained(m, outcome)
	if a.json != "" {
		return a.sayLearned(m, c.Out, outcome, 0)
	}
	return nil
}

// learnStats adds a STATS file to a model.
func (a *app) learnStats(ctx context.Context, file, stats string) error {
	if err := a.onlyStats(); err != nil {
		return err
	}
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	if err := replaceable(a.destination(file)); err != nil {
		return err
	}
	s, err := classstats.Load(stats)
	if err != nil {
		return err
	}
	outcome, err := m.LearnStats(ctx, s)
	if err != nil {
		return fmt.Errorf("%s: %w", stats, err)
	}
	a.notes.differ(s.Source(), m.Provenance, "in the model")
	if outcome.Changed() {
		m.ToolVersion = version
	}
	if err := a.save(m, file); err != nil {
		return err
	}
	a.sayOutcome("learned", m.Classes(), outcome)
	if a.json != "" {
		return a.sayLearned(m, a.destination(file), outcome, 0)
	}
	return nil
}

// onlyStats returns a usage error if there is a second input besides --stats.
func (a *app) onlyStats() error {
	c := a.config
	if c.Images != "" || c.List != "" || c.Features != "" {
		return usagef("--stats and --images, --list or --features are different inputs: give only one")
	}
	if c.Texts != "" {
		return usagef("--texts goes with images or alone, not with --stats: learn the texts afterwards")
	}
	return nil
}
