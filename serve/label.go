package serve

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/preprocess"
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

// embed returns the embeddings of photos. One that cannot be read alone is an error; of several in a
// form each has its own. However long that took, there is time for the answer.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) (photos []sent, items []pixels.Item, err error) {
	photos, release, err := s.photos(w, r)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	defer func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTime)) }()
	var files [][]byte
	items = make([]pixels.Item, len(photos))
	for i, p := range photos {
		if items[i].Err = s.accepts(p.data); items[i].Err != nil {
			items[i].Hash = cache.HashOf(p.data)
		} else {
			files = append(files, p.data)
		}
	}
	computed, err := s.computed(r.Context(), files)
	for i := range items {
		if err == nil && items[i].Err == nil {
			items[i], computed = computed[0], computed[1:]
		}
	}
	if err == nil && !photos[0].part && items[0].Err != nil {
		err = fail(http.StatusUnprocessableEntity, "the photo cannot be used: %v", items[0].Err)
	}
	return photos, items, err
}

// accepts returns an error if photos of requests may not have the format of the file.
func (s *Server) accepts(file []byte) error {
	if len(s.Formats) == 0 {
		return nil
	}
	format, err := preprocess.FormatOf(file)
	if err == nil && !slices.Contains(s.Formats, format) {
		err = fmt.Errorf("this is %s, and serve.formats allows %s", format, strings.Join(s.Formats, ", "))
	}
	return err
}

// computed waits for the embeddings of files.
func (s *Server) computed(ctx context.Context, files [][]byte) ([]pixels.Item, error) {
	if len(files) == 0 {
		return nil, nil
	}
	q := &request{files: files, reply: make(chan reply, 1)}
	select {
	case s.batches <- q:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-q.reply:
		return a.items, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readable returns the items that have an embedding.
func readable(items []pixels.Item) []pixels.Item {
	return slices.DeleteFunc(slices.Clone(items), func(item pixels.Item) bool { return item.Err != nil })
}

// matrix has a row for each of one or more items.
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
	fine := readable(items)
	var predictions []classifier.Prediction
	var unknown []bool
	if len(fine) > 0 {
		if predictions, unknown, err = s.Session.Score(matrix(fine), top); err != nil {
			return err
		}
	}
	s.metrics.labelled.Add(len(fine))
	out := make([]any, len(items))
	for i, item := range items {
		if item.Err != nil {
			out[i] = newUnread(photos[i], item)
			continue
		}
		p := predictions[0]
		out[i] = labelled{teach.ID(item.Hash), photos[i].name, p.Label, p.Probability, ranking(p.TopK), p.Novelty,
			unknown[0]}
		predictions, unknown = predictions[1:], unknown[1:]
	}
	writeJSON(w, http.StatusOK, map[string]any{"images": out})
	return nil
}

// learn teaches the photos that can be read, and says which cannot.
func (s *Server) learn(w http.ResponseWriter, r *http.Request) error {
	photos, items, err := s.embed(w, r)
	if err != nil {
		return err
	}
	var ids []teach.ID
	var vectors [][]float32
	failed := []unread{}
	for i, item := range items {
		if item.Err != nil {
			failed = append(failed, newUnread(photos[i], item))
			continue
		}
		ids, vectors = append(ids, teach.ID(item.Hash)), append(vectors, item.Vector)
	}
	if len(ids) == 0 {
		return fail(http.StatusUnprocessableEntity, "none of the %d photos can be used; the first, %s: %s", len(items),
			failed[0].Name, failed[0].Error)
	}
	line, err := s.Session.Teach(ids, vectors, r.URL.Query().Get("class"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK,
		map[string]any{"step": newStep(teach.Step{Line: line}), "status": s.newStatus(), "failed": failed})
	return nil
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
	if items[0].Err != nil {
		return fail(http.StatusUnprocessableEntity, "the photo cannot be used: %v", items[0].Err)
	}
	near, err := s.Session.NearTo(r.Context(), items[0].Vector, n)
	if err != nil {
		return err
	}
	return writeNear(w, near)
}
