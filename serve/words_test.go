package serve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// A reader is a Wording of which "2" means photos of class 2.
type reader struct {
	reading chan struct{} // unless it is nil, reading waits until the client is gone
	closed  atomic.Int32
}

func (r *reader) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if r.reading != nil {
		r.reading <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	x, err := drawn{}.vector([]byte("IMG " + texts[0]))
	return [][]float32{x}, err
}

func (r *reader) Close() error { r.closed.Add(1); return nil }

// TestSearch: words find photos; the text side is opened once, by the first search, and
// closed at the end; a failure to open it is tried again.
func TestSearch(t *testing.T) {
	side, opened := &reader{}, 0
	s := newSite(t, func(o *Options) {
		o.Words = func() (Wording, error) {
			if opened++; opened == 1 {
				return nil, errors.New("damaged /secret/path")
			}
			return side, nil
		}
	})
	s.loaded(30)
	ask := func(q string) (int, string) {
		code, body := s.send(s.request("GET", "/v1/search?limit=5&q="+url.QueryEscape(q), "", ""))
		return code, string(body)
	}
	if code, body := ask("2"); code != http.StatusServiceUnavailable || strings.Contains(body, "secret") {
		t.Errorf("%d %s for a text side that does not open", code, body)
	}
	for _, class := range []string{"2", " 1 ", "0"} {
		var found struct{ Images []struct{ Image image } }
		s.get("/v1/search?limit=5&q="+url.QueryEscape(class), &found)
		if len(found.Images) != 5 {
			t.Fatalf("%d photos", len(found.Images))
		}
		for _, one := range found.Images {
			if got := s.truth(one.Image); got != "class "+strings.TrimSpace(class) {
				t.Errorf("found %s, of %s, for class %s", one.Image.Name, got, class)
			}
		}
	}
	for _, bad := range []string{"", "  ", strings.Repeat("x", 201), "\xff"} {
		if code, body := ask(bad); code != http.StatusBadRequest {
			t.Errorf("%.10q: %d %s", bad, code, body)
		}
	}
	if opened != 2 || !s.server.newStatus().Words {
		t.Errorf("opened %d times", opened)
	}
	s.stop()
	if side.closed.Load() != 1 {
		t.Errorf("closed %d times", side.closed.Load())
	}
}

// TestSearchEnds: a client that leaves ends its search, and those that wait for it.
func TestSearchEnds(t *testing.T) {
	side := &reader{reading: make(chan struct{})}
	s := newSite(t, func(o *Options) { o.Words = func() (Wording, error) { return side, nil } })
	s.loaded(30)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 2)
	ask := func() {
		answer, err := http.DefaultClient.Do(s.request("GET", "/v1/search?q=2", "", "").WithContext(ctx))
		if err == nil {
			answer.Body.Close()
		}
		gone <- err
	}
	go ask()
	<-side.reading
	go ask() // it waits for its turn
	leave()
	for range 2 {
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// TestNoWords: without a text side the answer says what to use instead.
func TestNoWords(t *testing.T) {
	s := newSite(t, nil)
	code, body := s.send(s.request("GET", "/v1/search?q=fox", "", ""))
	if code != http.StatusNotFound || !strings.Contains(string(body), "no text side") || s.server.newStatus().Words {
		t.Errorf("%d %s", code, body)
	}
}
