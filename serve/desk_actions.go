package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

const (
	maxNames     = 10_000 // that a model begins with
	maxNameBytes = 200    // of each
)

// accepted answers that a task has begun, or that something is done.
func accepted(w http.ResponseWriter, err error) error {
	if err == nil {
		writeJSON(w, http.StatusAccepted, map[string]bool{"ok": true})
	}
	return err
}

// setUp obtains what is missing on this machine.
func (d *Desk) setUp(w http.ResponseWriter, _ *http.Request) error {
	return accepted(w, d.launch("setup", "", func(ctx context.Context, task *task) error {
		done, err := d.heard(task, "").SetUp(ctx, pipeline.SetUpRequest{})
		if done != nil {
			fmt.Fprintln(task, printable.Lines(strings.Join(append(done.Lines(), done.Without()...), "\n")))
		}
		return err
	}))
}

// obtain obtains a network of the catalogue.
func (d *Desk) obtain(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Name string `json:"name"`
	}
	if err := readJSON(w, r, &asked); err != nil {
		return err
	}
	list, err := d.studio.Networks()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(n pipeline.Network) bool { return n.Name == asked.Name && n.Obtainable }) {
		return fail(http.StatusNotFound, "no network %q can be obtained", asked.Name)
	}
	return accepted(w, d.launch("network", "", func(ctx context.Context, task *task) error {
		path, err := d.heard(task, "").Obtain(ctx, asked.Name)
		if err == nil {
			task.Say(asked.Name + " is in " + path)
		}
		return err
	}))
}

// begin makes a project and its model, and opens it.
func (d *Desk) begin(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		beginning
		Dir     string `json:"dir"`
		Images  string `json:"images"`
		Network string `json:"network"`
	}
	if err := readJSON(w, r, &asked); err != nil {
		return err
	}
	b := asked.beginning
	b.Examples = dataset.UnescapePath(b.Examples)
	if err := b.validate(); err != nil {
		return err
	}
	p := project.Project{
		Dir: dataset.UnescapePath(strings.TrimSpace(asked.Dir)), Images: dataset.UnescapePath(asked.Images),
		Network: asked.Network,
	}
	if !dataset.IsFolder(p.Images) {
		return fail(http.StatusBadRequest, "%s is no folder: choose that of the photos", asked.Images)
	}
	if among(r.Context(), p.Images, p.Dir) {
		return fail(http.StatusBadRequest, "%s lies among the photos: keep the project outside of them", asked.Dir)
	}
	p, err := project.Create(p)
	if err != nil {
		return fail(http.StatusConflict, "%v", err)
	}
	return accepted(w, d.launch("begin", p.Dir, func(ctx context.Context, task *task) error {
		if b.With != withNothing {
			if err := d.train(ctx, p, b, task); err != nil {
				return err
			}
		}
		return d.enter(ctx, p)
	}))
}

// among reports whether what is in the folder dir, which need not exist, would be found among the
// photos. Of very many photos the folders are looked at that can be in the time of a glance.
func among(ctx context.Context, photos, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, glanceTime)
	defer cancel()
	inside, _ := dataset.Inside(ctx, photos, dir) // what cannot be read fails where it is needed
	return inside
}

// validate returns what is missing. Names become clean.
func (b *beginning) validate() error {
	switch b.With {
	case withNothing:
		return nil
	case withFolders:
		if !dataset.IsFolder(b.Examples) {
			return fail(http.StatusBadRequest, "choose the folder in which each class has a folder of its own")
		}
		return nil
	case withNames:
	default:
		return fail(http.StatusBadRequest, "with is %q: it is folders, names or nothing", b.With)
	}
	var names []string
	for _, name := range b.Names {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(names, name):
			continue
		case len(name) > maxNameBytes || strings.ContainsAny(name, "\r\n"):
			return fail(http.StatusBadRequest, "a name has more than %d bytes or more than one line", maxNameBytes)
		}
		names = append(names, name)
	}
	if len(names) < 2 || len(names) > maxNames {
		return fail(http.StatusBadRequest, "%d different names: give 2 to %d", len(names), maxNames)
	}
	b.Names = names
	return nil
}

// openRecent opens a project. Without its photos the answer is 409 and says so; images is
// where they are now.
func (d *Desk) openRecent(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Dir    string `json:"dir"`
		Images string `json:"images"`
	}
	if err := readJSON(w, r, &asked); err != nil {
		return err
	}
	return accepted(w, d.openProject(dataset.UnescapePath(asked.Dir), dataset.UnescapePath(asked.Images)))
}

