package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// serviceOf serves two models, "cats" and "dogs", whose photos a network computes. What the site knows of
// answers checks those of the service.
func serviceOf(t *testing.T, n Network) (*site, *Service, func()) {
	t.Helper()
	taught := newSite(t, nil)
	taught.teach(taught.loaded(30)[:15])
	score := taught.server.Session.Score
	service := NewService(DefaultConfig(), slog.New(slog.DiscardHandler), "1.2.3",
		Answerer{"cats", "plda", []string{"class 0", "class 1", "class 2"}, n, score},
		Answerer{"dogs", "plda", []string{"class 0", "class 1", "class 2"}, n, score})
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.serve(ctx, l) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	s := &site{t: t, dir: taught.dir, url: "http://" + l.Addr().String(), seen: map[string]bool{}}
	s.describe()
	return s, service, stop
}

// TestServiceLabels: each photo has its own answer, by the model that the request names.
func TestServiceLabels(t *testing.T) {
	s, _, _ := serviceOf(t, drawn{})
	var listed struct{ Models []served }
	s.get("/v1/models", &listed)
	if len(listed.Models) != 2 || listed.Models[1].Name != "dogs" || len(listed.Models[1].Classes) != 3 {
		t.Errorf("models: %+v", listed)
	}
	kind, body := form("IMG 0 a", "no photo", "IMG 2 b")
	var answer struct {
		Images []struct {
			labelled
			Error     string
			Embedding []float32
		}
	}
	s.into(s.request("POST", "/v1/label?model=cats&top=2", kind, body), &answer)
	if a := answer.Images; len(a) != 3 || a[0].Label != "class 0" || len(a[0].Top) != 2 || a[1].Error == "" ||
		a[2].Label != "class 2" || a[2].Name != "2.jpg" {
		t.Errorf("label: %+v", answer)
	}
	s.into(s.request("POST", "/v1/embed?model=dogs", kind, body), &answer)
	want := must.Get(drawn{}.vector([]byte("IMG 2 b")))(t)
	if a := answer.Images; len(a) != 3 || a[1].Error == "" || !slices.Equal(a[2].Embedding, want) {
		t.Errorf("embed: %+v", answer)
	}
	s.expectPhoto(http.StatusBadRequest, "one of cats, dogs", "/v1/label", "IMG 1 x")
	s.expectPhoto(http.StatusNotFound, "cats, dogs", "/v1/embed?model=birds", "IMG 1 x")
	s.expectPhoto(http.StatusUnprocessableEntity, "cannot be used", "/v1/label?model=cats", "no photo")
	s.expect(http.StatusOK, "ok", "GET", "/healthz", "")
	s.expect(http.StatusOK, "ok", "GET", "/readyz", "")
	s.expect(http.StatusOK, "openapi: 3", "GET", "/openapi.yaml", "")
	code, text := s.send(s.request("GET", "/metrics", "", ""))
	for _, want := range []string{
		`pipeline_request_seconds_count{route="/v1/label"} 3`, "pipeline_labelled_total 2", `version="1.2.3"`,
		"\ngo_goroutines ", "\nprocess_",
	} {
		if code != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("/metrics lacks %q: %d %s", want, code, text)
		}
	}
}

func (s *site) expectPhoto(code int, words, path, photo string) {
	s.t.Helper()
	got, text := s.send(s.request("POST", path, "image/jpeg", photo))
	if got != code || !strings.Contains(string(text), words) {
		s.t.Errorf("%s: %d %s, want %d and %q", path, got, text, code, words)
	}
}

