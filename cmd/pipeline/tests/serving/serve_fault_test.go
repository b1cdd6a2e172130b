//go:build linux

package serving

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestServeOnAFullDisk: a save that finds no room fails and says so, on the page, in the
// log and at the end; nothing counts as saved until there is room again.
func TestServeOnAFullDisk(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 6, "a", "b")
	disk, cache := l.SmallDisk(t, "disk", 8<<20), l.SmallDisk(t, "cache", 8<<20)
	model, filler := filepath.Join(disk, "m.model"), filepath.Join(disk, "filler")
	s := serve(l, 12, model, "--images", images)
	s.name()
	// What is left of the last page of the journal has room for the lines of a save.
	if err := os.WriteFile(filler, bytes.Repeat([]byte("x"), 8<<20), 0o600); err == nil {
		t.Fatal("the disk is not small")
	}
	code, text := s.ask("POST", "/v1/save", "")
	if code != http.StatusInternalServerError || !strings.Contains(text, "no space left") {
		t.Errorf("save: %d %s", code, text)
	}
	if n, problem := s.unsaved(); n != 12 || !strings.Contains(problem, "no space left") {
		t.Errorf("%d decisions are unsaved, and the problem is %q", n, problem)
	}
	code = s.end()
	if said := s.stderr.String(); code != command.ExitFailed || !strings.Contains(said, "was not written") ||
		!strings.Contains(said, "no space left") {
		t.Errorf("exit code %d: %s", code, s.stderr)
	}
	must.Do(t, os.Remove(filler))
	s = serve(l, 12, model, "--images", images)
	if n, _ := s.unsaved(); n != 12 {
		t.Errorf("%d decisions are unsaved after the start", n)
	}
	if code, text := s.ask("POST", "/v1/save", ""); code != http.StatusOK {
		t.Errorf("save: %d %s", code, text)
	}
	if n, problem := s.unsaved(); n != 0 || problem != "" {
		t.Errorf("after saving %d decisions are unsaved, and the problem is %q", n, problem)
	}
	s.drawsWithoutRoom(cache)
	s.ends()
	if !strings.Contains(s.stderr.String(), "lacks decisions") {
		t.Errorf("the start says nothing of unsaved decisions: %s", s.stderr)
	}
	knows(l, model, 12)
}

// drawsWithoutRoom: a thumbnail is shown whether there is room to keep it or not, and nothing is kept of half of one.
func (s *served) drawsWithoutRoom(cache string) {
	s.Helper()
	ids, _ := s.photoIDs()
	filler, kept := filepath.Join(cache, "filler"), filepath.Join(cache, "thumbnails", ids[0][:2], ids[0]+".jpg")
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); err == nil {
		s.Fatal("the disk is not small")
	}
	code, first := s.ask("GET", "/v1/images/"+ids[0]+"/thumb", "")
	if w, _ := sizeOf(s.TB, first); code != http.StatusOK || w == 0 || s.Exists(kept) {
		s.Errorf("without room: %d, %d pixels wide, kept: %t", code, w, s.Exists(kept))
	}
	s.NoLeftovers(filepath.Join(cache, "thumbnails"))
	must.Do(s, os.Remove(filler))
	if code, again := s.ask("GET", "/v1/images/"+ids[0]+"/thumb", ""); code != http.StatusOK || again != first {
		s.Errorf("with room again: %d, the same picture: %t", code, again == first)
	}
	if string(s.Read(kept)) != first {
		s.Error("the thumbnail was not kept")
	}
}

// TestNoRoomForDecisions: while none can be written the answer is 503, as is the health, and the
// status, the metrics and the log say so. All of it ends with the first write that succeeds, though
// nobody decides anything.
func TestNoRoomForDecisions(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 6, "a", "b")
	disk := l.SmallDisk(t, "disk", 8<<20)
	filler := filepath.Join(disk, "filler")
	s := serve(l, 12, filepath.Join(disk, "m.model"), "--images", images)
	s.name()
	ids, _ := s.photoIDs()
	const why = "m.model.journal cannot be written"
	expect := func(code int, words, method, path, body string) {
		t.Helper()
		if got, text := s.ask(method, path, body); got != code || !strings.Contains(text, words) ||
			strings.Contains(text, disk) {
			t.Errorf("%s %s: %d %s, want %d and %q", method, path, got, text, code, words)
		}
	}
	label := `{"do":"label","class":"` + strings.Repeat("x", 200) + `","images":["` + ids[0] + `"]}`
	for range 2 {
		if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); err == nil {
			t.Fatal("the disk is not small")
		}
		code := http.StatusOK
		for range 100 { // what is left of the last page has room for a few
			if code, _ = s.ask("POST", "/v1/decisions", label); code != http.StatusOK {
				break
			}
		}
		if code != http.StatusServiceUnavailable {
			t.Fatalf("decisions are answered with %d on a full disk", code)
		}
		expect(503, why, "POST", "/v1/decisions", label)
		expect(503, why, "GET", "/healthz", "")
		expect(200, why, "GET", "/v1/status", "")
		expect(200, "\npipeline_decisions_kept 0\n", "GET", "/metrics", "")
		journal := l.Read(disk, "m.model.journal")
		must.Do(t, os.Remove(filler))
		for problem := why; problem != ""; { // by itself
			_, problem = s.unsaved()
		}
		const decision = `"do":"label"`
		now := l.Read(disk, "m.model.journal")
		if n, want := bytes.Count(now, []byte(decision)), bytes.Count(journal, []byte(decision)); n != want {
			t.Errorf("nobody decided, and the journal has %d decisions instead of %d", n, want)
		}
		expect(200, "\npipeline_decisions_kept 1\n", "GET", "/metrics", "")
		expect(200, "ok", "GET", "/healthz", "")
	}
	if _, text := s.ask("GET", "/metrics", ""); strings.Contains(text, "\npipeline_failed_writes_total 0\n") {
		t.Error("the metrics count no write that failed")
	}
	expect(200, `"problem":null`, "POST", "/v1/decisions", label)
	expect(200, "sha256", "POST", "/v1/save", "")
	s.ends()
	for _, said := range []string{"decisions cannot be kept", "decisions are kept again"} {
		if !strings.Contains(s.stderr.String(), said) {
			t.Errorf("the log does not say %q: %s", said, s.stderr)
		}
	}
}
