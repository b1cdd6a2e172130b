package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
)

func newInspect() *cobra.Command {
	var tree string
	var advise, asCard bool
	cmd := &cobra.Command{
		Use:   "inspect MODEL",
		Short: "Show what a model has learned and how",
		Long: `Shows a model's method, its settings (given and chosen automatically), its backbone,
sessions and classes, and its history if it was taught with serve. --tree draws the tree
of classes (gptree, hppca), with --images each with its first picture.

--advice says which classes need photos, and which two may be one, by the images that
were left out while the model was trained. --card prints a model card for those who are
given the model: its data, how accurate and how well calibrated it is, its limits and
where it comes from.`,
		Example: "  pipeline inspect photos.model --tree tree.svg --images photos",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			m, err := a.Inspect(ctx, args[0])
			if err != nil {
				return err
			}
			switch asJSON := a.json != ""; {
			case tree != "" && (advise || asJSON || asCard) || asCard && (advise || asJSON):
				return usagef("--tree, --card and --advice or --json are different outputs: give only one of them")
			case tree != "":
				return a.finish(a.DrawTree(ctx, m, tree, a.config.Images))
			case asCard:
				return m.WriteCard(a.stdout)
			case asJSON:
				return a.writeJSON(m.JSON())
			case advise:
				a.sayAll(m.Advice())
				return nil
			}
			a.sayAll(m.Lines())
			return m.WriteClasses(a.stdout)
		}),
	}
	cmd.Flags().StringVar(&tree, "tree", "", "draw the tree of classes into this SVG `file`")
	cmd.Flags().BoolVar(&advise, "advice", false, "say which classes need photos and which two may be one")
	jsonFlag(cmd.Flags(), "write settings, classes and advice as JSON")
	cmd.Flags().BoolVar(&asCard, "card", false, "print a model card in Markdown")
	cmd.Flags().String("images", "", "`folder` of images for --tree; each first-level sub-folder is a class")
	config.Bind(cmd.Flags(), "images", "images")
	return cmd
}
