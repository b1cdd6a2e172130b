package serve

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

//go:embed start
var startPage embed.FS

// sitePath is where a Desk has the page of the project that is open.
const sitePath = "/photos"

// A Desk is the server of the start page: it opens one project at a time.
type Desk struct {
	DeskRequest
	studio *pipeline.Studio
	log    *slog.Logger
	token  string
	recent *project.Recent
	// home is where people begin to look for folders.
	home string
	// contact is the file by which other commands find this page, "" for none.
	contact  string
	lock     *flock.Flock // of contact, nil for none
	logFile  *os.File     // nil for none
	listener net.Listener
	page     string // its address, without the token

	stop context.CancelFunc
	ctx  context.Context // until it stops

	mu   sync.Mutex
	keys map[string]bool // that are each good once
	task *task           // the last, nil before the first
	open *opened         // nil if no project is open
	// lost is a project that was to be opened and whose photos are gone, with the folder in which they were; Dir is ""
	// for none.
	lost project.Project
}

// An opened project, with its page.
type opened struct {
	project.Project
	page     *Page
	handler  http.Handler
	ctx      context.Context // until it is closed
	cancel   context.CancelFunc
	requests sync.WaitGroup
	worked   chan error
	// results is the folder of the last export that ended, "" before, and exported when that began. They are of
	// Desk.mu.
	results  string
	exported time.Time
}

// Serve serves until ctx ends or somebody stops it on the page, and opens the project of the request
// first. Then it closes everything.
func (d *Desk) Serve(ctx context.Context) error {
	defer d.release()
	d.ctx, d.stop = context.WithCancel(ctx)
	defer d.stop()
	if d.Project != "" {
		if err := d.openProject(d.Project, ""); err != nil && d.lost.Dir == "" {
			return err
		}
	}
	leave := d.openDoor()
	err := serveOn(d.ctx, d.listener, d.handler(), d.log)
	d.stop()
	leave()
	if task := d.last(); task != nil {
		<-task.done
	}
	return errors.Join(err, d.close())
}

func (d *Desk) last() *task {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.task
}

// current returns the project that is open.
func (d *Desk) current() (*opened, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		return nil, fail(http.StatusConflict, "no project is open: open one on the start page")
	}
	return d.open, nil
}

// handler returns the handler of all routes.
func (d *Desk) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]handler{
		"GET /v1/state":    d.state,
		"GET /v1/folders":  d.folders,
		"GET /v1/networks": d.networks,
		"POST /v1/setup":   d.setUp,
		"POST /v1/network": d.obtain,
		"POST /v1/begin":   d.begin,
		"POST /v1/open":    d.openRecent,
		"POST /v1/unlist":  d.unlist,
		"POST /v1/export":  d.export,
		"POST /v1/merge":   d.merge,
		"POST /v1/cancel":  d.cancelTask,
		"POST /v1/close":   d.closeProject,
		"POST /v1/stop":    d.stopAll,
		"POST /v1/show":    d.show,
		"GET /v1/log":      d.readLog,

		"GET /results/{name}": d.result,
	} {
		mux.Handle(pattern, d.answering(pattern, handle))
	}
	files, err := fs.Sub(startPage, "start")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	mux.Handle("GET /", http.FileServerFS(both{files, pageFiles()}))
	mux.HandleFunc("GET "+sitePath+"/", d.toSite)
	mux.HandleFunc("POST "+sitePath+"/", d.toSite)
	g := &guard{Config: Config{Token: d.token}, Loopback: true, Log: d.log}
	return d.once(g.protect(mux))
}

// both are the files of two folders; those of the first hide others of the same name.
type both struct{ first, second fs.FS }

// Open implements fs.FS.
func (b both) Open(name string) (fs.File, error) {
	f, err := b.first.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return b.second.Open(name)
	}
	return f, err
}

// answering turns errors into answers.
func (d *Desk) answering(pattern string, handle handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err == nil {
			return
		}
		code := codeOf(err)
		if code == http.StatusInternalServerError && r.Context().Err() == nil {
			d.log.Error("a request failed", "route", pattern, "reason", err)
		}
		writeJSON(w, code, map[string]string{"error": printable.Text(strings.ToValidUTF8(textOf(err, code), "�"))})
	})
}

// toSite passes a request on to the page of the project.
func (d *Desk) toSite(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	open := d.open
	if open != nil {
		open.requests.Add(1)
	}
	d.mu.Unlock()
	switch {
	case open == nil && strings.HasPrefix(r.URL.Path, sitePath+"/v1/"):
		refuse(w, http.StatusNotFound, "no project is open: go to the start page")
		return
	case open == nil:
		redirect(w, "/")
		return
	}
	defer open.requests.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(open.ctx, cancel)()
	open.handler.ServeHTTP(w, r.WithContext(ctx))
}

