package command

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/label"
)

func newEmbed() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "embed --images DIR | --list FILE --out FEATDIR | --stdin",
		Short: "Compute the embeddings of a folder of images",
		Long: `Writes embeddings.npy (float32, n×d), samples.csv, meta.json and errors.csv into
FEATDIR. The class of an image is the name of its first-level sub-folder, unless
--class-from or the labels of a list say otherwise.`,
		Example: "  pipeline embed --images photos --backbone resnet50.onnx --out features",
		Args:    arguments,
		RunE: either(
			func(ctx context.Context, a *app, _ []string) error { return a.embedFolder(ctx) },
			func(ctx context.Context, a *app, args []string) error { return a.embedStdin(ctx, args) },
		),
	}
	inputFlags(cmd, "images", "list")
	scanFlags(cmd)
	boxFlags(cmd)
	outFlag(cmd, "`folder` for the embeddings")
	backboneFlag(cmd)
	stdinFlag(cmd)
	return cmd
}

func (a *app) embedFolder(ctx context.Context) (err error) {
	if err := a.require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	dir, err := a.shardFolder()
	if err != nil {
		return err
	}
	in, err := a.inputs().openImages(ctx, nil, classes)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	out, err := featdir.NewWriter(dir, in.Provenance())
	if err != nil {
		return err
	}
	defer out.Abort()
	outcome, err := in.Each(ctx, func(item embed.Item) error {
		if item.Err != nil {
			return nil // outcome.Problems has it
		}
		return out.Write(item.Sample, item.Vector)
	})
	if err != nil {
		return err
	}
	if err := label.WriteProblems(filepath.Join(out.TempDir(), "errors.csv"), outcome.Problems); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	a.say("embedded %s (%d from the cache, %d failed) into %s",
		items(outcome.Cached+outcome.Inferred, in.boxed), outcome.Cached, len(outcome.Problems), dir)
	return partial(len(outcome.Problems), filepath.Join(dir, "errors.csv"))
}
