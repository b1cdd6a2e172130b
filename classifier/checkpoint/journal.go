package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// format is that of the files of a Folder.
const format = "pipeline-training"

// A Folder is a classifier.Journal in a folder of its own. It is safe for
// concurrent use.
type Folder struct {
	// Dir is made when something is kept.
	Dir string
	// Anew does not go on with what an earlier run left.
	Anew bool
	// Say tells the user how far the work is; nil means in silence.
	Say func(message string, args ...any)

	mu   sync.Mutex
	mine map[string]bool // files that this run wrote or read
}

var _ classifier.Journal = (*Folder)(nil)

// Open implements classifier.Journal. What cannot be read counts as nothing,
// and is said.
func (f *Folder) Open(key string) (classifier.State, bool) {
	file := f.file(key)
	if f.Anew {
		return classifier.State{}, false
	}
	s, err := Read(file, format)
	if err == nil {
		return s, true
	}
	if !errors.Is(err, fs.ErrNotExist) {
		f.Note("training starts from the beginning", "checkpoint", file, "reason", err)
	}
	return s, false
}

// Save implements classifier.Journal.
func (f *Folder) Save(key string, s classifier.State) error {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return err
	}
	return Write(f.file(key), format, s)
}

// file is that of a key, from now on one of this run.
func (f *Folder) file(key string) string {
	file := filepath.Join(f.Dir, key+".safetensors")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mine == nil {
		f.mine = map[string]bool{}
	}
	f.mine[file] = true
	return file
}

// Note implements classifier.Journal.
func (f *Folder) Note(message string, args ...any) {
	if f.Say != nil {
		f.Say(message, args...)
	}
}

// Close removes what the trainings of this run left, which are finished and
// kept elsewhere, and the folder if there is nothing else in it.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all error
	for file := range f.mine {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	_, _ = atomicfile.RemoveStale(f.Dir) // leftovers of a kill
	_ = os.Remove(f.Dir)                 // others keep it
	return all
}
