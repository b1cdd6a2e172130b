package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
)

func newPrior() *cobra.Command {
	var images, features []string
	cmd := &cobra.Command{
		Use:   "prior --images DIR... | --features FEATDIR... --out PRIOR",
		Short: "Make a prior of a backbone from labelled images of other things",
		Long: `Measures how images of one class differ from each other under a backbone, on folders
of labelled images (DIR/CLASS/IMAGE) or of embeddings. pipeline train --prior uses it
for models with one or a few images per class.

The classes need not have anything to do with those of the later model, but the more
alike the photos are the better: at least some hundred images, in classes of two or
more. Each folder has its own classes, whatever their names. None of the images
may be in the model, nor in its tests: train, learn and eval recognise them.

How much the prior changes is chosen from images: for models of one image per class
from those of the prior, otherwise from those of the model, which leave it out if they
are more probable without it.`,
		Example: "  pipeline prior --images flowers --images birds --out photos.prior\n" +
			"  pipeline train --images mushrooms --prior photos.prior --out mushrooms.model",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			if (len(images) == 0) == (len(features) == 0) {
				return usagef("give either --images or --features, once for each folder")
			}
			return a.makePrior(ctx, images, features)
		}),
	}
	cmd.Flags().StringArrayVar(&images, "images", nil, "`folder` of images, whose folders are classes; may be repeated")
	cmd.Flags().StringArrayVar(&features, "features", nil,
		"`folder` of embeddings made by pipeline embed, or of embeddings.npy and samples.csv; may be repeated")
	classFlags(cmd)
	outFlag(cmd, "`file` for the prior")
	backboneFlag(cmd)
	return cmd
}

func (a *app) makePrior(ctx context.Context, images, features []string) error {
	if err := a.require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	q := pipeline.PriorRequest{Out: a.config.Out}
	add := func(images, features string) {
		from := a.source()
		from.Images, from.Features, from.List = images, features, ""
		q.From = append(q.From, from)
	}
	for _, dir := range images {
		add(dir, "")
	}
	for _, dir := range features {
		add("", dir)
	}
	return a.finish(a.MakePrior(ctx, q))
}

// withoutPrior returns a usage error if a command that uses no prior is given one.
func (a *app) withoutPrior(command string) error {
	if a.config.Classifier.Prior != "" {
		return usagef("classifier.prior: %s trains without a prior: leave it out", command)
	}
	return nil
}
