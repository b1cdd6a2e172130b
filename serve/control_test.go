package serve

import (
	"bytes"
	"encoding/gob"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// controlOf returns the control of a server with the key "key" that has learned nothing.
func controlOf(t testing.TB) http.Handler {
	return New(Options{Session: emptySession(t), Thumbnails: t.TempDir()}).control("key")
}

// emptySession returns one that has learned nothing.
func emptySession(t testing.TB) *teach.Session {
	t.Helper()
	m := must.Get(model.New(model.Settings{Method: "plda", Heads: method.DefaultConfig()}))(t)
	session, err := teach.Open(teach.Options{Model: t.TempDir() + "/m.model", Fresh: m, Dim: dim, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// hand sends a body to the control of a server.
func hand(control http.Handler, key string, body []byte) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/", bytes.NewReader(body))
	r.Header.Set("Authorization", key)
	control.ServeHTTP(w, r)
	return w
}

// TestControlNeedsItsKey: nobody else can change the model, and work that does not fit is refused.
func TestControlNeedsItsKey(t *testing.T) {
	control := controlOf(t)
	var body bytes.Buffer
	must.Do(t, gob.NewEncoder(&body).Encode(teach.Work{Classes: []string{"Fox"}}))
	for _, key := range []string{"", "key", "Bearer ", "Bearer other", "Bearer key2"} {
		if w := hand(control, key, body.Bytes()); w.Code != http.StatusUnauthorized {
			t.Errorf("with %q: %d", key, w.Code)
		}
	}
	if w := hand(control, "Bearer key", []byte("no work")); w.Code != http.StatusBadRequest {
		t.Errorf("what is no work: %d %s", w.Code, w.Body)
	}
	w := hand(control, "Bearer key", body.Bytes())
	var r teach.Result
	if err := gob.NewDecoder(w.Body).Decode(&r); err != nil || r.Refusal == nil || r.Refusal.Reason != teach.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTakenIsSaved: a command hears why there is no model yet, and that writing it failed.
func TestTakenIsSaved(t *testing.T) {
	s := newSite(t, nil)
	photos := s.loaded(30)
	learn := func(id byte, class string) teach.Result {
		x := dense.New32(1, dim)
		x.Data[0] = float32(id)
		return s.server.take(t.Context(), teach.Work{Import: &model.Batch{X: x, Labels: []string{class},
			Content: []model.Hash{{id}}, Paths: []string{"new"}}})
	}
	r := learn(1, "class 0")
	if r.Outcome.Added != 1 || !strings.Contains(r.Unsaved, "two classes") || r.Failure != "" {
		t.Errorf("one class: %+v", r)
	}
	s.teach(photos[:6])
	if r := learn(2, "class 1"); r.Outcome.Added != 1 || r.Unsaved != "" || r.Failure != "" {
		t.Errorf("three classes: %+v", r)
	}
	if err := os.Mkdir(s.modelFile()+".prev", 0o700); err != nil { // no file can have this name now
		t.Fatal(err)
	}
	if r := learn(3, "class 2"); r.Outcome.Added != 1 || !strings.Contains(r.Failure, "was not written") {
		t.Errorf("a save that fails: %+v", r)
	}
}

// FuzzControl: no body stops the server.
func FuzzControl(f *testing.F) {
	control := controlOf(f)
	for _, w := range []teach.Work{
		{Forget: make([]teach.ID, 2)}, {Classes: []string{"a"}},
		{Import: &model.Batch{Labels: []string{"a"}, Content: make([]model.Hash, 1)}, Prefer: "list"},
		{Import: &model.Batch{X: dense.New32(1, dim), Labels: []string{"a"}, Content: make([]model.Hash, 1),
			Paths: []string{"a"}}},
		{Import: &model.Batch{X: blas32.General{Cols: dim}, Labels: []string{"a"}, Content: make([]model.Hash, 1)}},
	} {
		var body bytes.Buffer
		must.Do(f, gob.NewEncoder(&body).Encode(w))
		f.Add(body.Bytes())
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if w := hand(control, "Bearer key", body); w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
