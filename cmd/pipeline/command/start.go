package command

import (
	"context"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/serve"
)

func newStart() *cobra.Command {
	var port int
	var alone bool
	cmd := &cobra.Command{
		Use:   "start [PROJECT]",
		Short: "Do everything on a page in the browser",
		Long: `Opens the browser on a page that does what setup, train, serve and label do. A double
click on the program does the same. Only this machine reaches the page, and only with
the token that is in its address.

The work is kept in a folder, the project: the model, its journal, the exports, and
where the photos are. PROJECT opens one that there is. It may be copied to another
machine; photos are known by their content.`,
		Example: "  pipeline start\n  pipeline start deer.project",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("%s: unexpected argument %q\nusage: %s", cmd.CommandPath(), args[1], cmd.UseLine())
			}
			return nil
		},
		RunE: command(func(ctx context.Context, a *app, args []string) error {
			dir := ""
			if len(args) > 0 {
				dir = args[0]
			}
			return a.start(ctx, dir, port, !alone)
		}),
	}
	cmd.Flags().IntVar(&port, "port", 0, "`number` of the port on this machine (default: one that is free)")
	cmd.Flags().BoolVar(&alone, "no-browser", false, "print the address, and open no browser")
	return cmd
}

// start serves the start page, or opens that which this user has already.
func (a *app) start(ctx context.Context, project string, port int, browser bool) error {
	if port < 0 || port > 65535 {
		return usagef("--port %d: give a number from 1 to 65535", port)
	}
	c := a.config
	show := openBrowser // which opens folders, too
	if !browser {
		show = nil
	}
	desk, found, err := serve.OpenDesk(ctx, a.Studio, serve.DeskRequest{
		Project: project, Port: port, Show: show, Scan: c.Scan, Boxes: c.Boxes, Classifier: c.Classifier,
		Label: c.Label, Seed: c.Seed,
	})
	switch {
	case err != nil:
		return elsewhere(err, "port")
	case found != nil:
		a.show(found, browser)
		return nil
	}
	_ = desk.CrashLog() // then they are on standard error alone
	if browser {
		if err := openBrowser(desk.BrowserURL()); err != nil {
			a.log.Warn("the browser could not be started: open the address yourself", "reason", err)
		}
	}
	a.say("open %s (Ctrl-C, or Quit on the page, ends)", desk.URL())
	return desk.Serve(ctx)
}

// openBrowser opens an address in the user's browser, or a folder in what shows folders.
func openBrowser(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	case "darwin":
		name = "open"
	}
	opener := exec.Command(name, args...)
	if err := opener.Start(); err != nil {
		return err
	}
	go func() { _ = opener.Wait() }() // it may be the browser itself, which stays
	return nil
}