// TestWrongMethods are refused with those that the route has, by pages and services.
func TestWrongMethods(t *testing.T) {
	service, _, _ := serviceOf(t, drawn{})
	page := newSite(t, nil)
	for _, c := range []struct{ url, method, path, allow string }{
		{service.url, "GET", "/v1/label", "POST"}, {service.url, "DELETE", "/v1/models", "GET, HEAD"},
		{service.url, "POST", "/metrics", "GET, HEAD"}, {page.url, "GET", "/v1/decisions", "POST"},
		{page.url, "PUT", "/v1/images/00/thumb", "GET, HEAD"}, {page.url, "DELETE", "/v1/map", "GET, HEAD, POST"},
		{page.url, "POST", "/index.html", "GET, HEAD"},
	} {
		r := must.Get(http.NewRequest(c.method, c.url+c.path, nil))(t)
		answer := must.Get(http.DefaultClient.Do(r))(t)
		var said struct{ Error string }
		err := json.NewDecoder(answer.Body).Decode(&said)
		answer.Body.Close()
		if answer.StatusCode != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != c.allow || err != nil ||
			said.Error == "" {
			t.Errorf("%s %s: %d, Allow %q, %+v, %v", c.method, c.path, answer.StatusCode, answer.Header.Get("Allow"),
				said, err)
		}
	}
	for _, path := range []string{"/v1/none", "/v1/status", "/"} {
		answer := must.Get(http.Get(service.url + path))(t)
		answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s of a service without photos: %d", path, answer.StatusCode)
		}
	}
	if code, _ := page.send(page.request("POST", "/v1/label?model=other", "image/jpeg", "IMG 1 x")); code !=
		http.StatusNotFound {
		t.Errorf("another model of a page: %d", code)
	}
}

// A waiting network computes once it is let go.
type waiting struct {
	drawn
	begun, letGo chan struct{}
}

func (h waiting) EmbedContents(ctx context.Context, files [][]byte) ([]pixels.Item, error) {
	h.begun <- struct{}{}
	<-h.letGo
	return h.drawn.EmbedContents(ctx, files)
}

// TestServiceFinishes: a service that is told to end answers what it has begun, and is not ready for more.
func TestServiceFinishes(t *testing.T) {
	h := waiting{begun: make(chan struct{}), letGo: make(chan struct{})}
	s, service, stop := serviceOf(t, h)
	answered := make(chan string, 1)
	go func() {
		answer, err := http.Post(s.url+"/v1/label?model=cats", "image/jpeg", strings.NewReader("IMG 1 x"))
		if err != nil {
			answered <- err.Error()
			return
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		answered <- fmt.Sprintln(answer.StatusCode, string(text), err)
	}()
	<-h.begun
	if service.ready(nullWriter{http.Header{}}, nil) != nil {
		t.Error("not ready before the end")
	}
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	for !service.stopping.Load() {
		select {
		case <-stopped:
			t.Fatal("ended before it was let go")
		default:
		}
	}
	var refused *failure
	if err := service.ready(nil, nil); !errors.As(err, &refused) || refused.code != http.StatusServiceUnavailable {
		t.Errorf("ready while it stops: %v", err)
	}
	close(h.letGo)
	if text := <-answered; !strings.HasPrefix(text, "200 ") || !strings.Contains(text, `"class 1"`) {
		t.Errorf("a request that had begun: %s", text)
	}
	<-stopped
	if _, err := http.Get(s.url + "/healthz"); err == nil {
		t.Error("it still listens")
	}
}

// A nullWriter is nobody who listens.
type nullWriter struct{ header http.Header }

func (n nullWriter) Header() http.Header         { return n.header }
func (n nullWriter) Write(b []byte) (int, error) { return len(b), nil }
func (n nullWriter) WriteHeader(int)             {}

// TestManyClients: every one of many requests at the same time has the answer to its own photo.
func TestManyClients(t *testing.T) {
	s, _, _ := serviceOf(t, drawn{})
	var clients sync.WaitGroup
	for c := range 64 {
		clients.Go(func() {
			for i := range 10 {
				photo := fmt.Sprintf("IMG %d %d-%d", (c+i)%3, c, i)
				answer, err := http.Post(s.url+"/v1/label?model=dogs", "image/jpeg", strings.NewReader(photo))
				if err != nil {
					t.Error(err)
					return
				}
				var said struct{ Images []labelled }
				err = json.NewDecoder(answer.Body).Decode(&said)
				answer.Body.Close()
				want := fmt.Sprintf("class %d", (c+i)%3)
				if err != nil || len(said.Images) != 1 || said.Images[0].Label != want {
					t.Errorf("%s: %+v, %v, want %s", photo, said, err, want)
				}
			}
		})
	}
	clients.Wait()
}
