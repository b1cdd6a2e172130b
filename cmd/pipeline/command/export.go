package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
)

func newExport() *cobra.Command {
	var file string
	var withBackbone bool
	cmd := &cobra.Command{
		Use:   "export MODEL --onnx FILE",
		Short: "Write a trained model as one ONNX file",
		Long: `Writes the trained head (embeddings to log-probabilities) or, with --with-backbone,
the whole model (pixels to log-probabilities). Class names, preprocessing and
hashes are in the file's metadata. Decoding, resizing and normalising are not part
of the file: prepare the pixels as the metadata say.`,
		Example: "  pipeline export photos.model --onnx photos.onnx --with-backbone",
		Args:    arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if err := a.require([2]string{"onnx", file}); err != nil {
				return err
			}
			return a.finish(a.Export(ctx, pipeline.ExportRequest{
				Model: args[0], ONNX: file, WithBackbone: withBackbone,
			}))
		}),
	}
	cmd.Flags().StringVar(&file, "onnx", "", "`file` to write")
	cmd.Flags().BoolVar(&withBackbone, "with-backbone", false, "put the backbone in front of the head")
	cmd.Flags().String("backbone", "", "ONNX `file` or name of the backbone, if the model's own cannot be found")
	config.Bind(cmd.Flags(), "backbone", "backbone")
	return cmd
}
