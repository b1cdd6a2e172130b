package command

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/label"
)

func newLabel() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "label MODEL --images DIR | --features FEATDIR --out OUTDIR | --stdin",
		Short: "Label a folder of images, or embeddings",
		Long: `Writes labels.csv (.jsonl, .parquet, .xlsx), errors.csv and summary.json into OUTDIR. Run
the same command again to resume. Exit code 3: some images could not be read, and
errors.csv says why.

--format also has what other programs load: imagefolder (Hugging Face datasets), coco,
label-studio and camtrap-dp. --split divides the photos to train and test with; photos that are
alike, copies and events stay in one part.

Photos are compared with each other first, and those alike are labelled alike: it helps where
the model has seen few images of each class, or the folder shows few of its classes.
--adapt=false labels each photo by itself, as --shard and --stdin do.

A photo that was decided, on the page of serve or in a folder or list that was learned,
has that class, wherever it lies; the column by says who decided. Photos that were set
aside have no label.

--boxes labels what a detector found: a row per box, photo.jpg#1, with the column box,
and photos.csv with the labels of each photo. --events labels photos of one camera
together, and writes events.csv, species.csv (by station and week) and activity.csv and
activity.svg (by hour).

With --features, rows have the paths in samples.csv or, without it, their numbers in
embeddings.npy, from 0.`,
		Example: "  pipeline label photos.model --images ~/Pictures --out labels --top-k 3",
		Args:    arguments,
		RunE: either(
			func(ctx context.Context, a *app, args []string) error { return a.label(ctx, args[0]) },
			func(ctx context.Context, a *app, args []string) error { return a.labelStdin(ctx, args) },
		),
	}
	inputFlags(cmd, "images", "list", "features")
	scanFlags(cmd)
	boxFlags(cmd)
	outFlag(cmd, "`folder` for the results")
	backboneFlag(cmd)
	stdinFlag(cmd)
	standard := label.DefaultConfig()
	cmd.Flags().StringSlice("format", standard.Format, "results: "+strings.Join(label.Formats(), ", "))
	cmd.Flags().Int("top-k", standard.TopK, "`number` of ranked classes in the column top_k")
	cmd.Flags().Float64("reject", 0, "`share` of photos like those learned that may be rejected as unknown")
	cmd.Flags().Bool("adapt", standard.Adapt, "compare the photos with each other first, and label those alike")
	cmd.Flags().Float64("events", 0, "label photos of one camera together that are at most so many `seconds` apart")
	cmd.Flags().String("organise", "", "make class folders in OUTDIR/by-class: link or copy the photos")
	cmd.Flags().String("only", "", "decided: write only the photos that people decided")
	cmd.Flags().String("split", "", "divide the photos into train, (validation,) test of some `percents`: 80,20")
	cmd.Flags().Bool("xmp", false, "write the class into a sidecar PHOTO.EXT.xmp next to each photo (dc:subject)")
	reportFlag(cmd.Flags(), outDir, "write report.html: pictures by class, uncertain and unknown ones first")
	jsonFlag(cmd.Flags(), "write the content of summary.json")
	bind(cmd.Flags(), "label.", "format", "top-k", "reject", "adapt", "events", "organise", "only", "split", "xmp")
	return cmd
}

func (a *app) label(ctx context.Context, file string) error {
	if err := a.requireInput(); err != nil {
		return err
	}
	if a.config.Scan.Shard != "" && a.toAdapt() {
		return usagef("--adapt looks at all photos of a job, so it cannot use --shard: the shards would differ")
	}
	l, err := a.Label(ctx, pipeline.LabelRequest{
		Model: file, From: a.source(), Out: a.config.Out, Settings: a.config.Label, Report: a.report,
		OldShare: a.config.Classifier.OldShare, Seed: a.config.Seed,
	})
	if err := a.finish(l, err); err != nil && !isPartial(err) {
		return err
	}
	if a.json != "" {
		if err := a.writeJSON(l.Summary); err != nil {
			return err
		}
	}
	return err
}

// toAdapt reports whether --adapt was given, which is the default where it is possible.
func (a *app) toAdapt() bool { return a.flags.Changed("adapt") && a.config.Label.Adapt }

// requireInput returns a usage error unless there is an input and --out.
func (a *app) requireInput() error {
	return a.require([2]string{"images", cmp.Or(a.config.Images, a.config.List, a.config.Features)},
		[2]string{"out", a.config.Out})
}
