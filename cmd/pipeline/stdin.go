package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/worker"
)

// stdinFlag adds --stdin.
func stdinFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("stdin", false, "read paths, or JSON lines {\"path\": …, \"id\": …}, and write an answer a line to stdout")
}

// either runs work, or the worker when --stdin was given.
func either(work, stdin func(context.Context, *app, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		asked, err := cmd.Flags().GetBool("stdin")
		if err != nil {
			return err
		}
		if !asked {
			return command(work)(cmd, args)
		}
		return command(func(ctx context.Context, w *app, args []string) error {
			w.stdin = cmd.InOrStdin()
			if err := meaningless(cmd, w); err != nil {
				return err
			}
			return stdin(ctx, w, args)
		})(cmd, args)
	}
}

// meaningless refuses what a worker, which has neither a folder to look through
// nor one to write to, would have to ignore.
func meaningless(cmd *cobra.Command, w *app) error {
	said := []string{}
	for _, name := range []string{"out", "list", "shard", "include", "exclude", "symlinks", "format", "organise", "xmp", "report"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			said = append(said, "--"+name)
		}
	}
	c := w.config
	if len(said) == 0 && (c.Out != "" || c.List != "" || c.Scan.Shard != "" || c.Label.Organise != "" || c.Label.XMP || c.Label.Report) {
		said = append(said, "out, list, scan.shard, label.organise, label.xmp and label.report in the settings")
	}
	if len(said) > 0 {
		return usagef("--stdin takes its images from stdin and answers on stdout: leave out %s", strings.Join(said, ", "))
	}
	return nil
}

// serve answers requests from stdin on stdout.
func (w *app) serve(ctx context.Context, e *embed.Embedder, answer func([]embed.Item) ([]any, error)) error {
	outcome, err := worker.Worker{
		Embedder: e, Root: w.config.Images, In: w.stdin, Out: w.stdout, Answer: answer,
	}.Run(ctx)
	if err != nil {
		return err
	}
	return partial(outcome.Failed, "the answer of each")
}

func (w *app) labelStdin(ctx context.Context, args []string) (err error) {
	m, err := w.loadModel(args[0])
	if err != nil {
		return err
	}
	e, err := embed.OpenFor(m.Provenance, w.options())
	if err != nil {
		return err
	}
	defer closeInto(e, &err)
	threshold, err := m.Threshold(w.config.Label.Reject)
	if err != nil {
		return err
	}
	return w.serve(ctx, e, label.Scorer{Head: m.Predictor, TopK: w.config.Label.TopK, Threshold: threshold}.Answer)
}

// An embedded image is an answer of embed --stdin.
type embedded struct {
	Path      string    `json:"path"`
	Embedding []float32 `json:"embedding"`
}

func (w *app) embedStdin(ctx context.Context, _ []string) (err error) {
	e, err := embed.Open(w.options())
	if err != nil {
		return err
	}
	defer closeInto(e, &err)
	return w.serve(ctx, e, func(items []embed.Item) ([]any, error) {
		answers := make([]any, len(items))
		for i, item := range items {
			answers[i] = embedded{dataset.EscapePath(item.Sample.Path), item.Vector}
		}
		return answers, nil
	})
}
