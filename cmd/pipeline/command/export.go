package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
	"github.com/seed-90d10d51/pipeline/model"
)

// Names inside an exported file, described in docs/formats-model.md.
const (
	exportInput      = "embedding"
	exportOutput     = "log_probabilities"
	metadataClasses  = "pipeline.classes"
	metadataMethod   = "pipeline.method"
	metadataModel    = "pipeline.model_sha256"
	metadataBackbone = "pipeline.backbone_sha256"
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
		RunE: command(func(_ context.Context, a *app, args []string) error {
			if err := a.require([2]string{"onnx", file}); err != nil {
				return err
			}
			return a.export(args[0], file, withBackbone)
		}),
	}
	cmd.Flags().StringVar(&file, "onnx", "", "`file` to write")
	cmd.Flags().BoolVar(&withBackbone, "with-backbone", false, "put the backbone in front of the head")
	cmd.Flags().String("backbone", "", "ONNX `file` or name of the backbone, if the model's own cannot be found")
	config.Bind(cmd.Flags(), "backbone", "backbone")
	return cmd
}

func (a *app) export(modelFile, file string, withBackbone bool) error {
	m, err := model.Load(modelFile)
	if err != nil {
		return err
	}
	if err := writable(file); err != nil {
		return err
	}
	if _, ok := m.Predictor.Head.(classifier.Exporter); !ok {
		return fmt.Errorf("export %s: method %s has no ONNX form; these have: %s", modelFile, m.Method,
			strings.Join(methodsWith[classifier.Exporter](), ", "))
	}
	metadata, err := exportMetadata(m)
	if err != nil {
		return err
	}
	var b []byte
	if withBackbone {
		b, err = a.inputs().exportWhole(m, metadata)
	} else {
		b, err = exportHead(m, metadata)
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", modelFile, err)
	}
	if err := atomicfile.WriteFile(file, b); err != nil {
		return err
	}
	a.say("wrote %s: %s, %s, %.1f MB", file, m.Method, plural(len(m.Classes()), "class", "classes"),
		float64(len(b))/1e6)
	return nil
}

func exportMetadata(m *model.Model) (map[string]string, error) {
	classes, err := json.Marshal(m.Classes())
	if err != nil {
		return nil, err
	}
	metadata := map[string]string{metadataClasses: string(classes), metadataMethod: m.Method, metadataModel: m.SHA256()}
	if sum := m.Provenance.Backbone.SHA256; sum != "" {
		metadata[metadataBackbone] = sum
	}
	if p := m.Provenance.Preprocess; p != nil {
		spec, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		metadata[onnx.MetadataPreprocess] = string(spec)
	}
	return metadata, nil
}

func exportHead(m *model.Model, metadata map[string]string) ([]byte, error) {
	g := onnx.NewGraph("")
	out, err := m.Predictor.Export(g, g.Input(exportInput, onnx.Float32, onnx.Free, int64(m.Dim())))
	if err != nil {
		return nil, err
	}
	g.Output(exportOutput, out, onnx.Float32, onnx.Free, int64(len(m.Classes())))
	return g.Model(producer(), metadata)
}

// exportWhole joins the model's head to the backbone that it was trained with.
func (in inputs) exportWhole(m *model.Model, metadata map[string]string) (b []byte, err error) {
	e, _, err := in.openFor(m)
	if err != nil {
		return nil, err
	}
	defer closeInto(e, &err)
	backbone, err := onnx.Parse(e.Backbone().Bytes())
	if err == nil && len(backbone.Inputs) > 1 { // only the image can be fed
		backbone, err = backbone.Part(e.Extractor().Output())
	}
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(cmp.Or(m.Provenance.Preprocess, e.Provenance().Preprocess))
	if err != nil {
		return nil, err
	}
	metadata = maps.Clone(metadata)
	metadata[onnx.MetadataPreprocess], metadata[metadataBackbone] = string(spec), e.Backbone().SHA256
	g := onnx.NewGraph(backbone.FreshPrefix("pipeline.head/"))
	x, err := e.Extractor().Graph(g)
	if err != nil {
		return nil, err
	}
	out, err := m.Predictor.Export(g, x)
	if err != nil {
		return nil, err
	}
	if backbone.HasTensor(exportOutput) {
		return nil, errors.New("the backbone already has a tensor named " + exportOutput + ": export the head alone")
	}
	g.Output(exportOutput, out, onnx.Float32, onnx.Free, int64(len(m.Classes())))
	return backbone.Extend(g, producer(), metadata)
}

func producer() string { return "pipeline " + version }
