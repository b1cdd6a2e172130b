package command

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
)

func newSetup() *cobra.Command {
	var q pipeline.SetUpRequest
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Get ONNX Runtime and the libraries that decode photos",
		Long: `Looks for ONNX Runtime, which is required, and for libvips and libheif, which decode
photos. What is missing is fetched by pip, of any Python, with its own settings, into the
user's cache; nothing of a package is run, and a file is installed only if it has the
SHA-256 that this program knows. Without a connection, --from names where they are.`,
		Example: `  pipeline setup
  pipeline setup --from onnxruntime-1.30.0-cp312-cp312-manylinux_2_28_x86_64.whl
  pipeline setup --platform linux/arm64 --into usb-stick`,
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			return a.setUp(ctx, q)
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&q.From, "from", nil,
		"take what is missing from a `file` (a package of PyPI, or a release archive), a folder of such files "+
			"or of what is in them, or the address of a file; may be repeated")
	f.StringVar(&q.Into, "into", "",
		"put everything into this `folder`, for another machine")
	f.StringVar(&q.Platform, "platform", "",
		"`os/processor` of the machine that --into is for (default: this machine's)")
	jsonFlag(f, "write the result as JSON")
	return cmd
}

func (a *app) setUp(ctx context.Context, q pipeline.SetUpRequest) error {
	done, err := a.SetUp(ctx, q)
	switch {
	case done == nil:
		return err
	case a.json != "":
		return cmp.Or(a.writeJSON(done), err)
	}
	a.sayAll(done.Lines())
	for _, text := range done.Without() {
		fmt.Fprintln(a.stderr, text)
	}
	return err
}
