package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/serve"
)

func newServe() *cobra.Command {
	var at int
	cmd := &cobra.Command{
		Use:   "serve MODEL... [--images DIR]",
		Short: "Look at photos, correct, name and teach on a page, or label over HTTP",
		Long: `With --images, serves a page that shows the photos of a folder in the order in which
they need a person, and learns from every answer at once; and an HTTP API for programs.
MODEL need not exist: naming photos of two classes makes it. If the backbone has a text
side, words in the search box find photos.

Every decision is a line of MODEL.journal, and on disk before it is shown as done; a
server that is killed loses nothing. MODEL.base is the model that the journal starts
from. MODEL itself is written by "save" on the page, and when the server ends.
--at goes back to how everything was after a line of the history, which inspect shows.

On an address that other machines reach, every request needs a token, which the server
prints. Behind a proxy, --hosts names the host that it passes on, and --base-path the
path at which it has the page.

Without --images, serves an HTTP API that labels photos as programs send them, and
keeps nothing: POST /v1/label and /v1/embed. Of several models, a request names one:
?model=birds asks birds.model.

--boxes shows what a detector found instead of whole photos. --events shows photos of
one camera that follow each other as one, to be decided at once.`,
		Example: "  pipeline serve photos.model --images ~/Pictures\n" +
			"  pipeline serve animals.model --images /traps --boxes detections.json --events 60\n" +
			"  pipeline serve animals.model plants.model --addr 0.0.0.0:8080",
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			if a.config.Images == "" {
				return a.serveLabels(ctx, args, at)
			}
			if len(args) > 1 {
				return usagef("a page teaches one model: give one, or leave out --images to label by several")
			}
			return a.servePage(ctx, args[0], at)
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

// serveLabels serves what labels photos that are sent.
func (a *app) serveLabels(ctx context.Context, files []string, at int) error {
	c := a.config
	if i := slices.IndexFunc(files, dataset.IsFolder); i >= 0 {
		return usagef("%s is a folder, not a model; for a folder of images, write --images %s", files[i],
			asTyped(files[i]))
	}
	if from := c.Source(); at != 0 || c.Label.Events > 0 || from.Boxes.File != "" || len(c.Scan.Include) > 0 ||
		len(c.Scan.Exclude) > 0 {
		return usagef("--at, --events, --boxes, --include and --exclude are about a folder of photos: give --images")
	}
	service, err := serve.OpenService(ctx, a.Studio, c.Serve, files...)
	if err != nil {
		return elsewhere(err, "addr")
	}
	a.say("labels at %s (Ctrl-C ends)", service.URL())
	return service.Serve(ctx)
}

// servePage serves the page of a model, or opens that on which this user has it already.
func (a *app) servePage(ctx context.Context, file string, at int) error {
	c := a.config
	page, found, err := serve.Open(ctx, a.Studio, serve.PageRequest{
		TeachRequest: pipeline.TeachRequest{
			Model: file, From: c.Source(), Events: c.Label.Events, Classifier: c.Classifier, Seed: c.Seed,
		},
		Config: c.Serve, FileTimes: c.Label.FileTimes, At: at,
	})
	switch {
	case err != nil:
		return elsewhere(err, "addr")
	case found != nil:
		a.show(found, true)
		return nil
	}
	a.say("open %s (Ctrl-C ends)", page.URL())
	return page.Serve(ctx)
}

// elsewhere adds to the error of an address that cannot be served at the flag that sets another.
func elsewhere(err error, flag string) error {
	listening := (*net.OpError)(nil)
	if errors.As(err, &listening) && listening.Op == "listen" {
		return fmt.Errorf("%w: choose another with --%s", err, flag)
	}
	return err
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
