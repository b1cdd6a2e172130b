package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A PageRequest says which model is taught on a page, with which photos, and where the page is.
type PageRequest struct {
	pipeline.TeachRequest
	Config
	// FileTimes is as in Options.
	FileTimes bool
	// At is a line of the history that everything goes back to, 0 for none.
	At int
}

// A Page is the page of a model that is being taught.
type Page struct {
	*Server
	teaching *pipeline.Teaching
	listener net.Listener
}

// Open opens the page of a model, or finds that on which this user has the model open already, unless
// it is to go back. It writes nothing before everything that may fail has been tried. A Page that is
// returned ends with Serve.
func Open(ctx context.Context, s *pipeline.Studio, q PageRequest) (*Page, *Found, error) {
	if err := q.Validate(); err != nil {
		return nil, nil, &pipeline.UsageError{Err: err}
	}
	if q.At == 0 {
		if found, err := find(ctx, q.Model); found != nil || err != nil {
			return nil, found, err
		}
	}
	p, err := open(ctx, s, q)
	listening := (*net.OpError)(nil)
	refused := errors.As(err, &listening) && listening.Op == "listen"
	if q.At != 0 || !refused && !errors.Is(err, teach.ErrInUse) {
		return p, nil, err
	}
	// Another one that began at the same time may have been faster: it listens before it has the model.
	for range 50 {
		if found, _ := find(ctx, q.Model); found != nil {
			return nil, found, nil
		}
		if !pause(ctx) {
			return nil, nil, ctx.Err()
		}
	}
	return nil, nil, err
}

func open(ctx context.Context, s *pipeline.Studio, q PageRequest) (p *Page, err error) {
	if p, err = prepare(ctx, s, q); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p, err = nil, errors.Join(err, p.Close())
		}
	}()
	if p.listener, err = listenAt(ctx, q.Addr); err != nil {
		return p, err
	}
	p.Entrance.Page = pageURL(p.listener.Addr(), p.BasePath, p.Token)
	return p, p.begin(q.At)
}

// prepare opens what a page needs, and writes nothing.
func prepare(ctx context.Context, s *pipeline.Studio, q PageRequest) (*Page, error) {
	if q.Token == "" && !q.Local() {
		q.Token = rand.Text()
	}
	t, err := s.Teach(ctx, q.TeachRequest)
	if err != nil {
		return nil, err
	}
	o := Options{
		Embedder: t.Embedder, Root: t.Root, Scan: t.Scan, Boxed: t.Boxed, Thumbnails: t.Thumbnails,
		Title: filepath.Base(q.Model) + " · " + filepath.Base(t.Root), Name: filepath.Base(q.Model),
		FileTimes: q.FileTimes, Events: q.Events > 0,
		Config: q.Config, Log: s.Log(), Version: s.Version(),
	}
	if t.Words != nil {
		o.Words = func() (Wording, error) { return t.Words() }
	}
	return &Page{Server: New(o), teaching: t}, nil
}

// begin opens the session, at a line of its history unless that is 0.
func (p *Page) begin(at int) error {
	if err := p.teaching.Begin(at, p.Changed); err != nil {
		return err
	}
	p.Session = p.teaching.Session
	return nil
}

// URL is the address to open, with the token if the page asks for one.
func (p *Page) URL() string { return p.Entrance.Page }

// Serve serves the page until ctx ends or, on an address of this machine only, somebody ends it on the
// page. Then it writes the model and closes everything.
func (p *Page) Serve(ctx context.Context) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	if p.Local() {
		p.Quit = quit // others do not end what somebody serves to them
	}
	return errors.Join(p.Server.Serve(ctx, p.listener), p.Close())
}

// Close writes what was decided and closes everything.
func (p *Page) Close() error {
	if p.listener != nil {
		_ = p.listener.Close() // once more, where it was served
	}
	return p.teaching.Close()
}

// merge adds what was decided with the model of another file, and says what that was.
func (p *Page) merge(file, prefer string) (string, error) {
	choice, err := pipeline.Preference(prefer)
	if err != nil {
		return "", err
	}
	return p.teaching.Merge(file, choice)
}

func listenAt(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", addr)
}

// pageURL returns an address of the page that this machine can open: one that means every
// interface is no address of a page.
func pageURL(address net.Addr, basePath, token string) string {
	host := address.String()
	if name, port, err := net.SplitHostPort(host); err == nil {
		if ip, err := netip.ParseAddr(name); err == nil && ip.IsUnspecified() {
			host = net.JoinHostPort("localhost", port)
		}
	}
	page := "http://" + strings.ReplaceAll(host, "%", "%25") + strings.TrimRight(basePath, "/") + "/"
	if token != "" {
		page += "?token=" + token
	}
	return page
}
