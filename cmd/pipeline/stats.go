package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/model/classstats"
)

func newStats() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Collect statistics on many machines and merge them",
		Long: `A head with a Gaussian per class needs count, mean and covariance of each class and
not the images. Machines that each see some of the images collect these statistics;
merged, in any order and grouping, they are those of all images, exactly, and
pipeline train --stats makes a model of them; pipeline learn --stats adds them to one.
Images that two machines have both
counted count once, as long as one of the two statistics still has the examples
of their class (it keeps up to as many as an embedding has values); else merging is
refused.`,
		Example: "  pipeline stats collect --images shard1 --out 1.stats",
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStatsCollect(), newStatsMerge())
	return cmd
}

func newStatsCollect() *cobra.Command {
	var raw bool
	var except []string
	cmd := &cobra.Command{
		Use:   "collect --images DIR | --features FEATDIR --out STATS",
		Short: "Count images into statistics of their classes",
		Long: `Writes the statistics of the classes of a folder of images (DIR/CLASS/IMAGE), or of
embeddings made before. Memory does not grow with the number of images but for 32
bytes each, their content hash, by which an image counts once.

A class of up to as many images as an embedding has values is kept as the embeddings
themselves; of a larger one only count, mean and covariance are.`,
		Example: "  pipeline stats collect --images shard1 --out 1.stats",
		Args:    arguments(cobra.NoArgs),
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			return a.collectStats(ctx, raw, except)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	outFlag(cmd, "`file` for the statistics")
	backboneFlag(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "take embeddings as they are instead of scaling them to length 1 (ppca with normalize: false and Euclidean ncm want that)")
	cmd.Flags().StringArrayVar(&except, "except", nil, "`file` of statistics whose images are not counted again; may be repeated")
	return cmd
}

func newStatsMerge() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge STATS... --out STATS",
		Short: "Merge statistics made on different machines",
		Long: `Merges files of pipeline stats collect, or merged ones, into the statistics of all
their images. The result is exact: it does not depend on order and grouping but for
rounding (1e-12 of the squared length of the data). Statistics of different backbones,
preprocessings or dimensions, or of embeddings that were scaled to length 1 and
of others that were not, are refused. Memory is that of the result and of one input.`,
		Example: "  pipeline stats merge 1.stats 2.stats 3.stats --out all.stats",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			return a.mergeStats(ctx, args)
		}),
	}
	outFlag(cmd, "`file` for the statistics of all images")
	return cmd
}

func (a *app) mergeStats(ctx context.Context, files []string) error {
	if err := require([2]string{"out", a.config.Out}); err != nil {
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
		shared += n
	}
	sum.ToolVersion = version
	if err := sum.Save(a.config.Out); err != nil {
		return err
	}
	a.say("merged %d files: %d samples of %d classes", len(files), sum.SampleCount(), len(sum.Classes()))
	if shared > 0 {
		a.say("%d samples were in two of them; they count once", shared)
	}
	return nil
}
