package command

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/serve"
)

// A site is the page of a MODEL file and a folder of photos. It implements serve.Site.
type site struct {
	*pipeline.Teaching
	server *serve.Server
}

// newSite opens what the page of a MODEL file needs, and writes nothing.
func (a *app) newSite(ctx context.Context, file, token string) (*site, error) {
	t, err := a.Teach(ctx, pipeline.TeachRequest{
		Model: file, From: a.config.Source(), Events: a.config.Label.Events, Classifier: a.config.Classifier,
		Seed: a.config.Seed,
	})
	if err != nil {
		return nil, err
	}
	s := &site{Teaching: t}
	s.server = serve.New(serve.Options{
		Embedder: t.Embedder, Root: t.Root, Scan: t.Scan, Boxed: t.Boxed, Thumbnails: t.Thumbnails,
		Title: filepath.Base(file) + " · " + filepath.Base(t.Root), Name: filepath.Base(file),
		Words: wordsOf(t), FileTimes: a.config.Label.FileTimes, Events: a.config.Label.Events > 0,
		Token: token, Hosts: a.config.Serve.Hosts, BasePath: a.config.Serve.BasePath,
		Formats: a.config.Serve.Formats,
		Log:     a.log,
	})
	return s, nil
}

// wordsOf returns what opens the text side of the network, nil if there is none.
func wordsOf(t *pipeline.Teaching) func() (serve.Wording, error) {
	if t.Words == nil {
		return nil
	}
	return func() (serve.Wording, error) { return t.Words() }
}

// open opens the session, at a line of its history unless that is 0.
func (s *site) open(at int) error {
	if err := s.Begin(at, s.server.Changed); err != nil {
		return err
	}
	s.server.Session = s.Session
	return nil
}

// Handler implements serve.Site.
func (s *site) Handler() http.Handler { return s.server.Handler() }

// Work implements serve.Site.
func (s *site) Work(ctx context.Context) error { return s.server.Work(ctx) }

// Merge implements serve.Site.
func (s *site) Merge(file, prefer string) (string, error) {
	choice, err := pipeline.Preference(prefer)
	if err != nil {
		return "", err
	}
	return s.Teaching.Merge(file, choice)
}
