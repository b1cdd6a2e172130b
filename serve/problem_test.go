package serve

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// modelFile is where a site saves its model.
func (s *site) modelFile() string { return filepath.Join(s.dir, "m.model") }

// expect sends a request, which has to be answered with a code and some words, and
// without a path of this machine.
func (s *site) expect(code int, words, method, path, body string) {
	s.t.Helper()
	kind := ""
	if body != "" {
		kind = "application/json"
	}
	got, text := s.send(s.request(method, path, kind, body))
	if got != code || !bytes.Contains(text, []byte(words)) || bytes.Contains(text, []byte(s.dir)) {
		s.t.Errorf("%s %s: %d %s, want %d and %q", method, path, got, text, code, words)
	}
}

// TestSaveOutlivesItsClient: a client that goes away does not take its save with it.
func TestSaveOutlivesItsClient(t *testing.T) {
	s := newSite(t, nil)
	s.teach(s.loaded(30)[:6])
	gone, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequest("POST", "/v1/save", nil).WithContext(gone)
	r.Host = "127.0.0.1"
	s.server.Handler().ServeHTTP(httptest.NewRecorder(), r)
	if n := s.server.newStatus().Model.Unsaved; n != 0 {
		t.Errorf("%d decisions are unsaved", n)
	}
	if _, err := os.Stat(s.modelFile()); err != nil {
		t.Error(err)
	}
}

// TestSaveThatFails is in the answer, in the status and in the log, and may be repeated.
func TestSaveThatFails(t *testing.T) {
	var log lines
	s := newSite(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	photos := s.loaded(30)
	s.teach(photos[:6])
	s.expect(200, "sha256", "POST", "/v1/save", "")
	inTheWay := s.modelFile() + ".prev" // no file can have this name now
	must.Do(t, os.Mkdir(inTheWay, 0o700))
	s.teach(photos[6:8])
	if code, body := s.send(s.request("POST", "/v1/save", "", "")); code < 500 {
		t.Errorf("save: %d %s", code, body)
	}
	if now := s.server.newStatus(); now.Problem == nil || now.Model.Unsaved != 2 || now.Model.Saving {
		t.Errorf("after a save that failed: problem %v, %+v", now.Problem, now.Model)
	}
	if !strings.Contains(log.text(), "the model was not saved") {
		t.Errorf("the log says %q", log.text())
	}
	s.get("/v1/status", nil)
	s.expect(200, "ok", "GET", "/healthz", "")
	must.Do(t, os.Remove(inTheWay))
	s.expect(200, "sha256", "POST", "/v1/save", "")
	if now := s.server.newStatus(); now.Problem != nil || now.Model.Unsaved != 0 {
		t.Errorf("after saving: problem %v, %+v", now.Problem, now.Model)
	}
}

// TestModelOfAnotherProgram: the page, the API and the log say that it is not overwritten.
func TestModelOfAnotherProgram(t *testing.T) {
	var log lines
	s := newSite(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	photos := s.loaded(30)
	s.teach(photos[:6])
	s.expect(200, "sha256", "POST", "/v1/save", "")
	other := newSite(t, nil)
	other.teach(other.loaded(30)[:9])
	other.expect(200, "sha256", "POST", "/v1/save", "")
	theirs := must.Get(os.ReadFile(other.modelFile()))(t)
	must.Do(t, os.WriteFile(s.modelFile(), theirs, 0o600))
	s.teach(photos[6:8])
	for range 2 {
		s.expect(409, "another program has changed", "POST", "/v1/save", "")
	}
	if now, err := os.ReadFile(s.modelFile()); err != nil || !bytes.Equal(now, theirs) {
		t.Errorf("the model was overwritten, %v", err)
	}
	now := s.server.newStatus()
	if now.Problem == nil || !strings.Contains(*now.Problem, "another program") || now.Model.Unsaved != 2 {
		t.Errorf("problem %v, %+v", now.Problem, now.Model)
	}
	if !strings.Contains(log.text(), "another program has changed") {
		t.Errorf("the log says %q", log.text())
	}
	must.Do(t, os.Rename(s.modelFile(), s.modelFile()+".theirs"))
	s.expect(200, "sha256", "POST", "/v1/save", "")
}

// TestJournalIsGone: every decision is refused, and the health and the status say why.
func TestJournalIsGone(t *testing.T) {
	s := newSite(t, nil)
	photos := s.loaded(30)
	s.teach(photos[:6])
	journal := s.modelFile() + ".journal"
	must.Do(t, os.Rename(journal, journal+".moved"))
	const gone = "m.model.journal is gone"
	label := `{"do":"label","class":"class 0","images":["` + photos[9].ID.String() + `"]}`
	s.expect(503, gone, "POST", "/v1/decisions", label)
	s.expect(503, gone, "POST", "/v1/undo", "")
	s.expect(503, gone, "POST", "/v1/accept", `{"above":0.1}`)
	s.expect(503, gone, "POST", "/v1/back", `{"seq":2}`)
	s.expect(503, gone, "POST", "/v1/forget", `{"images":["`+photos[0].ID.String()+`"]}`)
	s.expect(503, gone, "GET", "/healthz", "")
	if now := s.server.newStatus(); now.Problem == nil || !strings.Contains(*now.Problem, gone) ||
		now.Account.Decided.Person != 6 {
		t.Errorf("problem %v, %+v", now.Problem, now.Account.Decided)
	}
	s.get("/v1/status", nil)
	must.Do(t, os.Rename(journal+".moved", journal))
	s.expect(200, "ok", "GET", "/healthz", "")
	s.expect(200, `"problem":null`, "POST", "/v1/decisions", label)
}
