package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// Names inside an exported file, described in docs/formats-model.md.
const (
	ExportInput       = "embedding"
	ExportPhoto       = "photo"
	ExportOutput      = "log_probabilities"
	ExportNovelty     = "novelty"
	ExportNew         = "p_new"
	MetadataClasses   = "pipeline.classes"
	MetadataMethod    = "pipeline.method"
	MetadataThreshold = "pipeline.threshold"
	MetadataT         = "pipeline.temperature"
	MetadataModel     = "pipeline.model_sha256"
	MetadataBackbone  = "pipeline.backbone_sha256"
)

// An ExportRequest says where to write a model as one ONNX file.
type ExportRequest struct {
	Model, ONNX string
	// WithBackbone puts the network in front of the head, and WithPreprocess what makes its input of the
	// pixels of a photo in front of that.
	WithBackbone, WithPreprocess bool
}

// Exported is what Export returns.
type Exported struct {
	Method  string
	Classes int
	Bytes   int64

	lines lines
}

// Lines say what was written, for a person.
func (e *Exported) Lines() []string { return e.lines }

// Export writes the head of a model, embeddings to log-probabilities, or the whole model as one ONNX
// file.
func (s *Studio) Export(ctx context.Context, q ExportRequest) (*Exported, error) {
	r := s.begin(ctx)
	m, err := model.Load(q.Model)
	if err != nil {
		return nil, err
	}
	if err := Writable(q.ONNX); err != nil {
		return nil, err
	}
	if _, ok := m.Predictor.Head.(classifier.Exporter); !ok {
		return nil, fmt.Errorf("export %s: method %s has no ONNX form; these have: %s", q.Model, m.Method,
			strings.Join(MethodsWith[classifier.Exporter](), ", "))
	}
	metadata, err := exportMetadata(m)
	if err != nil {
		return nil, err
	}
	var b []byte
	if q.WithBackbone || q.WithPreprocess {
		b, err = r.exportWhole(m, metadata, q.WithPreprocess)
	} else {
		b, err = r.exportHead(m, metadata)
	}
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", q.Model, err)
	}
	if err := atomicfile.WriteFile(q.ONNX, b); err != nil {
		return nil, err
	}
	e := &Exported{Method: m.Method, Classes: len(m.Classes()), Bytes: int64(len(b))}
	e.lines.add("wrote %s: %s, %s, %.1f MB", q.ONNX, e.Method, plural(e.Classes, "class", "classes"),
		float64(len(b))/1e6)
	return e, nil
}

// MethodsWith returns the methods whose heads implement an optional interface.
func MethodsWith[T any]() []string {
	var names []string
	for _, m := range method.Methods() {
		head, err := method.New(m.Name, method.DefaultConfig())
		if _, ok := head.(T); ok && err == nil {
			names = append(names, m.Name)
		}
	}
	return names
}

func exportMetadata(m *model.Model) (map[string]string, error) {
	classes, err := json.Marshal(m.Classes())
	if err != nil {
		return nil, err
	}
	metadata := map[string]string{
		MetadataClasses: string(classes), MetadataMethod: m.Method, MetadataModel: m.SHA256(), MetadataT: "1",
	}
	if t := m.Predictor.Temperature; t != nil {
		metadata[MetadataT] = strconv.FormatFloat(t.T, 'g', -1, 64)
	}
	if threshold := m.UsualThreshold(); !math.IsInf(threshold, 1) {
		metadata[MetadataThreshold] = strconv.FormatFloat(threshold, 'g', -1, 64)
	}
	if sum := m.Provenance.Backbone.SHA256; sum != "" {
		metadata[MetadataBackbone] = sum
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

func (r *run) exportHead(m *model.Model, metadata map[string]string) ([]byte, error) {
	g := onnx.NewGraph("")
	if err := exportAnswers(m, g, g.Input(ExportInput, onnx.Float32, onnx.Free, int64(m.Dim()))); err != nil {
		return nil, err
	}
	return g.Model(r.producer(), metadata)
}

// exportWhole joins the head of a model to the backbone that it was trained with, and that to its
// preprocessing if that is to be part of the file.
func (r *run) exportWhole(m *model.Model, metadata map[string]string, photos bool) (b []byte, err error) {
	e, _, err := r.openFor(m)
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
	prepared := cmp.Or(m.Provenance.Preprocess, e.Provenance().Preprocess)
	if photos {
		if backbone, err = e.Extractor().WithPhotos(backbone, *prepared, ExportPhoto); err != nil {
			return nil, err
		}
	}
	spec, err := json.Marshal(prepared)
	if err != nil {
		return nil, err
	}
	metadata = maps.Clone(metadata)
	metadata[onnx.MetadataPreprocess], metadata[MetadataBackbone] = string(spec), e.Backbone().SHA256
	g := onnx.NewGraph(backbone.FreshPrefix("pipeline.head/"))
	x, err := e.Extractor().Graph(g)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{ExportOutput, ExportNovelty, ExportNew} {
		if backbone.HasTensor(name) {
			return nil, errors.New("the backbone already has a tensor named " + name + ": export the head alone")
		}
	}
	if err := exportAnswers(m, g, x); err != nil {
		return nil, err
	}
	return backbone.Extend(g, r.producer(), metadata)
}

// exportAnswers adds the outputs of a file, what the model says of the embeddings x: log-probabilities,
// novelties and the probability of being of no class if half of all are, NaN if the model cannot tell.
func exportAnswers(m *model.Model, g *onnx.Graph, x string) error {
	logProb, novelty, err := m.Predictor.Export(g, x)
	if err != nil {
		return err
	}
	column := func(tensor string) string { return g.Op("Reshape", g.Cast(tensor, onnx.Float32), g.Int64s(-1)) }
	g.Output(ExportOutput, logProb, onnx.Float32, onnx.Free, int64(len(m.Classes())))
	g.Output(ExportNovelty, column(novelty), onnx.Float32, onnx.Free)
	unseen := g.Op("Mul", novelty, g.Scalar(math.NaN()))
	if u := m.Predictor.Calibration.Unseen; u != nil {
		unseen = u.Graph(g, novelty, 0.5)
	}
	g.Output(ExportNew, column(unseen), onnx.Float32, onnx.Free)
	return nil
}

func (r *run) producer() string { return "pipeline " + r.version }
