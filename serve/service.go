package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/model"
)

// An Answerer is a model that says what photos show.
type Answerer struct {
	Name, Method string
	Classes      []string
	// Network computes embeddings. Models that share one are computed together.
	Network Network
	// Score says what embeddings (n×d) show, with the top most probable classes.
	Score func(x blas32.General, top int) ([]model.Judgement, error)
}

// A Service answers over HTTP what photos show, by models that do not change. It has no page and keeps
// nothing.
type Service struct {
	Config
	Log *slog.Logger
	// Close, unless nil, is called when the service has ended.
	Close func() error

	models   []answering
	intakes  []*intake // one for each network
	metrics  *metrics
	listener net.Listener
	stopping atomic.Bool
}

// answering is a model with what computes the photos for it.
type answering struct {
	Answerer
	*intake
}

// OpenService opens models, each from a file, and listens at the address of the settings.
func OpenService(ctx context.Context, s *pipeline.Studio, c Config, files ...string) (*Service, error) {
	if err := c.Validate(); err != nil {
		return nil, &pipeline.UsageError{Err: err}
	}
	// Without an end: what has begun is answered.
	open, err := s.OpenService(context.WithoutCancel(ctx), files...)
	if err != nil {
		return nil, err
	}
	models := make([]Answerer, len(open.Models))
	for i, m := range open.Models {
		models[i] = Answerer{m.Name, m.Method(), m.Classes(), m.Embedder, m.Score}
	}
	service := NewService(c, s.Log(), s.Version(), models...)
	service.Close = open.Close
	if service.listener, err = listenAt(ctx, c.Addr); err != nil {
		return nil, errors.Join(err, open.Close())
	}
	return service, nil
}

// NewService returns a service of models. Without a token in the settings, one is drawn unless the
// address is of the loopback interface.
func NewService(c Config, log *slog.Logger, version string, models ...Answerer) *Service {
	if c.Token == "" && !c.Local() {
		c.Token = rand.Text()
	}
	s := &Service{Config: c, Log: log, metrics: newMetrics(version)}
	uploads, of := semaphore.NewWeighted(uploadMemory), map[Network]*intake{}
	for _, m := range models {
		in := of[m.Network]
		if in == nil {
			in = newIntake(m.Network, c.Formats, uploads, s.metrics)
			of[m.Network], s.intakes = in, append(s.intakes, in)
		}
		s.models = append(s.models, answering{m, in})
	}
	return s
}

// URL is the address of the service, with the token if it asks for one.
func (s *Service) URL() string { return pageURL(s.listener.Addr(), s.BasePath, s.Token) }

// Serve serves until ctx ends, then answers what it has begun for less than a second, and closes
// everything.
func (s *Service) Serve(ctx context.Context) error {
	err := s.serve(ctx, s.listener)
	if s.Close != nil {
		err = errors.Join(err, s.Close())
	}
	return err
}

func (s *Service) serve(ctx context.Context, l net.Listener) error {
	until, end := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	for _, in := range s.intakes {
		working.Go(func() { in.compute(until) })
	}
	context.AfterFunc(ctx, func() { s.stopping.Store(true) })
	err := serveUntil(ctx, until, l, s.Handler(), s.Log)
	end()
	working.Wait()
	return err
}

// Handler returns the handler of all routes.
func (s *Service) Handler() http.Handler {
	mux := s.metrics.mux(map[string]handler{
		"POST /v1/label":    s.label,
		"POST /v1/embed":    s.embed,
		"GET /v1/models":    s.list,
		"GET /healthz":      s.health,
		"GET /readyz":       s.ready,
		"GET /metrics":      s.writeMetrics,
		"GET /openapi.yaml": describe,
	}, s.Log)
	mux.Handle("/", s.metrics.answering("other /", func(http.ResponseWriter, *http.Request) error {
		return fail(http.StatusNotFound, "this is a service for labels, without a page: /openapi.yaml lists its routes")
	}, s.Log))
	g := &guard{Config: s.Config, Log: s.Log}
	return g.prefixed(g.protect(mux))
}

// asked returns the model that a request names.
func (s *Service) asked(r *http.Request) (answering, error) {
	names := make([]string, len(s.models))
	for i, m := range s.models {
		names[i] = m.Name
	}
	i, err := modelAsked(r, names...)
	if err != nil {
		return answering{}, err
	}
	return s.models[i], nil
}

// modelAsked returns which of some models a request names; it need not name the only one.
func modelAsked(r *http.Request, names ...string) (int, error) {
	name := r.URL.Query().Get("model")
	i, known := slices.Index(names, name), strings.Join(names, ", ")
	switch {
	case i >= 0:
		return i, nil
	case name != "":
		return 0, fail(http.StatusNotFound, "there is no model %q: choose from %s", name, known)
	case len(names) > 1:
		return 0, fail(http.StatusBadRequest, "model is missing: it is one of %s", known)
	}
	return 0, nil
}

func (s *Service) label(w http.ResponseWriter, r *http.Request) error {
	m, err := s.asked(r)
	if err != nil {
		return err
	}
	top, err := topOf(r)
	if err != nil {
		return err
	}
	photos, items, err := m.embed(w, r)
	if err != nil {
		return err
	}
	return m.writeLabels(w, photos, items, func(x blas32.General) ([]model.Judgement, error) { return m.Score(x, top) })
}

func (s *Service) embed(w http.ResponseWriter, r *http.Request) error {
	m, err := s.asked(r)
	if err != nil {
		return err
	}
	photos, items, err := m.embed(w, r)
	if err != nil {
		return err
	}
	writeEmbeddings(w, photos, items)
	return nil
}

func (s *Service) list(w http.ResponseWriter, _ *http.Request) error {
	models := make([]served, len(s.models))
	for i, m := range s.models {
		models[i] = served{m.Name, m.Method, m.Classes}
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": models})
	return nil
}

// health answers that the process lives.
func (s *Service) health(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

// ready answers whether requests are welcome: not while the service stops.
func (s *Service) ready(w http.ResponseWriter, r *http.Request) error {
	if s.stopping.Load() {
		return fail(http.StatusServiceUnavailable, "the server is stopping")
	}
	return s.health(w, r)
}

func (s *Service) writeMetrics(w http.ResponseWriter, _ *http.Request) error {
	s.metrics.write(w, func(io.Writer) {})
	return nil
}
