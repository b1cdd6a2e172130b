package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dataset/cub"
)

func newImportCUB() *cobra.Command {
	var mat, dir string
	cmd := &cobra.Command{
		Use:   "import-cub --mat res101.mat --cub DIR --out FEATDIR",
		Short: "Make a feature folder of ready-made CUB-200-2011 features",
		Long: `Reads the ResNet-101 features of Xian et al. (res101.mat of their zero-shot data, the
folder CUB) and the official split of CUB-200-2011 (images.txt and
train_test_split.txt of the folder CUB_200_2011), matches them by the folder and the
name of each image, and writes embeddings.npy (float32), samples.csv with the class
and the split (train or test) of every image, and meta.json.

An image that is missing, there twice, or has a label that is not its class is an
error, and nothing is written. MAT-files of version 7.3 are to be saved again with
-v7. Memory is that of the names of the images.`,
		Example: "  pipeline datasets import-cub --mat xlsa17/data/CUB/res101.mat --cub CUB_200_2011 --out cub-res101",
		Args:    arguments(cobra.NoArgs),
		RunE: command(func(ctx context.Context, w *workbench, _ []string) error {
			if err := require([2]string{"mat", mat}, [2]string{"cub", dir}, [2]string{"out", w.config.Out}); err != nil {
				return err
			}
			return w.importCUB(ctx, mat, dir)
		}),
	}
	cmd.Flags().StringVar(&mat, "mat", "", "`file` of features, res101.mat")
	cmd.Flags().StringVar(&dir, "cub", "", "`folder` with images.txt and train_test_split.txt")
	outFlag(cmd, "`folder` for the embeddings")
	return cmd
}

func (w *workbench) importCUB(ctx context.Context, mat, dir string) error {
	source, err := cub.Open(mat, dir)
	if err != nil {
		return err
	}
	defer source.Close()
	meta, err := importMeta(source, mat)
	if err != nil {
		return err
	}
	out, err := dataset.NewFeatureWriter(w.config.Out, meta)
	if err != nil {
		return err
	}
	defer out.Abort()
	classes, splits := map[string]bool{}, map[string]int{}
	err = source.Each(func(s dataset.Sample, row []float32) error {
		classes[s.Label] = true
		splits[s.Split]++
		if err := ctx.Err(); err != nil {
			return err
		}
		return out.Write(s, row)
	})
	if err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	w.say("imported %d images of %d classes (%d to train, %d to test), %d values each, into %s",
		len(source.Samples), len(classes), splits["train"], splits["test"], source.Dim, w.config.Out)
	return nil
}

// importMeta says where the features come from. The hash of their backbone is not
// known: it stays empty, so that nobody looks for that model.
func importMeta(source *cub.Source, mat string) (dataset.Meta, error) {
	origin, err := source.Origin()
	if err != nil {
		return dataset.Meta{}, err
	}
	text, err := json.Marshal(origin)
	if err != nil {
		return dataset.Meta{}, err
	}
	sum := sha256.Sum256(text)
	return dataset.Meta{
		ToolVersion:          version,
		Backbone:             dataset.BackboneMeta{Name: filepath.Base(mat) + " (Xian et al.)"},
		Extractor:            text,
		ExtractorFingerprint: hex.EncodeToString(sum[:]),
		Dimension:            source.Dim,
	}, nil
}
