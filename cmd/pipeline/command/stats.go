package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
)

func newStats() *cobra.Command {
	return group(&cobra.Command{
		Use:   "stats",
		Short: "Collect class statistics on many machines and merge them",
		Long: `Some methods need only the count, mean and covariance of each class, not the images:
` + strings.Join(pipeline.MethodsWith[moments.Learner](), ", ") + `. Collect these statistics on several machines, each with
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
embeddings, a larger class as its count, mean and covariance.

--shard divides the files as it does for label: by their paths alone. Each part has a file
of its own.`,
		Example: "  pipeline stats collect --images shard1 --out 1.stats\n" +
			"  pipeline stats collect --images photos --shard 2/8 --out part-2.stats",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			return a.collectStats(ctx, raw, except)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	predictionsFlag(cmd)
	scanFlags(cmd)
	cmd.Flags().Lookup("shard").Usage = "count only part `i/n` of the files, as another machine counts the others"
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
	if err := a.require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	return a.finish(a.MergeStats(ctx, files, a.config.Out))
}

func (a *app) collectStats(ctx context.Context, raw bool, except []string) error {
	if err := a.require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	return a.finish(a.CollectStats(ctx, pipeline.StatsRequest{
		From: a.source(), Out: a.config.Out, Raw: raw, Except: except,
	}))
}
