package command

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
)

func newBackbones() *cobra.Command {
	return group(
		&cobra.Command{
			Use:     "backbones",
			Short:   "List, download and inspect backbones",
			Example: "  pipeline backbones list",
		},
		newList("backbones", "List the catalogue", (*app).listBackbones),
		&cobra.Command{
			Use:     "pull NAME",
			Short:   "Download a backbone from the catalogue and verify it",
			Example: "  pipeline backbones pull resnet50-v2",
			Args:    arguments, ValidArgsFunction: pullable,
			RunE: command(func(ctx context.Context, a *app, args []string) error {
				return a.pullBackbone(ctx, args[0])
			}),
		},
		&cobra.Command{
			Use:     "inspect FILE",
			Short:   "Show the inputs and outputs of an ONNX file, and how embeddings are read from it",
			Example: "  pipeline backbones inspect resnet50.onnx",
			Args:    arguments,
			RunE: command(func(ctx context.Context, a *app, args []string) error {
				return a.inspectBackboneFile(ctx, args[0])
			}),
		},
	)
}

// A listedBackbone is what backbones list --json prints of an entry.
type listedBackbone struct {
	Name        string `json:"name"`
	Bytes       int64  `json:"bytes"`
	Dimension   int    `json:"dimension"`
	Licence     string `json:"licence"`
	Texts       bool   `json:"texts"` // it has a text side
	Where       string `json:"where"`
	Description string `json:"description"`
}

func (a *app) listBackbones() error {
	networks, err := a.Networks()
	if err != nil {
		return err
	}
	listed := make([]listedBackbone, len(networks))
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSIZE\tDIM\tLICENCE\tWHERE\tWHAT")
	for i, n := range networks {
		b := listedBackbone{n.Name, n.Bytes, n.Dimension, n.Licence, n.Texts, whereIs(n), n.About}
		if n.Untried {
			b.Description += "; not run here"
		}
		listed[i] = b
		fmt.Fprintf(table, "%s\t%.0f MB\t%d\t%s\t%s\t%s\n", b.Name, float64(b.Bytes)/1e6, b.Dimension, b.Licence,
			b.Where, b.Description)
	}
	if a.json != "" {
		return a.writeJSON(listed)
	}
	return table.Flush()
}

func whereIs(n pipeline.Network) string {
	switch {
	case n.File != "":
		return "pulled"
	case n.Here:
		return "built in"
	case n.Obtainable:
		return "can be pulled"
	}
	return "bring the file"
}

func (a *app) pullBackbone(ctx context.Context, name string) error {
	path, err := a.Obtain(ctx, name)
	if err == nil {
		a.say("%s is in %s", name, path)
	}
	return err
}

func (a *app) inspectBackboneFile(ctx context.Context, ref string) error {
	n, err := a.InspectNetwork(ctx, ref)
	if err != nil {
		return err
	}
	a.say("SHA-256     %s", n.SHA256)
	a.say("made by     %s, ONNX opset %d", n.Producer, n.Opset)
	a.say("inputs      %s", n.Inputs)
	a.say("outputs     %s", n.Outputs)
	if n.Penultimate != "" {
		a.say("penultimate %s (choose it with --set extractor.output=penultimate)", n.Penultimate)
	}
	switch p := n.Preprocess; {
	case p != nil:
		a.say("preprocess  %s side %d, crop %d, %s, mean %v, std %v (from %s)", p.Resize, p.Size, p.Crop,
			p.Interpolation, p.Mean, p.Std, strings.ToLower(n.StatedBy))
	case n.Range > 0:
		a.say("preprocess  not stated; the network normalises values of 0 to %g itself, so the preset imagenet would "+
			"be used without mean and std", n.Range)
	default:
		a.say("preprocess  not stated; the preset imagenet would be used")
	}
	if n.Unusable != nil { // no error of this command
		a.say("embedding   cannot be read: %v", n.Unusable)
		return nil
	}
	a.say("embedding   %s", n.Reading)
	a.say("check       crops of one picture have a cosine of %.2f, of two pictures %.2f, %s", n.Same, n.Other,
		verdict(n.Same, n.Other))
	return nil
}

// verdict says what the cosines of crops of one picture and of two pictures tell of a network.
func verdict(same, other float64) string {
	const alike = 0.995 // what is printed as 1.00
	switch {
	case !(same > other):
		return "so this looks wrong: set extractor.output, extractor.pool or extractor.map"
	case other >= alike:
		return "so it hardly tells pictures apart: set extractor.output, or take another network"
	}
	return "so this looks right"
}
