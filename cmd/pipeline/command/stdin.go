package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
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
	for _, name := range []string{"out", "list", "features", "class-from", "drop-label", "path-column", "label-from",
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

func (a *app) labelStdin(ctx context.Context, args []string) error {
	if a.toAdapt() {
		return usagef("--adapt looks at all photos first, and --stdin answers one by one: give --images")
	}
	return a.Stream(ctx, pipeline.StreamRequest{
		Model: args[0], Images: a.config.Images, In: a.stdin, Out: a.stdout, Settings: a.config.Label,
		OldShare: a.config.Classifier.OldShare,
	})
}

func (a *app) embedStdin(ctx context.Context, _ []string) error {
	return a.Stream(ctx, pipeline.StreamRequest{Images: a.config.Images, In: a.stdin, Out: a.stdout})
}
