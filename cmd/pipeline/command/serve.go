package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach"
)

func newServe() *cobra.Command {
	var at int
	cmd := &cobra.Command{
		Use:   "serve MODEL --images DIR",
		Short: "Look at photos, correct, name and teach on a page, and label over HTTP",
		Long: `Serves a page that shows the photos of a folder in the order in which they need a
person, and learns from every answer at once; and an HTTP API for programs. MODEL
need not exist: naming photos of two classes makes it. If the backbone has a text side,
words in the search box find photos.

Every decision is a line of MODEL.journal, and on disk before it is shown as done; a
server that is killed loses nothing. MODEL.base is the model that the journal starts
from. MODEL itself is written by "save" on the page, and when the server ends.
--at goes back to how everything was after a line of the history, which inspect shows.

On an address that other machines reach, every request needs a token, which the server
prints. Behind a proxy, --hosts names the host that it passes on, and --base-path the
path at which it has the page.

--boxes shows what a detector found instead of whole photos. --events shows photos of
one camera that follow each other as one, to be decided at once.`,
		Example: "  pipeline serve photos.model --images ~/Pictures\n" +
			"  pipeline serve animals.model --images /traps --boxes detections.json --events 60",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			return a.serveHTTP(ctx, args[0], at)
		}),
	}
	inputFlags(cmd, "images")
	f := cmd.Flags()
	f.StringArray("include", nil,
		"read only files that match a glob `pattern`: *.jpg, 2024/**; may be repeated")
	f.StringArray("exclude", nil, "skip files and folders that match a glob `pattern`; may be repeated")
	bind(f, "scan.", "include", "exclude")
	f.String("addr", serve.DefaultConfig().Addr, "`address` to serve at, host:port")
	f.StringArray("hosts", nil, "`name` by which a proxy passes requests on; may be repeated")
	f.String("base-path", "", "`path` at which a proxy has the page, such as /label")
	bind(f, "serve.", "addr", "hosts", "base-path")
	boxFlags(cmd)
	f.Float64("events", 0, "show photos of one camera as one that are at most so many `seconds` apart")
	bind(f, "label.", "events")
	f.IntVar(&at, "at", 0, "go back to this `line` of the history")
	backboneFlag(cmd)
	tokenizerFlag(cmd)
	return cmd
}

// serveHTTP serves a model, or opens the page on which this user serves it already.
func (a *app) serveHTTP(ctx context.Context, file string, at int) error {
	if err := a.require([2]string{"images", a.config.Images}); err != nil {
		return err
	}
	if at != 0 {
		return a.serveHere(ctx, file, at)
	}
	if shown, err := a.showServed(ctx, file); shown || err != nil {
		return err
	}
	err := a.serveHere(ctx, file, at)
	listening := (*net.OpError)(nil)
	if !errors.Is(err, teach.ErrInUse) && !(errors.As(err, &listening) && listening.Op == "listen") {
		return err
	}
	// Another one that began at the same time may have been faster: it listens before it has the model.
	for range 50 {
		if shown, _ := a.showServed(ctx, file); shown {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// showServed opens the page on which this user serves a model already, and reports whether there
// is one.
func (a *app) showServed(ctx context.Context, file string) (shown bool, err error) {
	found, err := serve.Find(ctx, file)
	if found == nil {
		return false, err
	}
	a.show(found, true)
	return true, nil
}

// show says where a page is that another process has, and opens it.
func (a *app) show(found *serve.Found, browser bool) {
	photos := ""
	if found.Photos != "" {
		photos = " with the photos in " + found.Photos
	}
	a.say("open %s (running already%s: %s)", found.Page, photos, found)
	if !browser || found.Browser == "" {
		return
	}
	if err := openBrowser(found.Browser); err != nil {
		a.log.Debug("the browser could not be started", "reason", err)
	}
}

// serveHere writes nothing before everything that may fail has been tried.
func (a *app) serveHere(ctx context.Context, file string, at int) (err error) {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	s, err := a.newSite(ctx, file, tokenOf(a.config.Serve))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := listen(ctx, a.config.Serve.Addr, "addr")
	if err != nil {
		return err
	}
	defer l.Close() // once more, where it was served
	s.server.Entrance.Page = pageURL(l.Addr(), a.config.Serve.BasePath, s.server.Token)
	if a.config.Serve.Local() {
		s.server.Quit = quit // others do not end what somebody serves to them
	}
	if err := s.open(at); err != nil {
		return err
	}
	a.say("open %s (Ctrl-C ends)", s.server.Entrance.Page)
	return s.server.Serve(ctx, l)
}

// listen listens at an address, which a flag sets.
func listen(ctx context.Context, addr, flag string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another with --%s", err, flag)
	}
	return l, nil
}

// tokenOf returns the token to ask for, "" for none.
func tokenOf(c serve.Config) string {
	if c.Token == "" && !c.Local() {
		return rand.Text()
	}
	return c.Token
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
