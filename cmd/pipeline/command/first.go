package command

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/label/rank"
)

// modelOrFirst requires MODEL, or --first without one and without the flags that
// need it.
func modelOrFirst(cmd *cobra.Command, args []string) error {
	if !cmd.Flags().Changed("first") {
		return arguments(cmd, args)
	}
	if len(args) > 0 {
		return usagef("%s: --first chooses images before there is a model: leave out %q", cmd.CommandPath(), args[0])
	}
	for _, name := range []string{"by", "top", "reject", "cluster-unknown"} {
		if cmd.Flags().Changed(name) {
			return usagef("%s: --%s needs a model, and --first works without one: give only one of them",
				cmd.CommandPath(), name)
		}
	}
	return nil
}

// rankFirst writes the n images to label before there is a model.
func (a *app) rankFirst(ctx context.Context, n int, sheet string) (err error) {
	if err := a.requireRanking(); err != nil {
		return err
	}
	if most := a.config.Rank.ClusterImages; n < 1 || n > most {
		return usagef("--first %d: give a number from 1 to %d, the images that are compared with each other "+
			"(rank.cluster_images, at most 20000)", n, most)
	}
	if err := errors.Join(writable(a.config.Out), a.checkSheet(sheet)); err != nil {
		return err
	}
	in, err := a.inputs().open(ctx, nil, anyImages)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	s, err := a.config.Rank.First(ctx, in, n, a.config.Seed)
	if err != nil {
		return err
	}
	if err := a.writeFile(a.config.Out, func(w io.Writer) error { return rank.Write(w, s.Entries) }); err != nil {
		return err
	}
	a.say("chose %d of %d images to label first, into %s: fill in the column label, then run pipeline train",
		len(s.Entries), s.Images, a.config.Out)
	if s.Compared < s.Images {
		a.say("chosen from %d of the images, drawn at random (rank.cluster_images)", s.Compared)
	}
	if len(s.Entries) < n {
		a.say("no more of them differ: %d are near-duplicates of others", s.Compared-s.Different)
	}
	if err := a.writeSheet(ctx, sheet, in, "Images to label first", s.Entries); err != nil {
		return err
	}
	return a.leftOut(s.Outcome.Problems)
}

// requireRanking returns a usage error unless there are an input and --out, and the
// input is whole.
func (a *app) requireRanking() error {
	if err := a.requireInput(); err != nil {
		return err
	}
	if a.config.Scan.Shard != "" {
		return usagef("rank compares all images with each other, so it cannot use --shard")
	}
	return nil
}
