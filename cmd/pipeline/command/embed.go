package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
)

func newEmbed() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "embed --images DIR | --list FILE --out FEATDIR | --texts FILE --out TEXTDIR | --stdin",
		Short: "Compute the embeddings of a folder of images, or of texts",
		Long: `Writes embeddings.npy (float32, n×d), samples.csv, meta.json and errors.csv into
FEATDIR.

--texts FILE computes the embeddings of the names of classes instead: one class per line,
or a table with the columns class and text, which may have several texts for a class. A
class without a text gets a sentence for each template (text.templates), such as "a photo
of a red fox." for red_fox. The backbone must have a text side (pipeline backbones list).
TEXTDIR gets texts.npy (float32, n×d), texts.csv and meta.json.`,
		Example: "  pipeline embed --images photos --backbone resnet50.onnx --out features\n" +
			"  pipeline embed --texts names.txt --backbone clip-b32 --out names",
		Args: arguments,
		RunE: either(
			func(ctx context.Context, a *app, _ []string) error { return a.embedFolder(ctx) },
			func(ctx context.Context, a *app, args []string) error { return a.embedStdin(ctx, args) },
		),
	}
	inputFlags(cmd, "images", "list")
	predictionsFlag(cmd)
	scanFlags(cmd)
	boxFlags(cmd)
	outFlag(cmd, "`folder` for the embeddings")
	backboneFlag(cmd)
	textsFlag(cmd)
	stdinFlag(cmd)
	return cmd
}

func (a *app) embedFolder(ctx context.Context) error {
	if err := a.require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	return a.finish(a.Embed(ctx, pipeline.EmbedRequest{
		From: a.source(), Texts: a.config.Texts, Out: a.config.Out,
	}))
}
