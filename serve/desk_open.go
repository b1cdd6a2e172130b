package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

// A DeskRequest says what a start page begins with.
type DeskRequest struct {
	// Project is the folder of the project to open at first, "" for none.
	Project string
	// Port is that of this machine to serve on, 0 for one that is free.
	Port int
	// Show shows a folder on this desk; nil if that cannot be.
	Show func(dir string) error
	// The settings of what is done with a project: its model is trained, its photos are shown, and
	// labelled. Zero values are defaults.
	Scan       pipeline.Scan
	Boxes      pipeline.Boxes
	Classifier pipeline.Classifier
	Label      label.Config
	Seed       uint64
}

// OpenDesk opens a start page, or finds that which this user has already, unless that is busy with
// another project. A Desk that is returned ends with Serve.
func OpenDesk(ctx context.Context, s *pipeline.Studio, q DeskRequest) (*Desk, *Found, error) {
	list, err := project.UserRecent()
	if err != nil {
		s.Log().Warn("projects will not be listed as recent ones", "reason", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, nil, fmt.Errorf("no home folder: %w", err)
	}
	return openDesk(ctx, s, q, list, home)
}

func openDesk(ctx context.Context, s *pipeline.Studio, q DeskRequest, list *project.Recent, home string) (*Desk, *Found,
	error) {
	d := &Desk{
		DeskRequest: q, studio: s, log: s.Log(), token: rand.Text(), recent: list, home: home,
		keys: map[string]bool{},
	}
	d.Label = setting.OrDefault(q.Label, label.DefaultConfig())
	if q.Project != "" {
		p, err := project.Open(q.Project)
		if err != nil && !errors.Is(err, project.ErrNoPhotos) {
			return nil, nil, &pipeline.UsageError{Err: err}
		}
		d.Project = p.Dir
		// Whoever else has it says so on the page.
		if found, _ := find(ctx, p.Model()); found != nil {
			return nil, found, nil
		}
	}
	if found := d.reserve(ctx); found != nil {
		return nil, found, nil
	}
	var err error
	if d.listener, err = listenAt(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(q.Port))); err != nil {
		d.release()
		return nil, nil, err
	}
	d.page = pageURL(d.listener.Addr(), "", "")
	if err := d.beginLog(); err != nil {
		d.log.Warn("there is no file of this log", "reason", err)
	}
	return d, nil, nil
}

// reserve makes this the page that a second start finds, unless there is one that shows the project or
// opens it now, which it returns.
func (d *Desk) reserve(ctx context.Context) (found *Found) {
	if d.recent.File == "" {
		return nil
	}
	host, _ := os.Hostname() // home folders may be shared by several machines
	folder := filepath.Dir(d.recent.File)
	contact := filepath.Join(folder, "start-"+url.PathEscape(host)+".json")
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		found, d.lock, err = findDesk(ctx, contact, d.Project)
	}
	if err != nil {
		d.log.Warn("this page will not be found by a second start", "reason", err)
	}
	if d.lock != nil && err == nil {
		d.contact = contact
	}
	return found
}

// release frees what the page has while it is open.
func (d *Desk) release() {
	if d.listener != nil {
		_ = d.listener.Close() // once more, where it was served
	}
	if d.logFile != nil {
		_ = d.logFile.Close() // it is only told
	}
	if d.lock != nil {
		_ = d.lock.Unlock() // as the end of the program does
	}
}

// URL is the address to open, with the token.
func (d *Desk) URL() string { return d.page + "?token=" + d.token }

// BrowserURL is an address that opens the page once. Other users see the arguments of programs, so a
// browser is not started with the token.
func (d *Desk) BrowserURL() string {
	key := rand.Text()
	d.admit(key)
	return d.page + "?once=" + key
}
