package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/label/rank"
)

func newRank() *cobra.Command {
	var groups, sheet string
	var first int
	cmd := &cobra.Command{
		Use: "rank MODEL | --first N --images DIR | --features FEATDIR [--by " +
			"margin|entropy|variance|novelty|label-error|doubt] --out FILE",
		Short: "Find images worth a look: uncertain, unknown or mislabelled",
		Long: `Writes a CSV file with the images that most deserve attention first. --by selects
which these are: with margin, entropy or variance, images whose label would teach
the model most, with --top such that differ (rank.spread); with doubt, images whose
label would settle most others, as the photos resemble each other, and the score is
about how many; with novelty, images unlike any known class; with label-error, images that probably lie in the wrong
class folder. These may be what the model was trained on: each is judged as if it
had not been learned, at the cost of ten trainings. Images that were decided on the
page of serve are left out, with label-error only those decided twice.

--cluster-unknown groups the images of no known class by similarity and links them
into folders group-001, group-002 and so on; near-duplicates lie side by side, as in
0003-a.jpg and 0003.1-b.jpg. Delete what does not belong to a group, rename its folder
to the class it shows, and pass it to pipeline learn.

--first needs no model: it chooses the images to label before there is one, typical
ones that differ from each other; the score is the number of images that are like it,
the most first. Fill in the column label and pass the file to pipeline train as --list.`,
		Example: `  pipeline rank --first 50 --images ~/Pictures --out first.csv
  pipeline rank photos.model --images ~/Pictures --top 200 --out look.csv --sheet look.html`,
		Args: modelOrFirst,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if len(args) == 0 {
				return a.rank(ctx, "", first, "", sheet)
			}
			return a.rank(ctx, args[0], 0, groups, sheet)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	predictionsFlag(cmd)
	scanFlags(cmd)
	boxFlags(cmd)
	outFlag(cmd, "CSV `file` to write; - for stdout")
	backboneFlag(cmd)
	standard := rank.DefaultConfig()
	cmd.Flags().String("by", string(standard.By), "`criterion` to rank by: "+strings.Join(rank.Criteria(), ", "))
	cmd.Flags().Int("top", standard.Top, "`number` of rows to write (default: all)")
	cmd.Flags().Float64("reject", 0,
		fmt.Sprintf("`share` of known-class images that may count as unknown (default with --cluster-unknown: %g)",
			pipeline.NovelShare))
	cmd.Flags().IntVar(&first, "first", 0, "without MODEL: choose this `number` of images to label first")
	cmd.Flags().StringVar(&groups, "cluster-unknown", "",
		"group the images of no known class in this `folder`, which must be new or empty")
	cmd.Flags().StringVar(&sheet, "sheet", "",
		fmt.Sprintf("write a contact sheet, a page with the pictures of the first %d, to this `file`.html",
			pipeline.SheetTiles))
	jsonFlag(cmd.Flags(), "write the account of the model's photos")
	bind(cmd.Flags(), "rank.", "by", "top")
	bind(cmd.Flags(), "label.", "reject")
	return cmd
}

func (a *app) rank(ctx context.Context, file string, first int, groups, sheet string) error {
	if err := a.requireInput(); err != nil {
		return err
	}
	l, err := a.Rank(ctx, pipeline.RankRequest{
		Model: file, First: first, From: a.source(), Out: a.outTable(), Groups: groups, Sheet: sheet,
		Settings: a.config.Rank, Reject: a.config.Label.Reject, OldShare: a.config.Classifier.OldShare,
		Seed: a.config.Seed,
	})
	done := err == nil || isPartial(err)
	if done && a.config.Out == streamed {
		if err := l.Write(a.stdout); err != nil {
			return err
		}
	}
	if err := a.finish(l, err); !done || a.json == "" {
		return err
	}
	return errors.Join(err, a.writeJSON(map[string]any{"images": len(l.Entries), "account": l.Account}))
}

// outTable is --out, unless that is stdout.
func (a *app) outTable() string {
	if a.config.Out == streamed {
		return ""
	}
	return a.config.Out
}

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
