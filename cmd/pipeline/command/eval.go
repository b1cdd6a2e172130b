package command

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
)

func newEval() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval MODEL --images DIR | --features FEATDIR",
		Short: "Measure a model on labelled images",
		Long: `Reports accuracy (overall, balanced and per class), confusion, negative
log-likelihood, calibration error and, if some images belong to no class of the
model, how well these are detected. Images without a class are left out. What a person
decided on the page of serve is the class of an image, whatever its folder says.`,
		Example: "  pipeline eval photos.model --images held-out --json=eval.json --report=report",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			return a.eval(ctx, args[0])
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	predictionsFlag(cmd)
	boxFlags(cmd)
	backboneFlag(cmd)
	cmd.Flags().Float64("reject", 0, "`share` of photos like those learned that may be rejected as unknown")
	config.Bind(cmd.Flags(), "reject", "label.reject")
	jsonFlag(cmd.Flags(), "write all results as JSON, shares from 0 to 1")
	reportFlag(cmd.Flags(), "report", "write report.html into a folder")
	return cmd
}

func (a *app) eval(ctx context.Context, file string) error {
	q := pipeline.EvalRequest{
		Model: file, From: a.source(), Settings: a.config.Label, Report: a.report,
		OldShare: a.config.Classifier.OldShare,
	}
	switch {
	case a.report != "":
		q.Problems = filepath.Join(a.report, "errors.csv")
	case a.json != "" && a.json != streamed:
		q.Problems = a.json + ".errors.csv"
	}
	e, err := a.Eval(ctx, q)
	if err := a.finish(e, err); err != nil && !isPartial(err) {
		return err
	}
	if a.json != "" {
		if err := a.writeFile(a.json, e.WriteJSON); err != nil {
			return err
		}
	}
	return err
}
