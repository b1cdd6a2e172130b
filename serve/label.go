package serve

import (
	"net/http"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

func (s *Server) label(w http.ResponseWriter, r *http.Request) error {
	if _, err := modelAsked(r, s.modelName()); err != nil {
		return err
	}
	top, err := topOf(r)
	if err != nil {
		return err
	}
	photos, items, err := s.embed(w, r)
	if err != nil {
		return err
	}
	return s.writeLabels(w, photos, items, func(x blas32.General) ([]model.Judgement, error) {
		return s.Session.Score(x, top)
	})
}

// topOf reads the parameter top.
func topOf(r *http.Request) (int, error) { return number(r, "top", 1, 100, 5) }

// writeLabels answers what a model says of photos; each that cannot be read has its own error.
func (in *intake) writeLabels(w http.ResponseWriter, photos []sent, items []pixels.Item,
	judge func(x blas32.General) ([]model.Judgement, error)) error {
	fine := readable(items)
	var said []model.Judgement
	if len(fine) > 0 {
		var err error
		if said, err = judge(matrix(fine)); err != nil {
			return err
		}
	}
	in.metrics.labelled.Add(len(fine))
	writeEach(w, photos, items, func(i int) any {
		j := said[0]
		said = said[1:]
		return labelled{teach.ID(items[i].Hash), photos[i].name, j.Label, min(j.Probability, 1), ranking(j.TopK),
			j.Novelty, j.Unknown, j.New}
	})
	return nil
}

// writeEach answers with an entry for each photo, in order: what entry returns, or why it cannot be
// read.
func writeEach(w http.ResponseWriter, photos []sent, items []pixels.Item, entry func(i int) any) {
	out := make([]any, len(items))
	for i, item := range items {
		if item.Err != nil {
			out[i] = newUnread(photos[i], item)
		} else {
			out[i] = entry(i)
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"images": out})
}

// writeEmbeddings answers with the embeddings of photos.
func writeEmbeddings(w http.ResponseWriter, photos []sent, items []pixels.Item) {
	writeEach(w, photos, items, func(i int) any {
		return embedded{teach.ID(items[i].Hash), photos[i].name, items[i].Vector}
	})
}

// modelName is how requests call the model.
func (s *Server) modelName() string { return strings.TrimSuffix(s.Name, ".model") }

// models answers the one model that is taught here.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) error {
	one := served{s.modelName(), s.Session.Status().Method, []string{}}
	for _, c := range s.Session.Classes() {
		one.Classes = append(one.Classes, c.Name)
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": []served{one}})
	return nil
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) error {
	if _, err := modelAsked(r, s.modelName()); err != nil {
		return err
	}
	photos, items, err := s.embed(w, r)
	if err != nil {
		return err
	}
	writeEmbeddings(w, photos, items)
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
