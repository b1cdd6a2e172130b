package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// maxRecent is how many projects a list remembers.
const maxRecent = 20

// Recent is the file that lists the projects that were opened last, the newest first. Windows does not
// let a file be replaced that is open, so it is read and written by one at a time.
type Recent struct {
	File string

	mu sync.Mutex
}

// UserRecent returns the list in the user's folder of settings.
func UserRecent() (*Recent, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return &Recent{}, fmt.Errorf("no folder for settings: %w", err)
	}
	return &Recent{File: filepath.Join(dir, "pipeline", "recent.json")}, nil
}

// List returns the folders of the projects; those that are gone are among them. A list
// that is missing is empty.
func (r *Recent) List() ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list()
}

func (r *Recent) list() ([]string, error) {
	text, err := regularfile.Read(r.File, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("recent projects: %w", err)
	}
	dirs, err := parseRecent(text)
	if err != nil {
		return nil, fmt.Errorf("recent projects: %s: %w: delete it", r.File, err)
	}
	return dirs, nil
}

func parseRecent(text []byte) (dirs []string, err error) {
	var list struct {
		Projects []string `json:"projects"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, dir := range list.Projects {
		dir = dataset.UnescapePath(dir)
		if filepath.IsAbs(dir) && !slices.Contains(dirs, dir) && len(dirs) < maxRecent {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Add puts a project first.
func (r *Recent) Add(dir string) error {
	return r.change(dir, func(dirs []string) []string { return slices.Insert(dirs, 0, dir) })
}

// Remove takes a project out of the list. Its files stay.
func (r *Recent) Remove(dir string) error {
	return r.change(dir, func(dirs []string) []string { return dirs })
}

// change writes the list without a project, after another change. A list that cannot be
// read begins again: it is only a convenience.
func (r *Recent) change(dir string, then func([]string) []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	dirs, _ := r.list()
	dirs = then(slices.DeleteFunc(dirs, func(other string) bool { return other == dir }))
	escaped := make([]string, 0, maxRecent)
	for _, dir := range dirs[:min(len(dirs), maxRecent)] {
		escaped = append(escaped, dataset.EscapePath(dir))
	}
	text, err := json.MarshalIndent(map[string][]string{"projects": escaped}, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(r.File), 0o700)
	}
	if err == nil {
		err = atomicfile.WriteFile(r.File, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("recent projects: %w", err)
	}
	return nil
}
