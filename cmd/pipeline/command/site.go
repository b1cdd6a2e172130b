package command

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/linalg/native"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A site is the page of a MODEL file and a folder of photos. It implements serve.Site.
type site struct {
	*app
	file     string
	fresh    *model.Model // where there is no file yet
	embedder *embed.Embedder
	server   *serve.Server
	session  *teach.Session // nil before open
	temp     string
}

// newSite opens what the page of a MODEL file needs, and writes nothing.
func (a *app) newSite(ctx context.Context, file, token string) (*site, error) {
	found, err := a.inputs().found(ctx)
	if err != nil {
		return nil, err
	}
	a.inputs().noteFiles(found.LeftOut)
	scan, boxed, err := a.shown(ctx)
	if err != nil {
		return nil, err
	}
	if err := writable(file); err != nil {
		return nil, err
	}
	cache, err := a.options().CacheDir()
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(a.config.Images)
	if err != nil {
		return nil, err
	}
	s := &site{app: a, file: file, temp: filepath.Join(cache, "teach")}
	if s.embedder, s.fresh, err = a.startingPoint(file); err != nil {
		return nil, err
	}
	s.server = serve.New(serve.Options{
		Embedder: s.embedder, Root: root, Scan: scan, Boxed: boxed, Thumbnails: filepath.Join(cache, "thumbnails"),
		Title: filepath.Base(file) + " · " + filepath.Base(root), Name: filepath.Base(file),
		Words: a.wordsOf(s.embedder), FileTimes: a.config.Label.FileTimes, Events: a.config.Label.Events > 0,
		Token: token, Hosts: a.config.Serve.Hosts, BasePath: a.config.Serve.BasePath,
		Log: a.log,
	})
	return s, nil
}

// open opens the session, at a line of its history unless that is 0.
func (s *site) open(at int) error {
	// Not s.products, which ends with the command: the model is written after that.
	products, err := native.Choose(s.config.Linalg, s.options().Runtime)
	if err != nil {
		return err
	}
	session, err := teach.Open(teach.Options{
		Model: s.file, Fresh: s.fresh, At: at, Dim: s.embedder.Dim(), Temp: s.temp,
		Backend: products, ToolVersion: version, Changed: s.server.Changed, Gap: s.gap(), Elsewhere: s.cached(s.file),
	})
	if err != nil {
		return err
	}
	s.session, s.server.Session = session, session
	return nil
}

// Handler implements serve.Site.
func (s *site) Handler() http.Handler { return s.server.Handler() }

// Work implements serve.Site.
func (s *site) Work(ctx context.Context) error { return s.server.Work(ctx) }

// Save implements serve.Site.
func (s *site) Save(ctx context.Context) error {
	if st := s.session.Status(); st.Unsaved == 0 && st.Lost == nil {
		if _, err := os.Stat(s.file); err == nil {
			return nil
		}
	}
	_, err := s.session.Save(ctx)
	return err
}

// Merge implements serve.Site.
func (s *site) Merge(file, prefer string) (string, error) {
	choice, err := preference(prefer)
	if err != nil {
		return "", err
	}
	outcome, err := s.session.Merge(file, choice)
	return mergedLine(outcome), err
}

// Close implements serve.Site: it writes what was decided and closes everything.
func (s *site) Close() error {
	var err error
	if s.session != nil {
		unsaved, leaveErr := s.leave(context.Background(), s.session, s.file)
		if unsaved != "" {
			s.say("%s was not written: %s", s.file, unsaved)
		}
		err = errors.Join(leaveErr, s.session.Close())
	}
	return errors.Join(err, s.embedder.Close())
}
