package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach/project"
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
func (a *app) start(ctx context.Context, dir string, port int, browser bool) error {
	if port < 0 || port > 65535 {
		return usagef("--port %d: give a number from 1 to 65535", port)
	}
	recent, err := project.UserRecent()
	if err != nil {
		a.log.Warn("projects will not be listed as recent ones", "reason", err)
	}
	if dir != "" {
		p, err := project.Open(dir)
		if err != nil && !errors.Is(err, project.ErrNoPhotos) {
			return &pipeline.UsageError{Err: err}
		}
		dir = p.Dir
		// Whoever else has it says so on the page.
		if found, _ := serve.Find(ctx, p.Model()); found != nil {
			a.show(found, browser)
			return nil
		}
	}
	contact, lock, found := a.findDesk(ctx, recent, dir)
	if found != nil {
		a.show(found, browser)
		return nil
	}
	if lock != nil {
		defer lock.Unlock()
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("no home folder: %w", err)
	}
	l, err := listen(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), "port")
	if err != nil {
		return err
	}
	defer l.Close() // once more, where it was served
	desk := &serve.Desk{
		Program: program{a}, Token: rand.Text(), Contact: contact, Recent: recent, Home: home, Formats: label.Formats(),
		Log: a.log,
	}
	if browser {
		// Other users see the arguments of programs, so this address opens the page once.
		desk.Once = rand.Text()
		if err := openBrowser(pageURL(l.Addr(), "", "") + "?once=" + desk.Once); err != nil {
			a.log.Warn("the browser could not be started: open the address yourself", "reason", err)
		}
	}
	a.say("open %s (Ctrl-C, or Quit on the page, ends)", pageURL(l.Addr(), "", desk.Token))
	return desk.Serve(ctx, l, dir)
}

// findDesk returns the start page that this user has already, if that shows the project in dir or
// opens it now; otherwise the file in which a new page leaves its contact, "" for none, and the lock
// of that.
func (a *app) findDesk(ctx context.Context, recent project.Recent, dir string) (contact string, lock *flock.Flock,
	found *serve.Found) {
	if recent.File == "" {
		return "", nil, nil
	}
	host, _ := os.Hostname() // home folders may be shared by several machines
	folder := filepath.Dir(recent.File)
	contact = filepath.Join(folder, "start-"+url.PathEscape(host)+".json")
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		found, lock, err = serve.FindDesk(ctx, contact, dir)
	}
	if err != nil {
		a.log.Warn("this page will not be found by a second start", "reason", err)
	}
	if lock == nil || err != nil {
		return "", lock, found
	}
	return contact, lock, nil
}

// openBrowser opens an address in the user's browser.
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

// during returns the app of a task of the start page, with settings and a report of its own: it says
// to the task what a command says to a terminal.
func (a *app) during(task *serve.Task, c config.Config, report string) *app {
	c.List, c.Features = "", ""
	log := slog.New(remarks{out: task, level: slog.LevelInfo})
	hearing := listener{&app{stdout: task, bars: bars{watch: task.Progress}}}
	return &app{
		Studio: a.With(pipeline.WithSettings(c.Studio()), pipeline.WithLogger(log), pipeline.WithListener(hearing)),
		config: c, report: report, flags: a.flags, log: log,
		stdin: a.stdin, stdout: task, stderr: task, bars: hearing.bars,
	}
}
