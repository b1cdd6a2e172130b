package serve

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// TestMetrics: each sample has a type and a value, and they are those of the server.
func TestMetrics(t *testing.T) {
	s := newSite(t, nil)
	s.teach(s.loaded(30)[:6])
	s.into(s.request("POST", "/v1/label", "image/jpeg", "IMG 1 x"), nil)
	s.send(s.request("GET", "/v1/images?limit=0", "", ""))
	_, text := s.send(s.request("GET", "/metrics", "", ""))
	typed, values := map[string]bool{}, map[string]float64{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			typed[strings.Fields(rest)[0]] = true
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseFloat(line[at+1:], 64)
		name, _, _ := strings.Cut(line[:at], "{")
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, part); ok && typed[base] {
				name = base
			}
		}
		if err != nil || !typed[name] {
			t.Errorf("%s: %v", line, err)
		}
		values[line[:at]] = v
	}
	wants := map[string]float64{
		"pipeline_photos": 30, "pipeline_photos_failed": 1, "pipeline_classes": 3, "pipeline_labels_person": 6,
		"pipeline_labelled_total": 1,
		`pipeline_requests_total{method="POST",route="/v1/label",code="200"}`:     1,
		`pipeline_requests_total{method="POST",route="/v1/decisions",code="200"}`: 6,
		`pipeline_requests_total{method="GET",route="/v1/images",code="400"}`:     1,
	}
	wants[`pipeline_request_seconds_bucket{route="/v1/decisions",le="+Inf"}`] = 6
	wants[`pipeline_request_seconds_count{route="/v1/label"}`] = 1
	for name, want := range wants {
		if values[name] != want || want == 0 {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
}

// TestHealth: a server that cannot keep decisions any more asks to be restarted.
func TestHealth(t *testing.T) {
	m := must.Get(model.New(model.Settings{Method: "plda", Heads: method.DefaultConfig()}))(t)
	session, err := teach.Open(teach.Options{Model: t.TempDir() + "/m.model", Fresh: m, Dim: dim, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	handler := New(Options{Session: session}).Handler()
	get := func() int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/healthz", nil)
		r.Host = "127.0.0.1"
		handler.ServeHTTP(w, r)
		return w.Code
	}
	if code := get(); code != http.StatusOK {
		t.Errorf("at the start: %d", code)
	}
	if err := session.Close(); err != nil { // so that its file cannot be written
		t.Fatal(err)
	}
	if _, err := session.Teach([]teach.ID{{1}}, [][]float32{make([]float32, dim)}, "x"); err == nil {
		t.Error("a closed journal was written")
	}
	if code := get(); code != http.StatusServiceUnavailable {
		t.Errorf("with a journal that cannot be written: %d", code)
	}
}

// A stuck Embedder ends only with its context.
type stuck struct {
	drawn
	entered chan struct{}
}

func (s stuck) EmbedContents(ctx context.Context, _ [][]byte) ([]pixels.Item, error) {
	s.entered <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestStops: the server ends while a page listens, a photo is computed, another is
// half sent, and a connection is idle.
func TestStops(t *testing.T) {
	entered := make(chan struct{}, 1)
	s := newSite(t, func(o *Options) { o.Embedder = stuck{entered: entered} })
	s.loaded(30)
	events := must.Get(http.Get(s.url + "/v1/events"))(t)
	defer events.Body.Close()
	answered := make(chan int, 1)
	go func() {
		answer, err := http.Post(s.url+"/v1/label", "image/jpeg", strings.NewReader("IMG 1 x"))
		if err != nil {
			answered <- 0
			return
		}
		answer.Body.Close()
		answered <- answer.StatusCode
	}()
	<-entered
	for _, sent := range []string{"",
		"POST /v1/label HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/jpeg\r\nContent-Length: 100\r\n\r\nIMG"} {
		c := must.Get(net.Dial("tcp", strings.TrimPrefix(s.url, "http://")))(t)
		must.Get(io.WriteString(c, sent))(t)
		defer c.Close()
	}
	begun := time.Now()
	s.stop()
	t.Logf("it took %v", time.Since(begun))
	if code := <-answered; code != http.StatusServiceUnavailable && code != 0 {
		t.Errorf("the photo that was computed: %d", code)
	}
}
