package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// TestForgetOutlivesItsRequest: a browser that is closed meanwhile leaves no trace of
// the photo in the model.
func TestForgetOutlivesItsRequest(t *testing.T) {
	s := newSite(t, nil)
	photos := s.loaded(30)
	s.teach(photos[:12])
	s.post("/v1/save", nil, nil)
	body := must.Get(json.Marshal(map[string]any{"images": []teach.ID{photos[0].ID}}))(t)
	closed, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(closed, "POST", "/v1/forget", strings.NewReader(string(body)))
	r.Host = "127.0.0.1"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.server.Handler().ServeHTTP(w, r)
	m := must.Get(model.Load(filepath.Join(s.dir, "m.model")))(t)
	if classes := m.LearnedAs()(model.Hash(photos[0].ID)); w.Code != http.StatusOK || len(classes) > 0 ||
		m.SampleCount() != 11 {
		t.Errorf("%d %s: of %d photos one is still %v", w.Code, w.Body, m.SampleCount(), classes)
	}
}
