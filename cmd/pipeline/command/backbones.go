package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/onnx"
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

// aboutSmall says what our own network is good for.
func (a *app) listBackbones() error {
	entries, err := backbone.Catalogue()
	if err != nil {
		return err
	}
	dirs, err := a.Options(context.Background()).BackboneDirs()
	if err != nil {
		return err
	}
	if a.json != "" {
		listed := []listedBackbone{}
		for _, e := range entries {
			listed = append(listed,
				listedBackbone{e.Name, e.AllBytes(), e.Dimension, e.Licence, e.Text != nil, availability(e, dirs),
					described(e)})
		}
		return a.writeJSON(listed)
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSIZE\tDIM\tLICENCE\tWHERE\tWHAT")
	for _, e := range entries {
		fmt.Fprintf(table, "%s\t%.0f MB\t%d\t%s\t%s\t%s\n", e.Name, float64(e.AllBytes())/1e6, e.Dimension, e.Licence,
			availability(e, dirs), described(e))
	}
	return table.Flush()
}

// described returns the description of an entry, and whether anybody has run it here.
func described(e backbone.Entry) string {
	if e.Untried {
		return e.Description + "; not run here"
	}
	return e.Description
}

func availability(e backbone.Entry, dirs backbone.Dirs) string {
	switch {
	case e.Name == backbone.OfNewModels:
		return "built in"
	case dirs.Pulled(e):
		return "pulled"
	case e.Pullable():
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
	dirs, err := a.Options(context.Background()).BackboneDirs()
	if err != nil {
		return err
	}
	file, err := backbone.Resolve(ref, dirs)
	if err != nil {
		return err
	}
	a.say("SHA-256     %s", file.SHA256)
	m, err := onnx.Parse(file.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	a.say("made by     %s, ONNX opset %d", m.Producer, m.Opset)
	a.say("inputs      %s", onnx.Names(m.Inputs))
	a.say("outputs     %s", onnx.Names(m.Outputs))
	if tensor, err := m.Penultimate(); err == nil {
		a.say("penultimate %s (choose it with --set extractor.output=penultimate)", tensor)
	}
	if p := file.Preprocess; p == nil && file.Range > 0 {
		a.say("preprocess  not stated; the network normalises values of 0 to %g itself, so the preset imagenet would "+
			"be used without mean and std", file.Range)
	} else if p == nil {
		a.say("preprocess  not stated; the preset imagenet would be used")
	} else {
		a.say("preprocess  %s side %d, crop %d, %s, mean %v, std %v (from %s)", p.Resize, p.Size, p.Crop,
			p.Interpolation, p.Mean, p.Std, strings.ToLower(string(file.PreprocessSource)))
	}
	return a.inspectReading(ctx, ref)
}

// inspectReading says how embeddings would be read from a backbone, and whether they look
// right. A backbone that cannot be used is no error of this command.
func (a *app) inspectReading(ctx context.Context, ref string) (err error) {
	o := a.Options(ctx)
	o.Backbone, o.Log = ref, slog.New(slog.DiscardHandler)
	e, err := embed.Open(o)
	if err != nil {
		a.say("embedding   cannot be read: %v", err)
		return nil
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	a.say("embedding   %s", e.Reading())
	same, other, err := e.Crops(ctx)
	if err != nil {
		return err
	}
	verdict := "so this looks right"
	if !(same > other) {
		verdict = "so this looks wrong: set extractor.output, extractor.pool or extractor.map"
	}
	a.say("check       crops of one picture have a cosine of %.2f, of two pictures %.2f, %s", same, other, verdict)
	return nil
}
