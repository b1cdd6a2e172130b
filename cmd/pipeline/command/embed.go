package command

import (
	"context"
	"path/filepath"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/label"
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

func (a *app) embedFolder(ctx context.Context) (err error) {
	if err := a.require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	if a.config.Texts != "" {
		return a.embedTexts(ctx)
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

// embedTexts writes the embeddings of what describes classes. The network of the photos is
// opened, too: what is in TEXTDIR then says which photos it can be compared with.
func (a *app) embedTexts(ctx context.Context) (err error) {
	switch {
	case !a.namesOnly():
		return usagef("--texts and --images are two different inputs: embed them one after the other")
	case !reflect.DeepEqual(a.config.Scan, config.Default().Scan):
		return usagef("--include, --exclude, --shard, --class-from and the like say how to read images: " +
			"texts are all read")
	case textsIn(a.config.Texts):
		return usagef("--texts %s is a folder: give a file with one class per line, or a table class,text",
			a.config.Texts)
	}
	described, err := dataset.ReadDescriptions(a.config.Texts)
	if err != nil {
		return err
	}
	e, err := embed.Open(a.newOptions())
	if err != nil {
		return err
	}
	defer closeInto(e, &err)
	texts, err := a.describe(ctx, described, e.Provenance())
	if err != nil {
		return err
	}
	if err := texts.Write(a.config.Out); err != nil {
		return err
	}
	a.say("embedded %s into %s", plural(len(texts.Texts), "text", "texts"), a.config.Out)
	return nil
}
