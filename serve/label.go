package serve

import (
	"context"
	"net/http"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	pixels "github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A request waits for the embeddings of its photos.
type request struct {
	files [][]byte
	reply chan reply
}

type reply struct {
	items []pixels.Item
	err   error
}

// maxTogether is the most photos of several requests that are embedded together.
const maxTogether = 32

// compute embeds the photos of requests. Those that come while others are computed
// are computed together.
func (s *Server) compute(ctx context.Context) {
	for {
		var waiting []*request
		select {
		case r := <-s.batches:
			waiting = append(waiting, r)
		case <-ctx.Done():
			return
		}
		n := len(waiting[0].files)
		for more := true; more && n < maxTogether; {
			select {
			case r := <-s.batches:
				waiting, n = append(waiting, r), n+len(r.files)
			default:
				more = false
			}
		}
		s.metrics.batch(n)
		s.answer(ctx, waiting)
	}
}

func (s *Server) answer(ctx context.Context, waiting []*request) {
	var files [][]byte
	for _, r := range waiting {
		files = append(files, r.files...)
	}
	items, err := s.Embedder.EmbedContents(ctx, files)
	for _, r := range waiting {
		if err != nil {
			r.reply <- reply{err: err}
			continue
		}
		r.reply <- reply{items: items[:len(r.files):len(r.files)]}
		items = items[len(r.files):]
	}
}

// embed returns the embeddings of photos, all of which must be readable. However long that
// took, there is time for the answer.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) (photos []sent, items []pixels.Item, err error) {
	photos, release, err := s.photos(w, r)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	defer func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTime)) }()
	q := &request{reply: make(chan reply, 1)}
	for _, p := range photos {
		q.files = append(q.files, p.data)
	}
	select {
	case s.batches <- q:
	case <-r.Context().Done():
		return nil, nil, r.Context().Err()
	}
	select {
	case a := <-q.reply:
		items, err = a.items, a.err
	case <-r.Context().Done():
		err = r.Context().Err()
	}
	for i, item := range items {
		if item.Err != nil {
			return nil, nil, fail(http.StatusUnprocessableEntity, "photo %d %s: %v", i+1, photos[i].name, item.Err)
		}
	}
	return photos, items, err
}

func matrix(items []pixels.Item) blas32.General {
	x := dense.New32(len(items), len(items[0].Vector))
	for i, item := range items {
		copy(dense.Row32(x, i), item.Vector)
	}
	return x
}

func (s *Server) label(w http.ResponseWriter, r *http.Request) error {
	top, err := number(r, "top", 1, 100, 5)
	if err != nil {
		return err
	}
	photos, items, err := s.embed(w, r)
	if err != nil {
		return err
	}
	predictions, unknown, err := s.Session.Score(matrix(items), top)
	if err != nil {
		return err
	}
	s.metrics.labelled.Add(len(items))
	out := make([]labelled, len(items))
	for i, p := range predictions {
		out[i] = labelled{teach.ID(items[i].Hash), photos[i].name, p.Label, p.Probability, ranking(p.TopK), p.Novelty,
			unknown[i]}
	}
	writeJSON(w, http.StatusOK, map[string]any{"images": out})
	return nil
}

func (s *Server) learn(w http.ResponseWriter, r *http.Request) error {
	_, items, err := s.embed(w, r)
	if err != nil {
		return err
	}
	ids, vectors := make([]teach.ID, len(items)), make([][]float32, len(items))
	for i, item := range items {
		ids[i], vectors[i] = teach.ID(item.Hash), item.Vector
	}
	line, err := s.Session.Teach(ids, vectors, r.URL.Query().Get("class"))
	return s.done(w, line, err)
}

func (s *Server) similarTo(w http.ResponseWriter, r *http.Request) error {
	n, err := limit(r)
	if err != nil {
		return err
	}
	_, items, err := s.embed(w, r)
	if err != nil {
		return err
	}
	if len(items) != 1 {
		return fail(http.StatusBadRequest, "send one photo")
	}
	near, err := s.Session.NearTo(r.Context(), items[0].Vector, n)
	if err != nil {
		return err
	}
	return writeNear(w, near)
}
