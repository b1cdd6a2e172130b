package serve

import (
	"sync"

	"github.com/seed-90d10d51/pipeline/teach/project"
)

// recent is the list of recent projects. Windows does not let a file be replaced that is open, so it
// is read and written by one at a time.
type recent struct {
	mu   sync.Mutex
	file project.Recent
}

func (r *recent) list() ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.List()
}

func (r *recent) add(dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Add(dir)
}

func (r *recent) remove(dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Remove(dir)
}
