package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestFoldersWithoutRights: a folder that may not be read is listed with the reason, and
// refused when it is asked for.
func TestFoldersWithoutRights(t *testing.T) {
	d := newDesk(t)
	photos := filepath.Join(d.dir, "photos")
	deer := filepath.Join(photos, "deer")
	must.Do(t, os.Chmod(deer, 0))
	defer os.Chmod(deer, 0o755)
	list := func(path string) (*httptest.ResponseRecorder, error) {
		w := httptest.NewRecorder()
		return w, d.folders(w, httptest.NewRequest("GET", "/v1/folders?path="+url.QueryEscape(path), nil))
	}
	testenv.AsNobody(t, d.dir, func() {
		if _, err := list(deer); err == nil || codeOf(err) != http.StatusForbidden ||
			!strings.Contains(err.Error(), "you have no right to read it") {
			t.Errorf("the folder itself: %v", err)
		}
		w, err := list(photos)
		var a foldersAnswer
		must.Do(t, errors.Join(err, json.Unmarshal(w.Body.Bytes(), &a)))
		if len(a.Folders) != 1 || a.Folders[0].Error == nil || *a.Folders[0].Error != "you have no right to read it" {
			t.Errorf("the folder above: %s", w.Body)
		}
	})
}
