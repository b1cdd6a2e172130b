package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
)

func newForget() *cobra.Command {
	var f pipeline.ForgetRequest
	cmd := &cobra.Command{
		Use:   "forget MODEL --class NAME | --samples FILE",
		Short: "Remove a class or single images from a model",
		Long: `Removes classes with everything learned about them, or the images in a list file
(paths relative to --images, or to the working directory). The result is the model
that never saw them, byte for byte: it learns everything else again, which takes as
long as training. The embeddings for that come from the model itself if it keeps them
(up to 20 images per class), from the cache, and from --images or --features; models of
statistics learn from their own statistics, or from those that --stats names.

What only its own class depends on, such as a class learned after the base session,
is subtracted if embeddings are missing. Otherwise the command refuses and says what
is missing. --approximate removes only what is stored by class, and leaves traces in
what all classes share: settings, covariances, the temperature and thresholds.

The previous version of the file and its statistics are removed, because they still
hold what was forgotten. The images and their embeddings in the cache stay. If it is
interrupted, run it again.

If the model was taught with serve, the photos are forgotten in MODEL.journal and
MODEL.base, too, and the command says where else traces are.`,
		Example: "  pipeline forget photos.model --class dalmatian",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if (len(f.Classes) == 0) == (f.Samples == "") {
				return usagef("give either --class or --samples")
			}
			f.Model = args[0]
			return a.forget(ctx, f)
		}),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Classes, "class", nil, "`name` of a class; may be repeated")
	flags.StringVar(&f.Samples, "samples", "",
		"`file` that lists the images (paths, or a table as of --list); - for stdin, unless with --features")
	flags.StringArrayVar(&f.Stats, "stats", nil, "`file` of statistics that the model was trained on; may be repeated")
	flags.BoolVar(&f.Approximate, "approximate", false,
		"leave traces in what all classes share, rather than learn again")
	flags.BoolVar(&f.KeepPrevious, "keep-previous", false, "keep the previous version and its statistics")
	inputFlags(cmd, "images", "features")
	columnFlags(cmd)
	outFlag(cmd, "`file` for the changed model (default: MODEL itself)")
	backboneFlag(cmd)
	return cmd
}

func (a *app) forget(ctx context.Context, q pipeline.ForgetRequest) error {
	q.From, q.Out, q.Restart = a.source(), a.config.Out, !a.config.Classifier.DKL.Resume
	q.OldShare = a.config.Classifier.OldShare
	return a.finish(a.Forget(ctx, q))
}
