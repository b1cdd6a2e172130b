package command

import (
	"io"

	"github.com/schollz/progressbar/v3"

	"github.com/seed-90d10d51/pipeline"
)

// bars make progress bars, which show nothing if stderr is not a terminal.
type bars struct {
	out   io.Writer
	shown bool
}

// begin shows how many of some units are done: of images how many a second, too, and the time left;
// of methods how many have been compared, from the start, since the last takes longest.
func (b bars) begin(unit string, total int64) *progress {
	switch unit {
	case pipeline.Images:
		return b.bar(total, progressbar.OptionSetDescription("images"), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionSetItsString("images"), progressbar.OptionThrottle(100e6))
	case pipeline.Methods:
		return b.bar(total, progressbar.OptionSetDescription("comparing methods"),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetRenderBlankState(true))
	}
	return b.bar(total, progressbar.OptionShowBytes(true))
}

func (b bars) bar(total int64, options ...progressbar.Option) *progress {
	p := &progress{total: total}
	if b.shown {
		p.bar = progressbar.NewOptions64(total,
			append(options, progressbar.OptionSetWriter(b.out), progressbar.OptionClearOnFinish())...)
		p.bar.StartWithoutRender() // or time counts from the first image on, and its rate is absurd
	}
	return p
}

// A progress is shown by a bar, or not at all.
type progress struct {
	bar   *progressbar.ProgressBar
	total int64
}

// Add implements pipeline.Counter.
func (p *progress) Add() {
	if p.bar != nil {
		_ = p.bar.Add(1) // a failing display must not stop the work
	}
}

// Finish implements pipeline.Counter.
func (p *progress) Finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// Set implements pipeline.Counter; total is 0 or less if nobody knows how much there is.
func (p *progress) Set(done, total int64) {
	if p.bar == nil {
		return
	}
	if total > 0 && total != p.total { // what is obtained may be larger than what is made of it
		p.total = total
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(done)
}
