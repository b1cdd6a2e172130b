package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/prior"
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
	if err := a.outFile(); err != nil {
		return err
	}
	products, err := a.products()
	if err != nil {
		return err
	}
	p := &prior.Prior{}
	p.ToolVersion = version
	var problems []dataset.Problem
	add := func(images, features string) error {
		in := a.inputs()
		in.images, in.features, in.list = images, features, ""
		var examples prior.Examples
		t := &tally{see: examples.See}
		outcome, err := t.count(ctx, in, true)
		if err == nil {
			err = p.Add(ctx, products, t.stats, &examples)
		}
		if err != nil {
			return fmt.Errorf("%s%s: %w", images, features, err)
		}
		problems = append(problems, outcome.Problems...)
		return nil
	}
	for _, dir := range images {
		if err := add(dir, ""); err != nil {
			return err
		}
	}
	for _, dir := range features {
		if err := add("", dir); err != nil {
			return err
		}
	}
	if err := p.ChooseEpsilon(ctx, products); err != nil {
		return err
	}
	if err := p.Save(a.config.Out); err != nil {
		return err
	}
	a.say("made a prior: %s, %s in %s", plural(p.Samples(), "image", "images"), plural(p.Classes, "class", "classes"),
		plural(p.Sets, "folder", "folders"))
	return writeProblems(problems, a.config.Out+".errors.csv")
}

// priorFlag adds --prior.
func priorFlag(cmd *cobra.Command) {
	cmd.Flags().String("prior", "",
		"`file` made by pipeline prior, or default for the built-in backbone's own; for few images per class "+
			"(plda, plda+, ppca-eb)")
	config.Bind(cmd.Flags(), "prior", "classifier.prior")
}

// prior reads the prior of the settings, nil for none.
func (a *app) prior() (*prior.Prior, error) {
	if a.config.Classifier.Prior == "" {
		return nil, nil
	}
	return prior.Find(a.config.Classifier.Prior)
}

// withoutPrior returns a usage error if a command that uses no prior is given one.
func (a *app) withoutPrior(command string) error {
	if a.config.Classifier.Prior != "" {
		return usagef("classifier.prior: %s trains without a prior: leave it out", command)
	}
	return nil
}

// priorLines describe the prior of a model, if it has one.
func priorLines(m *model.Model) []string {
	if m.Prior == nil {
		return nil
	}
	weight := ""
	if head, ok := m.Predictor.Head.(gauss.PriorUser); ok {
		weight = fmt.Sprintf("; for the spread within classes it counts as %.4g images", head.PriorWeight())
		if head.PriorWeight() == 0 {
			weight = "; not used: images that are left out are more probable without it"
		}
	}
	return []string{fmt.Sprintf("prior      of %s, %s in %s%s",
		plural(m.Prior.Samples(), "other image", "other images"),
		plural(m.Prior.Classes, "class", "classes"), plural(m.Prior.Sets, "folder", "folders"), weight)}
}
