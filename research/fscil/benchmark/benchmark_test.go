package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

func TestCatalogue(t *testing.T) {
	all, err := All()
	if err != nil || len(all) != 3 {
		t.Fatalf("%d benchmarks, %v", len(all), err)
	}
	for _, l := range all {
		sessions := 0
		for name, sum := range l.Files {
			if _, err := hex.DecodeString(sum); err != nil || len(sum) != 64 {
				t.Errorf("%s/%s: %q is no SHA-256", l.Name, name, sum)
			}
			if number, ok := strings.CutPrefix(name, "session_"); ok {
				sessions++
				if l.Files["test_"+number] == "" {
					t.Errorf("%s/%s has no test list", l.Name, name)
				}
			}
		}
		if sessions*2 != len(l.Files) || !strings.HasPrefix(l.Address, "https://") ||
			!strings.HasSuffix(l.Address, "/") || l.Licence == "" {
			t.Errorf("%+v", l)
		}
	}
	if _, err := Find("imagenet"); err == nil || !strings.Contains(err.Error(), "cub200") {
		t.Errorf("error %v", err)
	}
}

// TestHashesAreThoseOfTheLists: the shared copies are the pinned ones.
func TestHashesAreThoseOfTheLists(t *testing.T) {
	dir := shared.Path(t, "data", "fscil_index_lists")
	all := must.Get(All())(t)
	for _, l := range all {
		if !l.Pulled(filepath.Join(dir, l.Name)) {
			t.Errorf("%s differs", l.Name)
		}
	}
}

// TestPull: an interrupted pull resumes, and no wrong byte gets through.
func TestPull(t *testing.T) {
	files := map[string]string{"session_1.txt": "a/1.jpg\n", "test_1.txt": "a/2.jpg\n"}
	served := map[string]int{}
	broken := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := filepath.Base(r.URL.Path)
		served[name]++
		if broken && name == "test_1.txt" {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(files[name]))
	}))
	defer server.Close()
	l := Lists{Name: "tiny", Address: server.URL + "/", Files: map[string]string{}}
	for name, text := range files {
		sum := sha256.Sum256([]byte(text))
		l.Files[name] = hex.EncodeToString(sum[:])
	}
	dir := l.Dir(t.TempDir())
	if err := l.Pull(context.Background(), dir, nil); err == nil || !strings.Contains(err.Error(), "503") ||
		l.Pulled(dir) {
		t.Errorf("error %v", err)
	}
	broken = false
	if err := l.Pull(context.Background(), dir, nil); err != nil || !l.Pulled(dir) || served["session_1.txt"] != 1 {
		t.Errorf("error %v, served %v", err, served)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "test_1.txt"), []byte("altered"), 0o644))
	files["test_1.txt"] = "a/3.jpg\n"
	if err := l.Pull(context.Background(), dir, nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error %v", err)
	}
}
