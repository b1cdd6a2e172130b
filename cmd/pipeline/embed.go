package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/label"
)

func newEmbed() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "embed --images DIR | --list FILE --out FEATDIR | --stdin",
		Short: "Compute the embeddings of a folder of images",
		Long: `Writes embeddings.npy (float32, n×d), samples.csv, meta.json and errors.csv into
FEATDIR. The class of an image is the first-level sub-folder that it lies in.`,
		Example: "  pipeline embed --images photos --backbone resnet50.onnx --out features",
		Args:    arguments(cobra.NoArgs),
		RunE: either(
			func(ctx context.Context, w *workbench, _ []string) error { return w.embedFolder(ctx) },
			func(ctx context.Context, w *workbench, args []string) error { return w.embedStdin(ctx, args) },
		),
	}
	inputFlags(cmd, "images", "list")
	scanFlags(cmd)
	outFlag(cmd, "`folder` for the embeddings")
	backboneFlag(cmd)
	stdinFlag(cmd)
	return cmd
}

func (w *workbench) embedFolder(ctx context.Context) (err error) {
	if err := require([2]string{"out", w.config.Out}); err != nil {
		return err
	}
	if err := w.shardOut(); err != nil {
		return err
	}
	images, err := w.source(ctx)
	if err != nil {
		return err
	}
	e, err := w.newEye()
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	out, err := w.newFeatureWriter(e)
	if err != nil {
		return err
	}
	defer out.Abort()
	return w.writeFeatures(ctx, e, images, out)
}

func (w *workbench) newFeatureWriter(e *eye) (*dataset.FeatureWriter, error) {
	spec, err := json.Marshal(e.spec)
	if err != nil {
		return nil, err
	}
	record, err := e.backboneRecord()
	if err != nil {
		return nil, err
	}
	return dataset.NewFeatureWriter(w.config.Out, dataset.Meta{
		ToolVersion:           version,
		Backbone:              dataset.BackboneMeta{Name: record.Name, SHA256: record.SHA256, Path: record.Path},
		Extractor:             record.Extractor,
		ExtractorFingerprint:  record.ExtractorFingerprint,
		Preprocess:            spec,
		PreprocessFingerprint: e.spec.Fingerprint(),
		Dimension:             record.Dim,
	})
}

func (w *workbench) writeFeatures(ctx context.Context, e *eye, images *dataset.Source, out *dataset.FeatureWriter) error {
	var problems []dataset.Problem
	counts, err := watched{w, e, images.Len()}.RunSeq(ctx, images.Root(), images.Samples(ctx), func(item embed.Item) error {
		if item.Err != nil {
			problems = append(problems, dataset.Problem{Path: item.Sample.Path, Err: item.Err})
			return nil
		}
		return out.Write(item.Sample, item.Vector)
	})
	if err != nil {
		return err
	}
	found, err := images.Outcome()
	if err != nil {
		return err
	}
	problems = append(problems, found.Problems...)
	if err := label.WriteProblems(filepath.Join(out.TempDir(), "errors.csv"), problems); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	w.say("embedded %d images (%d from the cache, %d failed) into %s", counts.Cached+counts.Inferred, counts.Cached, len(problems), w.config.Out)
	return partial(len(problems), filepath.Join(w.config.Out, "errors.csv"))
}
