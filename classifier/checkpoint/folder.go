package checkpoint

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// A Folder is a classifier.Checkpoint in a dedicated folder. It is safe for
// concurrent use.
type Folder struct {
	// Dir is created by the first Save.
	Dir string
	// Restart ignores what earlier runs left.
	Restart bool
	// Say tells the user about progress; nil means silence.
	Say func(message string, args ...any)

	mu    sync.Mutex
	saved map[string]bool // by name of each part that this run used: whether it saved it
}

var _ classifier.Checkpoint = (*Folder)(nil)

// File returns the file of a part.
func (f *Folder) File(name string) string {
	return filepath.Join(f.Dir, filepath.FromSlash(name)+".safetensors")
}

// Load implements classifier.Checkpoint. It reports a file that cannot be used.
func (f *Folder) Load(name, key string) (classifier.State, bool) {
	if !f.touch(name, false) && f.Restart {
		return classifier.State{}, false
	}
	s, err := read(f.File(name), key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Note("training starts from the beginning", "checkpoint", f.File(name), "reason", err)
	}
	return s, err == nil
}

// Save implements classifier.Checkpoint.
func (f *Folder) Save(name, key string, s classifier.State) error {
	f.touch(name, true)
	return write(f.File(name), key, s)
}

// Remove deletes a part if it exists.
func (f *Folder) Remove(name string) error {
	err := atomicfile.Remove(f.File(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// touch records that this run uses a part and reports whether it has saved it.
func (f *Folder) touch(name string, saved bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.saved == nil {
		f.saved = map[string]bool{}
	}
	f.saved[name] = f.saved[name] || saved
	return f.saved[name]
}

// Note implements classifier.Checkpoint.
func (f *Folder) Note(message string, args ...any) {
	if f.Say != nil {
		f.Say(message, args...)
	}
}

// Close removes the parts of this run, whose results are stored elsewhere by
// now, and the folder if nothing else is in it.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all error
	for name := range f.saved {
		all = errors.Join(all, f.Remove(name))
	}
	_, _ = atomicfile.RemoveStale(f.Dir) // left by a killed run
	_ = atomicfile.Remove(f.Dir)         // fails while other parts are in it
	return all
}
