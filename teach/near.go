package teach

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Neighbour is a photo and its similarity, the cosine of the embeddings.
type Neighbour struct {
	Item
	Similarity float64
}

// Near returns the photos most like a photo of the folder.
func (s *Session) Near(ctx context.Context, id ID, decided *bool, limit int) ([]Neighbour, error) {
	s.mu.RLock()
	at, ok := s.index[id]
	s.mu.RUnlock()
	if !ok {
		return nil, refuse(Unknown, "there is no photo %s", id)
	}
	x, err := s.x.read(at, at+1, nil)
	if err != nil {
		return nil, err
	}
	return s.near(ctx, x.Data, at, decided, limit)
}

// NearTo returns the photos most like an embedding.
func (s *Session) NearTo(ctx context.Context, x []float32, limit int) ([]Neighbour, error) {
	return s.near(ctx, x, -1, nil, limit)
}

func (s *Session) near(ctx context.Context, x []float32, except int, decided *bool, limit int) ([]Neighbour, error) {
	s.mu.RLock()
	n := len(s.photos)
	s.mu.RUnlock()
	similarity := make([]float32, n)
	norm := blas32.Nrm2(vector(x))
	err := blocks(ctx, 0, n, func(first, last int) error {
		rows, err := s.x.read(first, last, nil)
		for i := range rows.Rows {
			v := vector(dense.Row32(rows, i))
			if length := norm * blas32.Nrm2(v); length > 0 {
				similarity[first+i] = blas32.Dot(v, vector(x)) / length
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	best := dense.Range(0, n)
	slices.SortFunc(best, func(a, b int) int {
		return cmp.Or(cmp.Compare(similarity[b], similarity[a]), cmp.Compare(a, b))
	})
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := []Neighbour{}
	for _, i := range best {
		_, has := s.state.marks[s.photos[i].ID]
		if i == except || s.photos[i].Path == "" || decided != nil && has != *decided {
			continue
		}
		if out = append(out, Neighbour{s.item(i), float64(similarity[i])}); len(out) == limit {
			break
		}
	}
	return out, nil
}

// Score returns the predictions of the live model for embeddings; a *Refusal if
// there is none.
func (s *Session) Score(x blas32.General, top int) ([]classifier.Prediction, []bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.live == nil {
		return nil, nil, refuse(Conflict, "there is no model yet: name photos of two classes first")
	}
	p, err := classifier.Predict(s.live.Predictor, x, top)
	unknown := make([]bool, len(p))
	for i := range p {
		unknown[i] = p[i].Novelty > s.live.threshold
	}
	return p, unknown, err
}
