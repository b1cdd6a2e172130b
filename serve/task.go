package serve

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
)

// maxTaskLines is how many lines of a task are kept: the last ones.
const maxTaskLines = 200

// A Task is work of a Desk that takes a while. Those who work report to it: they write
// lines, and say how far they are.
type Task struct {
	kind   string
	dir    string // of the project that it opens, "" for none
	cancel context.CancelFunc
	done   chan struct{}

	mu          sync.Mutex
	lines       []string
	part        []byte // of a line that has not ended
	unit        string
	n, of       int64
	err         error
	interrupted bool
}

// taskAnswer is what the page hears of a task.
type taskAnswer struct {
	Kind    string   `json:"kind"`
	Running bool     `json:"running"`
	Unit    string   `json:"unit"`
	Done    int64    `json:"done"`
	Total   int64    `json:"total"` // 0 if nobody knows
	Lines   []string `json:"lines"`
	// Error says why it failed, nil if it did not. Cancelled reports that somebody ended it.
	Error     *string `json:"error"`
	Cancelled bool    `json:"cancelled"`
}

// Write takes lines of text for people.
func (t *Task) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.part = append(t.part, text...)
	for {
		line, rest, ended := bytes.Cut(t.part, []byte("\n"))
		if !ended {
			return len(text), nil
		}
		t.part = bytes.Clone(rest)
		if line := strings.TrimSpace(string(line)); line != "" {
			t.lines = append(t.lines, strings.ToValidUTF8(line, "�"))
			t.lines = t.lines[max(0, len(t.lines)-maxTaskLines):]
		}
	}
}

// Progress says how much is done, in units such as "images" or "bytes"; of is 0 or less if
// nobody knows how much there is.
func (t *Task) Progress(unit string, done, of int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unit, t.n, t.of = unit, done, max(of, 0)
}

// beginTask starts work in the background.
func beginTask(ctx context.Context, kind string, work func(context.Context, *Task) error) *Task {
	ctx, cancel := context.WithCancel(ctx)
	t := &Task{kind: kind, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer cancel()
		err := work(ctx, t)
		t.mu.Lock()
		t.interrupted = ctx.Err() != nil && err != nil
		if !t.interrupted && !errors.Is(err, context.Canceled) {
			t.err = err
		}
		t.mu.Unlock()
		close(t.done)
	}()
	return t
}

func (t *Task) running() bool {
	select {
	case <-t.done:
		return false
	default:
		return true
	}
}

func (t *Task) answer() *taskAnswer {
	if t == nil {
		return nil
	}
	running := t.running()
	t.mu.Lock()
	defer t.mu.Unlock()
	a := &taskAnswer{
		Kind: t.kind, Running: running, Unit: t.unit, Done: t.n, Total: t.of, Lines: append([]string{}, t.lines...),
		Cancelled: t.interrupted,
	}
	if t.err != nil {
		text := strings.ToValidUTF8(t.err.Error(), "�")
		a.Error = &text
	}
	return a
}
