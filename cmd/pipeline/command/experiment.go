package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/kind"
)

func newExperiment() *cobra.Command {
	var list strings.Builder
	for _, k := range kind.DefaultConfig().Kinds() {
		fmt.Fprintf(&list, "  %-12s %s\n", k.Name, k.Summary)
	}
	cmd := &cobra.Command{
		Use:   "experiment --config NAME --out DIR",
		Short: "Reproduce a figure or a table of a paper",
		Long: `Runs the experiment that experiment.kind names and writes results.json, table.md,
table.csv, figures and config.yaml. Finished parts are saved: run the same command
again to resume a stopped experiment. The kinds are

` + list.String() + `
Few-shot class-incremental benchmarks have their own command, pipeline fscil.
Kinds that need embeddings read --features; the fscil.… settings describe their
sessions.`,
		Example: "  pipeline experiment --config ablation_q --features feats --out results",
		Args:    arguments,
		RunE:    command(func(ctx context.Context, a *app, _ []string) error { return a.experiment(ctx) }),
	}
	inputFlags(cmd, "features")
	outFlag(cmd, "`folder` for the results")
	cmd.Flags().String("lists", "", "`folder` of session_N.txt and test_N.txt")
	config.Bind(cmd.Flags(), "lists", "fscil.lists")
	resumeFlag(cmd)
	return cmd
}

func (a *app) experiment(ctx context.Context) error {
	c := a.config
	if err := errors.Join(a.require([2]string{"out", c.Out}), a.withoutPrior("experiment")); err != nil {
		return err
	}
	if c.Experiment.Kind == "" {
		return usagef("experiment.kind is empty: choose an experiment with --config or --set experiment.kind=…; " +
			"pipeline experiment --help lists the kinds")
	}
	kind, err := c.Experiment.Find()
	if err != nil {
		return &pipeline.UsageError{Err: err}
	}
	if err := pipeline.WritableFolder(c.Out); err != nil {
		return err
	}
	r, err := a.runner(ctx, c)
	if err != nil {
		return err
	}
	env := r.Env
	env.Open = r.Material
	o, err := kind.Run(ctx, env)
	if input := (*experiment.InputError)(nil); err != nil && !errors.As(err, &input) {
		err = fmt.Errorf("experiment %s: %w", kind.Name, err)
	}
	if err != nil {
		return err
	}
	settings, err := c.YAML()
	if err != nil {
		return err
	}
	if err := o.Write(c.Out, settings); err != nil {
		return err
	}
	a.say("tables and figures are in %s", c.Out)
	return nil
}
