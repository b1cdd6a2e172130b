//go:build unix

package benchmark

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

func TestPullOntoAFullDisk(t *testing.T) {
	if !testenv.Alone(t) {
		return
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(text)) }))
	defer s.Close()
	l, dir := lists(s.URL+"/"), t.TempDir()
	end := testenv.FullDisk(t, 5)
	err := l.Pull(context.Background(), dir, nil)
	end()
	if err == nil || !strings.Contains(err.Error(), dir+" has no room, the download needs 16 bytes more") {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if err := l.Pull(context.Background(), dir, nil); err != nil || !l.Pulled(dir) {
		t.Errorf("with room again: %v", err)
	}
}
