package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// suffix is what the name of a new project ends with.
const suffix = ".project"

const (
	fileName = "project.json"
	version  = 1
	maxBytes = 1 << 20 // of project.json
)

// ErrNoPhotos means that the photos of a project are not where they were.
var ErrNoPhotos = errors.New("the photos are not where they were")

// A Project is a folder.
type Project struct {
	// Dir is the folder, an absolute path.
	Dir string
	// Images is the folder of the photos, an absolute path.
	Images string
	// Network is what a new model uses: a name of the catalogue or a file, "" for the best
	// that is set up.
	Network string
}

// A content is that of project.json. Paths are written as dataset.EscapePath does.
type content struct {
	Version int    `json:"version"`
	Images  string `json:"images"`
	// Beside is Images relative to the project, for copies of both; "" if there is no such
	// path, as on another drive.
	Beside  string `json:"beside,omitempty"`
	Network string `json:"network,omitempty"`
}

// Name returns the name of the project for people.
func (p Project) Name() string { return strings.TrimSuffix(filepath.Base(p.Dir), suffix) }

// Model returns the MODEL file.
func (p Project) Model() string { return filepath.Join(p.Dir, "photos.model") }

// Names returns the file of the names that the model began with.
func (p Project) Names() string { return filepath.Join(p.Dir, "names.txt") }

// Exports returns where results go unless somebody chooses another folder.
func (p Project) Exports() string { return filepath.Join(p.Dir, "exports") }

// Begun reports whether there is a model or a journal, so that nothing is to be chosen any
// more.
func (p Project) Begun() bool {
	for _, file := range []string{p.Model(), p.Model() + ".journal"} {
		if _, err := os.Stat(file); err == nil {
			return true
		}
	}
	return false
}

// Create makes the folder of a new project and writes project.json. The folder may be
// there if it is empty, or a project that never had a model.
func Create(p Project) (Project, error) {
	if !filepath.IsAbs(p.Dir) || !filepath.IsAbs(p.Images) {
		return p, fmt.Errorf("project %s of the photos in %s: give whole paths, from the root", p.Dir, p.Images)
	}
	p.Dir, p.Images = filepath.Clean(p.Dir), filepath.Clean(p.Images)
	switch inside, err := os.ReadDir(p.Dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return p, fmt.Errorf("project: %w", err)
	case Is(p.Dir) && !p.Begun():
	case Is(p.Dir):
		return p, fmt.Errorf("%s is a project already: open it, or choose another name", p.Dir)
	case len(inside) > 0:
		return p, fmt.Errorf("%s is a folder with other files in it: choose another name for the project", p.Dir)
	}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return p, fmt.Errorf("project: %w", err)
	}
	return p, p.Save()
}

// Save writes project.json.
func (p Project) Save() error {
	c := content{Version: version, Images: dataset.EscapePath(p.Images), Network: dataset.EscapePath(p.Network)}
	if beside, err := filepath.Rel(p.Dir, p.Images); err == nil {
		c.Beside = dataset.EscapePath(filepath.ToSlash(beside))
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(p.Dir, fileName), append(text, '\n'))
}

// Is reports whether a folder is a project.
func Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, fileName))
	return err == nil && info.Mode().IsRegular()
}

// Open reads a project. If its photos are neither where they were nor where they lay
// relative to the project, the error wraps ErrNoPhotos and the project is whole but for
// that.
func Open(dir string) (Project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Project{}, err
	}
	file := filepath.Join(dir, fileName)
	text, err := regularfile.Read(file, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Project{}, fmt.Errorf("%s is no project: it has no %s", dir, fileName)
	}
	if err != nil {
		return Project{}, fmt.Errorf("project: %w", err)
	}
	p, beside, err := parse(text)
	if err != nil {
		return Project{}, fmt.Errorf("project %s: %w", file, err)
	}
	p.Dir = dir
	if dataset.IsFolder(p.Images) {
		return p, nil
	}
	if moved := filepath.Join(dir, filepath.FromSlash(beside)); beside != "" && dataset.IsFolder(moved) {
		p.Images = moved
		return p, nil
	}
	return p, fmt.Errorf("%s: %w (%s): say where they are now", p.Name(), ErrNoPhotos, p.Images)
}

func parse(text []byte) (p Project, beside string, err error) {
	var c content
	if err := json.Unmarshal(text, &c); err != nil {
		return p, "", err
	}
	switch {
	case c.Version > version:
		return p, "", fmt.Errorf("it was written by a later version of this program (%d): use that", c.Version)
	case c.Version < 1 || c.Images == "":
		return p, "", errors.New("version or images is missing")
	}
	return Project{Images: dataset.UnescapePath(c.Images), Network: dataset.UnescapePath(c.Network)},
		dataset.UnescapePath(c.Beside), nil
}
