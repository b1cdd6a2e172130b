package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
)

func newExport() *cobra.Command {
	var file string
	var withBackbone, withPreprocess bool
	cmd := &cobra.Command{
		Use:   "export MODEL --onnx FILE",
		Short: "Write a trained model as one ONNX file",
		Long: `Writes the trained head, whose input is embeddings, or with --with-backbone the whole
model, whose input is pixels that were prepared as the metadata say, or with
--with-preprocess also what prepares them: its input is the upright photo as it was
decoded, bytes of red, green and blue.

The outputs are log_probabilities, novelty and p_new. Classes, temperature, the novelty
from which photos are unknown, preprocessing and hashes are in the file's metadata.`,
		Example: "  pipeline export photos.model --onnx photos.onnx --with-preprocess",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if err := a.require([2]string{"onnx", file}); err != nil {
				return err
			}
			return a.finish(a.Export(ctx, pipeline.ExportRequest{
				Model: args[0], ONNX: file, WithBackbone: withBackbone, WithPreprocess: withPreprocess,
			}))
		}),
	}
	cmd.Flags().StringVar(&file, "onnx", "", "`file` to write")
	cmd.Flags().BoolVar(&withBackbone, "with-backbone", false, "put the backbone in front of the head")
	cmd.Flags().BoolVar(&withPreprocess, "with-preprocess", false,
		"put resizing, cropping and normalising in front of the backbone")
	cmd.Flags().String("backbone", "", "ONNX `file` or name of the backbone, if the model's own cannot be found")
	config.Bind(cmd.Flags(), "backbone", "backbone")
	return cmd
}
