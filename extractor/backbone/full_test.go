//go:build unix

package backbone

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A full disk ends a pull with the folder and the room it needs; the next pull
// resumes.
func TestPullOntoAFullDisk(t *testing.T) {
	if !testenv.Alone(t) {
		return
	}
	const room = 100_000
	dir := t.TempDir()
	s := serve(t, whole)
	end := testenv.FullDisk(t, room)
	_, err := pullInto(t, dir, entry(s.URL, s.URL))
	end()
	for _, want := range []string{dir + " has no room", fmt.Sprintf("%d bytes more", len(content())-room),
		fmt.Sprintf("%d bytes are saved", room), "another folder for the cache"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	if len(s.ranges) != 1 {
		t.Errorf("%d requests", len(s.ranges))
	}
	path, err := pullInto(t, dir, entry(s.URL))
	checkPulled(t, path, err)
	if last := s.ranges[len(s.ranges)-1]; last != fmt.Sprintf("bytes=%d-", room) {
		t.Errorf("the last request was for %q", last)
	}
}
