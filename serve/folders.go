package serve

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

const (
	maxFolders = 1000            // in one answer
	glanceTime = 3 * time.Second // after which what was counted is an estimate
)

// A namedFolder is a folder with a name for people. Paths are written as dataset.EscapePath does.
type namedFolder struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

type folderRow struct {
	namedFolder
	Photos  int  `json:"photos"`
	More    bool `json:"more"`
	Project bool `json:"project"`
	// Link is where it leads, nil if it is no link; Error says why it cannot be read.
	Link  *string `json:"link"`
	Error *string `json:"error"`
}

type foldersAnswer struct {
	namedFolder
	// Parent is nil at the top. Asked is the path that was asked for, if that is a link or
	// has one in it.
	Parent  *string       `json:"parent"`
	Asked   *string       `json:"asked"`
	Photos  int           `json:"photos"`
	More    bool          `json:"more"`
	Project bool          `json:"project"`
	Folders []folderRow   `json:"folders"`
	LeftOff int           `json:"left_off"` // of the folders
	Places  []namedFolder `json:"places"`
}

// folders lists a folder of this machine, that of the user without a path.
func (d *Desk) folders(w http.ResponseWriter, r *http.Request) error {
	path := dataset.UnescapePath(r.URL.Query().Get("path"))
	if path == "" {
		path = d.home
	}
	if !filepath.IsAbs(path) {
		return fail(http.StatusBadRequest, "%q is not a whole path: begin at the root", path)
	}
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return folderFailure(path, err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), glanceTime)
	defer cancel()
	view, err := dataset.Glance(ctx, real)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return folderFailure(real, err)
	}
	a := foldersAnswer{
		namedFolder: namedFolder{dataset.EscapePath(filepath.Base(real)), dataset.EscapePath(real)},
		Photos:      view.Photos, More: view.More || err != nil,
		Project: project.Is(real), Folders: []folderRow{}, Places: places(d.home),
	}
	if parent := filepath.Dir(real); parent != real {
		a.Parent = new(dataset.EscapePath(parent))
	}
	if real != path {
		a.Asked = new(dataset.EscapePath(path))
	}
	for _, f := range view.Folders[:min(len(view.Folders), maxFolders)] {
		a.Folders = append(a.Folders, newFolderRow(real, f))
	}
	a.LeftOff = len(view.Folders) - len(a.Folders)
	writeJSON(w, http.StatusOK, a)
	return nil
}

func newFolderRow(dir string, f dataset.SubFolder) folderRow {
	full := filepath.Join(dir, f.Name)
	row := folderRow{
		namedFolder: namedFolder{dataset.EscapePath(f.Name), dataset.EscapePath(full)}, Photos: f.Photos, More: f.More,
		Project: project.Is(full), Link: unlessZero(dataset.EscapePath(f.Link)),
	}
	if f.Err != nil {
		row.Error = new(whyUnread(f.Err))
	}
	return row
}

// folderFailure says why a folder cannot be listed.
func folderFailure(path string, err error) error {
	code := http.StatusBadRequest
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = http.StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		code = http.StatusForbidden
	case errors.Is(err, context.Canceled):
		return err
	}
	return fail(code, "%s: %s", dataset.EscapePath(path), whyUnread(err))
}

func whyUnread(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such folder"
	case errors.Is(err, fs.ErrPermission):
		return "you have no right to read it"
	case errors.Is(err, syscall.ENOTDIR):
		return "it is a file, not a folder"
	}
	return regularfile.Cause(err).Error()
}

// places are where people keep photos, and where disks and cards appear, as far as they
// are there.
func places(home string) []namedFolder {
	found := []namedFolder{{"Home", dataset.EscapePath(home)}}
	user := filepath.Base(home)
	for _, p := range []namedFolder{
		{"Pictures", filepath.Join(home, "Pictures")}, {"Documents", filepath.Join(home, "Documents")},
		{"Desktop", filepath.Join(home, "Desktop")}, {"Downloads", filepath.Join(home, "Downloads")},
		{"Disks", "/media/" + user}, {"Disks", "/run/media/" + user}, {"Disks", "/Volumes"}, {"Mounted", "/mnt"},
	} {
		if dataset.IsFolder(p.Path) {
			found = append(found, namedFolder{p.Name, dataset.EscapePath(p.Path)})
		}
	}
	return append(found, roots()...)
}

// roots are the tops of the trees of folders: drives on Windows.
func roots() (found []namedFolder) {
	if filepath.VolumeName(`C:\`) == "" {
		return []namedFolder{{"Computer", "/"}}
	}
	for letter := 'A'; letter <= 'Z'; letter++ {
		drive := string(letter) + `:\`
		if _, err := os.Stat(drive); err == nil {
			found = append(found, namedFolder{drive, drive})
		}
	}
	return found
}
