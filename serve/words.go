package serve

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"
)

// A Wording turns words into embeddings that can be compared with those of photos.
type Wording interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Close() error
}

// maxWords bounds the characters of a search.
const maxWords = 200

// words is the text side of the network. Who has taken the value from turn has it to
// itself: it is opened by the first search, and reads one at a time.
type words struct {
	turn chan struct{}
	side Wording // nil before the first search
}

func newWords() words {
	w := words{turn: make(chan struct{}, 1)}
	w.turn <- struct{}{}
	return w
}

// search finds the photos nearest to words.
func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	n, err := limit(r)
	if err != nil {
		return err
	}
	switch {
	case text == "" || utf8.RuneCountInString(text) > maxWords || !utf8.ValidString(text):
		return fail(http.StatusBadRequest, "q is what to search for: 1 to %d characters", maxWords)
	case s.Words == nil:
		return fail(http.StatusNotFound, "the network of this model has no text side, so words find nothing: "+
			"/v1/images?q= finds names")
	}
	x, err := s.embedding(r.Context(), text)
	if err != nil {
		return err
	}
	near, err := s.Session.NearTo(r.Context(), x, n)
	if err != nil {
		return err
	}
	return writeNear(w, near)
}

// embedding returns that of a text.
func (s *Server) embedding(ctx context.Context, text string) ([]float32, error) {
	select {
	case <-s.words.turn:
		defer func() { s.words.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.words.side == nil {
		side, err := s.Words()
		if err != nil {
			s.Log.Error("the text side of the network cannot be used", "reason", err)
			return nil, fail(http.StatusServiceUnavailable, "words cannot be read now; the server's log says why")
		}
		s.words.side = side
	}
	rows, err := s.words.side.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// close frees the network for good, unless a search is reading it: then the end of the
// process does.
func (w words) close() error {
	select {
	case <-w.turn:
		if w.side != nil {
			return w.side.Close()
		}
	default:
	}
	return nil
}
