package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/model"
)

// A Service is models with their networks, open to label photos that come one request at a time. It
// learns nothing. It is safe for concurrent use.
type Service struct {
	Models []*ServedModel

	networks []*embedding.Embedder
}

// A ServedModel is one of the models of a Service.
type ServedModel struct {
	*Model
	// Name is that of its file, without .model at the end.
	Name string
	// Embedder is shared by models of the same network.
	Embedder *embedding.Embedder

	threshold float64
}

// OpenService opens models, each from a file, and their networks, which end with ctx. Close it after use.
func (s *Studio) OpenService(ctx context.Context, files ...string) (service *Service, err error) {
	r := s.begin(ctx)
	service = &Service{}
	defer func() {
		if err != nil {
			service, err = nil, errors.Join(err, service.Close())
		}
	}()
	known := map[string]*embedding.Embedder{}
	for _, file := range files {
		m, err := s.Load(ctx, file)
		if err != nil {
			return service, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".model")
		if slices.ContainsFunc(service.Models, func(other *ServedModel) bool { return other.Name == name }) {
			return service, misuse("two models are called %q: a request could not say which it asks; rename a file",
				name)
		}
		if len(m.Classes()) == 0 {
			return service, misuse("%s has no classes: teach it some first", file)
		}
		origin, err := json.Marshal(m.trained.Provenance)
		if err != nil {
			return service, err
		}
		e := known[string(origin)]
		if e == nil {
			if e, _, err = r.openFor(m.trained); err != nil {
				return service, err
			}
			known[string(origin)], service.networks = e, append(service.networks, e)
		}
		service.Models = append(service.Models, &ServedModel{m, name, e, m.trained.UsualThreshold()})
	}
	return service, nil
}

// Score returns what the model says of embeddings (n×d), with the top most probable classes.
func (m *ServedModel) Score(x blas32.General, top int) ([]model.Judgement, error) {
	return m.trained.Predictor.Judge(x, top, m.threshold)
}

// Close closes the networks.
func (s *Service) Close() (err error) {
	for _, e := range s.networks {
		err = errors.Join(err, e.Close())
	}
	return err
}
