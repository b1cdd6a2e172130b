package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// resultFiles are what an export may have written that the page opens, and what each is for people.
var resultFiles = []resultFile{
	{"report.html", "the report"}, {"labels.xlsx", "the table"}, {"labels.csv", "the table"},
	{"changes.csv", "what changed"},
}

// reportPolicy lets a report run its own script and show its own pictures, and ask nobody for anything.
const reportPolicy = "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; " +
	"style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// resultsAnswer is what the last export of a project wrote.
type resultsAnswer struct {
	Dir   string       `json:"dir"`
	Files []resultFile `json:"files"`
	// Shown says that the folder can be shown on this desk.
	Shown bool `json:"shown"`
}

type resultFile struct {
	Name string `json:"name"`
	Is   string `json:"is"`
}

// results returns what the last export wrote, nil before one has ended.
func (d *Desk) results(open *opened) *resultsAnswer {
	d.mu.Lock()
	dir, since := open.results, open.exported
	d.mu.Unlock()
	if dir == "" {
		return nil
	}
	a := &resultsAnswer{Dir: dataset.EscapePath(dir), Files: []resultFile{}, Shown: d.Show != nil}
	for _, f := range resultFiles {
		if info, err := os.Stat(filepath.Join(dir, f.Name)); err == nil && info.Mode().IsRegular() &&
			!info.ModTime().Before(since) {
			a.Files = append(a.Files, f)
		}
	}
	return a
}

// resultsDir returns the folder of the last export.
func (d *Desk) resultsDir() (string, error) {
	open, err := d.current()
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if open.results == "" {
		return "", fail(http.StatusConflict, "nothing has been exported yet")
	}
	return open.results, nil
}

// result answers with a file of the last export.
func (d *Desk) result(w http.ResponseWriter, r *http.Request) error {
	dir, err := d.resultsDir()
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	missing := fail(http.StatusNotFound, "the last export wrote no %s", name)
	if !slices.ContainsFunc(resultFiles, func(f resultFile) bool { return f.Name == name }) {
		return missing
	}
	file, _, err := regularfile.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return missing
	}
	if err != nil {
		return withoutPath(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return withoutPath(err)
	}
	if strings.HasSuffix(name, ".html") {
		w.Header().Set("Content-Security-Policy", reportPolicy)
	} else {
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	}
	w.Header().Set("Cache-Control", "no-store")
	http.ServeContent(w, r, name, info.ModTime(), file)
	return nil
}

// show shows the folder of the last export on this desk.
func (d *Desk) show(w http.ResponseWriter, _ *http.Request) error {
	dir, err := d.resultsDir()
	if err != nil {
		return err
	}
	if d.Show == nil {
		return fail(http.StatusConflict, "this program opens no windows: the folder is %s", dataset.EscapePath(dir))
	}
	return accepted(w, d.Show(dir))
}
