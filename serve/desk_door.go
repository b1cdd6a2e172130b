package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"os"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/instance"
)

// openDoor lets other commands of this user find the page, until the function that it returns is
// called. Where that cannot be, each of them begins a page of its own.
func (d *Desk) openDoor() (leave func()) {
	if d.contact == "" {
		return func() {}
	}
	shut, err := openDoor(d.ctx, func(c instance.Contact) (http.Handler, error) {
		c.Page, c.Tickets = d.URL(), true
		mux := http.NewServeMux()
		mux.HandleFunc("GET /here", c.Answer(d.has, d.admit))
		return recovering(mux, d.log), c.Write(d.contact)
	})
	if err != nil {
		d.log.Warn("a second start will not find this page", "reason", err)
		return func() {}
	}
	return func() {
		shut()
		if err := atomicfile.Remove(d.contact); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.log.Warn("a file is left over", "file", d.contact, "reason", err)
		}
	}
}

// has reports whether the project in a folder is open, or opens now, "" for whatever there is. It
// is opened where nothing else is.
func (d *Desk) has(dir string) bool {
	if dir == "" {
		return true
	}
	d.mu.Lock()
	open, task, lost := d.open, d.task, d.lost
	d.mu.Unlock()
	working := task != nil && task.running()
	switch {
	case open != nil && sameFolder(open.Dir, dir), working && sameFolder(task.dir, dir), sameFolder(lost.Dir, dir):
		return true
	case open != nil, working:
		return false
	}
	err := d.openProject(dir, "")
	d.mu.Lock()
	defer d.mu.Unlock()
	return err == nil || d.lost.Dir != "" // where its photos are is asked on the page
}

// admit lets a browser in once with a key.
func (d *Desk) admit(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys[key] = true
}

// once takes each key for the token, one time.
func (d *Desk) once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asks := r.Method == http.MethodGet && isPage(r.URL.Path) && isLoopback(r.Host)
		if asks && d.takes(r.URL.Query().Get("once")) {
			redirect(w, "./?token="+d.token)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// takes reports whether a key is good, which it is not for a second time.
func (d *Desk) takes(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	good := d.keys[key]
	delete(d.keys, key)
	return good
}

// sameFolder reports whether two paths lead to one folder.
func sameFolder(one, other string) bool {
	a, err := os.Stat(one)
	b, otherErr := os.Stat(other)
	return err == nil && otherErr == nil && os.SameFile(a, b)
}
