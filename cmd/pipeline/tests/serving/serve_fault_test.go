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
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Remove(filler); err != nil {
		s.Fatal(err)
	}
	if code, again := s.ask("GET", "/v1/images/"+ids[0]+"/thumb", ""); code != http.StatusOK || again != first {
		s.Errorf("with room again: %d, the same picture: %t", code, again == first)
	}
	if string(s.Read(kept)) != first {
		s.Error("the thumbnail was not kept")
	}
}
