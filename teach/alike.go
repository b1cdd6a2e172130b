package teach

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
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
	similarity, err := s.similarities(ctx, x, n)
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
		if i == except || s.photos[i].Path == "" || !s.answers(i, decided) {
			continue
		}
		if out = append(out, Neighbour{s.item(i), float64(similarity[i])}); len(out) == limit {
			break
		}
	}
	return out, nil
}

// similarities returns the cosine of an embedding and that of each of the first n photos.
func (a *album) similarities(ctx context.Context, x []float32, n int) ([]float32, error) {
	out := make([]float32, n)
	norm := blas32.Nrm2(vector(x))
	err := blocks(ctx, 0, n, func(first, last int) error {
		rows, err := a.x.read(first, last, nil)
		for i := range rows.Rows {
			v := vector(dense.Row32(rows, i))
			if length := norm * blas32.Nrm2(v); length > 0 {
				out[first+i] = blas32.Dot(v, vector(x)) / length
			}
		}
		return err
	})
	return out, err
}

// maxTypical is the most photos from which typical ones are chosen; the time grows with
// its square.
const maxTypical = 1500

const typicalOf = 60 // typical photos

// typical has the typical photos of the first n.
type typical struct {
	n     int
	place map[int]int // by row
}

// chooseTypical chooses typical photos if there are many more than at the last time.
func (s *Session) chooseTypical() {
	s.mu.RLock()
	n, known := len(s.photos), s.typical.n
	s.mu.RUnlock()
	if n == known || n < 2*known && known >= maxTypical {
		return
	}
	place, err := s.mostTypical(n)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.typical = typical{n, place}
	s.touch()
	s.mu.Unlock()
}

// mostTypical chooses among the first n photos those of which each other one is like
// some: the greedy maximum of Σ_i max_j cos(x_i, x_j) over chosen j, among a drawn part of
// all.
func (a *album) mostTypical(n int) (place map[int]int, err error) {
	drawn := dense.Range(0, n)
	if n > maxTypical {
		drawn = random.Stream(0, "typical photos").Perm(n)[:maxTypical]
		slices.Sort(drawn)
	}
	x, err := a.gather(drawn)
	if err != nil {
		return nil, err
	}
	place = map[int]int{}
	for k, i := range representatives(x, typicalOf) {
		place[drawn[i]] = k
	}
	return place, nil
}

// representatives returns at most k rows, the most representative first.
func representatives(x blas32.General, k int) []int {
	n := x.Rows
	for i := range n {
		row := vector(dense.Row32(x, i))
		if norm := blas32.Nrm2(row); norm > 0 {
			blas32.Scal(1/norm, row)
		}
	}
	like := dense.New32(n, n)
	dense.Parallel(n, func(i int) {
		for j := range n {
			like.Data[i*n+j] = blas32.Dot(vector(dense.Row32(x, i)), vector(dense.Row32(x, j)))
		}
	})
	covered := make([]float32, n)
	var chosen []int
	for len(chosen) < min(k, n) {
		gain := make([]float64, n)
		dense.Parallel(n, func(j int) {
			for i, v := range dense.Row32(like, j) {
				gain[j] += float64(max(v-covered[i], 0))
			}
		})
		best := -1
		for j, g := range gain {
			if !slices.Contains(chosen, j) && (best < 0 || g > gain[best]) {
				best = j
			}
		}
		chosen = append(chosen, best)
		for i, v := range dense.Row32(like, best) {
			covered[i] = max(covered[i], v)
		}
	}
	return chosen
}