// launch begins the only task, after which the project in a folder is open, "" for no other than before.
func (d *Desk) launch(kind, dir string, work func(context.Context, *task) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	if d.task != nil && d.task.running() {
		return fail(http.StatusConflict, "something else is being done: wait for its end, or cancel it")
	}
	d.task = beginTask(d.ctx, kind, work)
	d.task.dir = dir
	return nil
}

// enter opens a project in place of the one that is open.
func (d *Desk) enter(ctx context.Context, p project.Project) error {
	if err := d.close(); err != nil {
		return err
	}
	page, err := d.teach(ctx, p)
	if err != nil {
		return err
	}
	o := &opened{Project: p, page: page, handler: page.Handler(), worked: make(chan error, 1)}
	o.ctx, o.cancel = context.WithCancel(d.ctx)
	go func() { o.worked <- page.Work(o.ctx) }()
	d.mu.Lock()
	d.open = o
	d.mu.Unlock()
	if err := d.recent.Add(p.Dir); err != nil {
		d.log.Warn("the project is not in the list of recent ones", "reason", err)
	}
	return nil
}

// close saves and closes the project that is open, if there is one.
func (d *Desk) close() error {
	d.mu.Lock()
	open := d.open
	d.open = nil
	d.mu.Unlock()
	if open == nil {
		return nil
	}
	open.cancel()
	open.requests.Wait()
	err := <-open.worked
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, open.page.Close())
}

// stateAnswer is what the page shows.
type stateAnswer struct {
	Task    *taskAnswer    `json:"task"`
	Project *projectAnswer `json:"project"` // the open one
	// Lost is a project that waits to be told where its photos are now.
	Lost   *lostRow    `json:"lost"`
	Recent []recentRow `json:"recent"`
	// Suggested is where a new project may go.
	Suggested string   `json:"suggested"`
	Formats   []string `json:"formats"`
	// Logs are those that can be read: now and last.
	Logs []string `json:"logs"`
}

type projectAnswer struct {
	Name    string `json:"name"`
	Dir     string `json:"dir"`
	Images  string `json:"images"`
	Exports string `json:"exports"`
	Page    string `json:"page"`
	// Results is what was exported, nil for nothing.
	Results *resultsAnswer `json:"results"`
}

// A lostRow is a project whose photos are not where they were. Near is the folder nearest to that which is there.
type lostRow struct {
	recentRow
	Images string `json:"images"`
	Near   string `json:"near"`
}

type recentRow struct {
	Name    string `json:"name"`
	Dir     string `json:"dir"`
	Missing bool   `json:"missing"`
}

func (d *Desk) state(w http.ResponseWriter, _ *http.Request) error {
	a := stateAnswer{Task: d.last().answer(), Recent: []recentRow{}, Suggested: dataset.EscapePath(d.projects()),
		Formats: label.Formats()}
	d.mu.Lock()
	open, lost := d.open, d.lost
	d.mu.Unlock()
	if lost.Dir != "" {
		a.Lost = &lostRow{newRecent(lost.Dir), dataset.EscapePath(lost.Images), dataset.EscapePath(near(lost.Images))}
	}
	a.Logs = d.logs()
	if open != nil {
		a.Project = &projectAnswer{
			dataset.EscapePath(open.Name()), dataset.EscapePath(open.Dir), dataset.EscapePath(open.Images),
			dataset.EscapePath(open.Exports()), strings.TrimPrefix(sitePath, "/") + "/", d.results(open),
		}
	}
	recent, err := d.recent.List()
	if err != nil {
		d.log.Warn("recent projects are not listed", "reason", err)
	}
	for _, dir := range recent {
		a.Recent = append(a.Recent, newRecent(dir))
	}
	writeJSON(w, http.StatusOK, a)
	return nil
}

// near returns the folder nearest to a path that is there: that itself, or one above it.
func near(path string) string {
	for !dataset.IsFolder(path) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
	}
	return path
}

func newRecent(dir string) recentRow {
	name := project.Project{Dir: dir}.Name()
	return recentRow{dataset.EscapePath(name), dataset.EscapePath(dir), !project.Is(dir)}
}

// projects is the folder in which new projects are suggested.
func (d *Desk) projects() string {
	if documents := filepath.Join(d.home, "Documents"); dataset.IsFolder(documents) {
		return documents
	}
	return d.home
}

func (d *Desk) networks(w http.ResponseWriter, _ *http.Request) error {
	list, err := d.studio.Networks()
	if err != nil {
		return fmt.Errorf("networks: %w", err)
	}
	list = slices.DeleteFunc(list, func(n pipeline.Network) bool { return !n.Here && !n.Obtainable })
	var missing *string
	if err := d.studio.Ready(); err != nil {
		missing = new(err.Error())
	}
	writeJSON(w, http.StatusOK, map[string]any{"networks": list, "missing": missing})
	return nil
}
