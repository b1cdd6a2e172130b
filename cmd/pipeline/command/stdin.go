package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/worker"
	"github.com/seed-90d10d51/pipeline/teach"
)

// stdinFlag adds --stdin.
func stdinFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("stdin", false,
		"answer paths or JSON lines {\"path\": …, \"id\": …} on stdin, one per line, on stdout")
}

// either runs stdin if --stdin is given, and work otherwise.
func either(work, stdin func(context.Context, *app, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		asked, err := cmd.Flags().GetBool("stdin")
		if err != nil {
			return err
		}
		if !asked {
			return command(work)(cmd, args)
		}
		return command(func(ctx context.Context, a *app, args []string) error {
			if err := refuseFolderSettings(cmd, a); err != nil {
				return err
			}
			return stdin(ctx, a, args)
		})(cmd, args)
	}
}

// refuseFolderSettings returns a usage error if there are settings that a worker
// would ignore because it neither scans a folder nor writes to one.
func refuseFolderSettings(cmd *cobra.Command, a *app) error {
	given := []string{}
	for _, name := range []string{"out", "list", "features", "class-from", "drop-label", "path-column", "label-column",
		"path-suffix", "predictions", "shard", "include", "exclude", "symlinks", "boxes", "min-confidence", "events",
		"format", "organise", "only", "xmp", "report", "json"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			given = append(given, "--"+name)
		}
	}
	c := a.config
	if len(given) == 0 && (c.Out != "" || c.List != "" || c.Features != "" || c.Scan.Shard != "" ||
		c.Boxes.File != "" || c.Label.Organise != "" || c.Label.Events > 0 || c.Label.Only != "" ||
		c.Label.XMP || c.Label.Report) {
		given = append(given, "out, list, features, scan.shard, boxes.file, label.events, label.organise, label.only, "+
			"label.xmp and label.report in the settings")
	}
	if len(given) > 0 {
		return usagef("--stdin reads images from stdin and answers on stdout: leave out %s", strings.Join(given, ", "))
	}
	return nil
}

// serve answers requests from stdin on stdout.
func (a *app) serve(ctx context.Context, e *embed.Embedder, answer func([]embed.Item) ([]any, error)) error {
	outcome, err := worker.Worker{
		Embedder: e, Root: a.config.Images, In: a.stdin, Out: a.stdout, Answer: answer,
	}.Run(ctx)
	if err != nil {
		return err
	}
	return partial(outcome.Failed, "the answer to each")
}

func (a *app) labelStdin(ctx context.Context, args []string) (err error) {
	if a.config.Label.Adapt {
		return usagef("--adapt looks at all photos first, and --stdin answers one by one: give --images")
	}
	m, err := a.loadModel(args[0])
	if err != nil {
		return err
	}
	e, _, err := a.inputs().openFor(m)
	if err != nil {
		return err
	}
	defer closeInto(e, &err)
	threshold, err := m.Threshold(a.config.Label.Reject)
	if err != nil {
		return err
	}
	decided, err := teach.Decided(args[0], m)
	if err != nil {
		return err
	}
	scorer := a.config.Label.Scorer(m.Predictor, label.Above(threshold), m.Predictor.Calibration)
	scorer.Decided = decided
	return a.serve(ctx, e, scorer.Answer)
}

// embedded is the answer of embed --stdin to one request.
type embedded struct {
	Path      string    `json:"path"`
	Embedding []float32 `json:"embedding"`
}

func (a *app) embedStdin(ctx context.Context, _ []string) (err error) {
	e, err := embed.Open(a.newOptions())
	if err != nil {
		return err
	}
	defer closeInto(e, &err)
	return a.serve(ctx, e, func(items []embed.Item) ([]any, error) {
		answers := make([]any, len(items))
		for i, item := range items {
			answers[i] = embedded{dataset.EscapePath(item.Sample.Path), item.Vector}
		}
		return answers, nil
	})
}
