package main

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress shows the images done, images per second and the time left. It shows
// nothing if stderr is not a terminal.
type progress struct{ bar *progressbar.ProgressBar }

func (a *app) newProgress(total int) progress {
	f, ok := a.terminal()
	if !ok {
		return progress{}
	}
	return progress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription("images"),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("images"),
		progressbar.OptionThrottle(100e6),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p progress) add() {
	if p.bar != nil {
		_ = p.bar.Add(1) // a failing display must not stop the work
	}
}

func (p progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// newTransfer returns the progress of a download, in bytes.
func (a *app) newTransfer(total int64) progress {
	f, ok := a.terminal()
	if !ok {
		return progress{}
	}
	return progress{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(f),
		progressbar.OptionShowBytes(true),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p progress) set(done, _ int64) {
	if p.bar != nil {
		_ = p.bar.Set64(done)
	}
}

// terminal returns stderr, and whether it is a terminal that shows progress.
func (a *app) terminal() (*os.File, bool) {
	f, ok := a.stderr.(*os.File)
	return f, ok && a.config.Log == "text" && term.IsTerminal(int(f.Fd()))
}
