package serve

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// damaged are the files of the folder that could not be read as photos, and why.
type damaged struct {
	mu  sync.Mutex
	why map[string]error // by path
}

// set notes why a file could not be read, nil if it could.
func (d *damaged) set(path string, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why == nil {
		delete(d.why, path)
		return
	}
	if d.why == nil {
		d.why = map[string]error{}
	}
	d.why[path] = why
}

func (d *damaged) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.why)
}

// unreadableFiles answers with the files that could not be read, by name, and why.
func (s *Server) unreadableFiles(w http.ResponseWriter, r *http.Request) error {
	n, err := limit(r)
	if err != nil {
		return err
	}
	type file struct {
		Path   string `json:"path"`
		Reason string `json:"reason"`
	}
	s.unreadable.mu.Lock()
	defer s.unreadable.mu.Unlock()
	files := []file{}
	for _, path := range slices.Sorted(maps.Keys(s.unreadable.why)) {
		if len(files) == n {
			break
		}
		files = append(files, file{dataset.EscapePath(path), withoutPath(s.unreadable.why[path]).Error()})
	}
	writeJSON(w, http.StatusOK, map[string]any{"files": files, "total": len(s.unreadable.why)})
	return nil
}
