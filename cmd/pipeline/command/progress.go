package command

import (
	"io"

	"github.com/schollz/progressbar/v3"
)

// bars make progress bars, which show nothing if stderr is not a terminal.
type bars struct {
	out   io.Writer
	shown bool
}

// images shows the images done, images per second and the time left.
func (b bars) images(total int) (step, finish func()) {
	p := b.bar(int64(total), progressbar.OptionSetDescription("images"), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("images"), progressbar.OptionThrottle(100e6))
	return p.add, p.finish
}

// methods shows how many methods have been compared, from the start: the last takes
// longest.
func (b bars) methods(total int) (step, finish func()) {
	p := b.bar(int64(total), progressbar.OptionSetDescription("comparing methods"), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetRenderBlankState(true))
	return p.add, p.finish
}

// transfer shows the progress of a download, in bytes.
func (b bars) transfer(total int64) progress { return b.bar(total, progressbar.OptionShowBytes(true)) }

func (b bars) bar(total int64, options ...progressbar.Option) progress {
	if !b.shown {
		return progress{}
	}
	return progress{progressbar.NewOptions64(total,
		append(options, progressbar.OptionSetWriter(b.out), progressbar.OptionClearOnFinish())...)}
}

// A progress is a bar, or nothing.
type progress struct{ bar *progressbar.ProgressBar }

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

func (p progress) set(done, _ int64) {
	if p.bar != nil {
		_ = p.bar.Set64(done)
	}
}