// openProject opens a project, whose photos are in images now unless that is "".
func (d *Desk) openProject(dir, images string) error {
	p, err := project.Open(dir)
	moved := images != "" && images != p.Images && p.Dir != ""
	switch {
	case moved && !dataset.IsFolder(images):
		return fail(http.StatusBadRequest, "%s is no folder: choose that of the photos", dataset.EscapePath(images))
	case moved && among(d.ctx, images, dir): // where results would be taken for further photos
		return fail(http.StatusBadRequest, "the project lies in %s: choose a folder of photos outside of which it is",
			dataset.EscapePath(images))
	case moved:
		p.Images = filepath.Clean(images)
		err = p.Save()
	}
	d.mu.Lock()
	d.lost = project.Project{}
	if errors.Is(err, project.ErrNoPhotos) {
		d.lost = p
	}
	d.mu.Unlock()
	if err != nil {
		return fail(http.StatusConflict, "%v", err)
	}
	return d.launch("open", p.Dir, func(ctx context.Context, _ *task) error { return d.enter(ctx, p) })
}

// unlist takes a project out of the list of recent ones.
func (d *Desk) unlist(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Dir string `json:"dir"`
	}
	if err := readJSON(w, r, &asked); err != nil {
		return err
	}
	return accepted(w, d.recent.Remove(dataset.UnescapePath(asked.Dir)))
}

// export saves the model of the open project and labels all of its photos.
func (d *Desk) export(w http.ResponseWriter, r *http.Request) error {
	var e results
	if err := readJSON(w, r, &e); err != nil {
		return err
	}
	open, err := d.current()
	if err != nil {
		return err
	}
	if e.Out = dataset.UnescapePath(strings.TrimSpace(e.Out)); e.Out == "" {
		e.Out = open.Exports()
	}
	switch {
	case !filepath.IsAbs(e.Out):
		return fail(http.StatusBadRequest, "%q is not a whole path: begin at the root", e.Out)
	case among(r.Context(), open.Images, e.Out): // where copies would be taken for further photos
		return fail(http.StatusBadRequest, "%s lies among the photos: choose a folder outside of them", e.Out)
	}
	return accepted(w, d.launch("export", "", func(ctx context.Context, task *task) error {
		if err := open.page.teaching.Save(ctx); err != nil {
			return err
		}
		begun := time.Now().Truncate(time.Second) // some file systems know no less
		if err := d.label(ctx, open.Project, e, task); err != nil {
			return err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		open.results, open.exported = e.Out, begun
		return nil
	}))
}

// merge adds what was decided in another project to the open one.
func (d *Desk) merge(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Dir    string `json:"dir"`
		Prefer string `json:"prefer"`
	}
	if err := readJSON(w, r, &asked); err != nil {
		return err
	}
	other, err := project.Open(dataset.UnescapePath(asked.Dir))
	if err != nil && !errors.Is(err, project.ErrNoPhotos) { // which are not needed
		return fail(http.StatusConflict, "%v", err)
	}
	open, err := d.current()
	switch {
	case err != nil:
		return err
	case sameFolder(open.Dir, other.Dir):
		return fail(http.StatusConflict, "this is the project that is open: choose another one")
	}
	return accepted(w, d.launch("merge", "", func(_ context.Context, task *task) error {
		line, err := open.page.merge(other.Model(), asked.Prefer)
		if err == nil {
			task.Say(line)
		}
		return err
	}))
}

// cancelTask ends the task that runs, and answers after its end.
func (d *Desk) cancelTask(w http.ResponseWriter, r *http.Request) error {
	task := d.last()
	if task == nil {
		return fail(http.StatusConflict, "nothing is being done")
	}
	task.cancel()
	select {
	case <-task.done:
	case <-r.Context().Done():
	}
	return accepted(w, r.Context().Err())
}

func (d *Desk) closeProject(w http.ResponseWriter, _ *http.Request) error {
	return accepted(w, d.launch("close", "", func(context.Context, *task) error { return d.close() }))
}

// stopAll ends the server, after this answer.
func (d *Desk) stopAll(w http.ResponseWriter, _ *http.Request) error {
	err := accepted(w, nil)
	d.stop()
	return err
}
