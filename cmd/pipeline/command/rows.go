package command

import (
	"context"

	"github.com/spf13/cobra"
)

func newRows() *cobra.Command {
	return &cobra.Command{
		Use:   "rows",
		Short: "Fit models to rows of numbers and predict, for other programs",
		Long: `Answers requests on stdin, on stdout, until stdin ends: to fit a model to rows of numbers
that need not come from photos, and to predict the probabilities of its classes. The models
are files that the other commands read, too. The Python module photo_pipeline speaks to it.

A request is a line of JSON, followed by its rows as little-endian float32; an answer is
another line, followed by the probabilities as little-endian float64. docs/formats-results.md
has the fields.`,
		Example: "  pipeline rows",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			return a.Rows(ctx, a.stdin, a.stdout)
		}),
	}
}
