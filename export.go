package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// Names inside an exported file, described in docs/formats-model.md.
const (
	ExportInput      = "embedding"
	ExportOutput     = "log_probabilities"
	MetadataClasses  = "pipeline.classes"
	MetadataMethod   = "pipeline.method"
	MetadataModel    = "pipeline.model_sha256"
	MetadataBackbone = "pipeline.backbone_sha256"
)

// An ExportRequest says where to write a model as one ONNX file.
type ExportRequest struct {
	Model, ONNX string
	// WithBackbone puts the network in front of the head.
	WithBackbone bool
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
	if q.WithBackbone {
		b, err = r.exportWhole(m, metadata)
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
	metadata := map[string]string{MetadataClasses: string(classes), MetadataMethod: m.Method, MetadataModel: m.SHA256()}
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
	out, err := m.Predictor.Export(g, g.Input(ExportInput, onnx.Float32, onnx.Free, int64(m.Dim())))
	if err != nil {
		return nil, err
	}
	g.Output(ExportOutput, out, onnx.Float32, onnx.Free, int64(len(m.Classes())))
	return g.Model(r.producer(), metadata)
}

// exportWhole joins the head of a model to the backbone that it was trained with.
func (r *run) exportWhole(m *model.Model, metadata map[string]string) (b []byte, err error) {
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
	spec, err := json.Marshal(cmp.Or(m.Provenance.Preprocess, e.Provenance().Preprocess))
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
	out, err := m.Predictor.Export(g, x)
	if err != nil {
		return nil, err
	}
	if backbone.HasTensor(ExportOutput) {
		return nil, errors.New("the backbone already has a tensor named " + ExportOutput + ": export the head alone")
	}
	g.Output(ExportOutput, out, onnx.Float32, onnx.Free, int64(len(m.Classes())))
	return backbone.Extend(g, r.producer(), metadata)
}

func (r *run) producer() string { return "pipeline " + r.version }
