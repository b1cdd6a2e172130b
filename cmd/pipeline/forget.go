package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/model"
)

func newForget() *cobra.Command {
	var class, samples string
	cmd := &cobra.Command{
		Use:   "forget MODEL --class NAME | --samples FILE",
		Short: "Remove a class or single images from a model",
		Long: `Removes a class with everything learned about it, or the images in a list file
(paths relative to --images, or to the working directory). The result is
the model that would have been trained without them; a method that cannot do
that refuses.`,
		Example: "  pipeline forget photos.model --class dalmatian",
		Args:    exactly(1),
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if (class == "") == (samples == "") {
				return usagef("give either --class or --samples")
			}
			if class != "" {
				return a.forgetClass(args[0], class)
			}
			return a.forgetSamples(ctx, args[0], samples)
		}),
	}
	cmd.Flags().StringVar(&class, "class", "", "`name` of the class")
	cmd.Flags().StringVar(&samples, "samples", "", "`file` that lists the images (paths, or CSV with the header path,label)")
	inputFlags(cmd, "images")
	outFlag(cmd, "`file` for the changed model (default: MODEL itself)")
	backboneFlag(cmd)
	return cmd
}

func (a *app) forgetClass(file, class string) error {
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	if err := m.ForgetClass(class); err != nil {
		return err
	}
	if err := a.save(m, file); err != nil {
		return err
	}
	a.say("forgot class %s; %d classes are left", class, len(m.Classes()))
	return nil
}

func (a *app) forgetSamples(ctx context.Context, file, list string) (err error) {
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	if err := writable(a.destination(file)); err != nil {
		return err
	}
	a.config.List = list
	if a.config.Images == "" {
		a.config.Images = "."
	}
	in, err := a.input(ctx, m)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	e, err := embed.Collect(ctx, in)
	if err != nil {
		return err
	}
	if err := requireAll(filepath.Base(list), e.Outcome.Problems); err != nil {
		return err
	}
	if err := m.ForgetSamples(model.NewBatch(e)); err != nil {
		return err
	}
	if err := a.save(m, file); err != nil {
		return err
	}
	a.say("forgot %d samples; %d are left in %d classes", e.X.Rows, m.SampleCount(), len(m.Classes()))
	return nil
}
