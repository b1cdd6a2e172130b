package command

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
)

// nearest is the default --top of search.
const nearest = 50

func newSearch() *cobra.Command {
	var q pipeline.SearchRequest
	cmd := &cobra.Command{
		Use: "search --like PHOTO | --text TEXT --images DIR | --features FEATDIR [--texts TEXTDIR] " +
			"[--top N] --out FILE",
		Short: "Find the photos that are most like a photo, or like words",
		Long: `Writes a CSV file with the photos that are nearest to a photo or to words, the nearest
first: path and score, the cosine of their embeddings. It needs no model.

--like PHOTO is a file, anywhere; with --features, the path of one of the rows.

--text TEXT is anything, if the backbone has a text side (pipeline backbones list). With
--texts TEXTDIR (see pipeline embed) it is one of the texts or classes of that folder.`,
		Example: "  pipeline search --like fox.jpg --images photos --out found.csv\n" +
			"  pipeline search --text fox --images photos --backbone clip-b32 --top 20 --out found.csv",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error { return a.search(ctx, q) }),
	}
	inputFlags(cmd, "images", "list", "features")
	scanFlags(cmd)
	outFlag(cmd, "CSV `file` to write; - for stdout")
	backboneFlag(cmd)
	textsFlag(cmd)
	cmd.Flags().StringVar(&q.Like, "like", "", "`photo` to search for")
	cmd.Flags().StringVar(&q.Text, "text", "", "`words` to search for")
	cmd.Flags().IntVar(&q.Top, "top", nearest, "`number` of photos to write")
	return cmd
}

func (a *app) search(ctx context.Context, q pipeline.SearchRequest) error {
	if err := a.require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	q.Texts, q.From, q.Out = a.config.Texts, a.source(), a.outTable()
	found, err := a.Search(ctx, q)
	if err != nil && !isPartial(err) {
		return err
	}
	if q.Out != "" {
		return a.finish(found, err)
	}
	return cmp.Or(found.Write(a.stdout), err)
}
