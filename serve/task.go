package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/teach"
)

// maxTaskLines is how many lines of a task are kept: the last ones.
const maxTaskLines = 200

// A task is work of a Desk that takes a while. It is the pipeline.Listener of the request that it
// consists of.
type task struct {
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
	// Conflicts are photos of which two projects say something else, nil for none.
	Conflicts *conflictsAnswer `json:"conflicts"`
}

// conflictsAnswer has some of all conflicts, with what this and the other project say.
type conflictsAnswer struct {
	This   string           `json:"this"`
	Other  string           `json:"other"`
	All    int              `json:"all"`
	Photos []conflictAnswer `json:"photos"`
}

type conflictAnswer struct {
	ID    teach.ID `json:"id"`
	Name  string   `json:"name"`
	This  string   `json:"this"`
	Other string   `json:"other"`
}

// conflictsOf returns what an error says of conflicts, nil if it is about something else.
func conflictsOf(err error) *conflictsAnswer {
	var conflicts *teach.ConflictsError
	if !errors.As(err, &conflicts) {
		return nil
	}
	a := &conflictsAnswer{This: conflicts.This, Other: conflicts.Other, All: conflicts.All}
	for _, p := range conflicts.Photos {
		a.Photos = append(a.Photos, conflictAnswer{p.ID, p.Path, p.This, p.Other})
	}
	return a
}

// Write takes lines of text for people.
func (t *task) Write(text []byte) (int, error) {
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

// Say implements pipeline.Listener.
func (t *task) Say(line string) { fmt.Fprintln(t, printable.Text(line)) }

// Begin implements pipeline.Listener.
func (t *task) Begin(unit string, total int64) pipeline.Counter {
	c := &counter{task: t, unit: unit}
	c.of.Store(total)
	c.tell(0)
	return c
}

// A counter tells a task how far it is.
type counter struct {
	task *task
	unit string
	done atomic.Int64
	of   atomic.Int64 // 0 or less if nobody knows
}

func (c *counter) tell(done int64) {
	c.task.mu.Lock()
	defer c.task.mu.Unlock()
	c.task.unit, c.task.n, c.task.of = c.unit, done, max(c.of.Load(), 0)
}

// Add implements pipeline.Counter.
func (c *counter) Add() { c.tell(c.done.Add(1)) }

// Set implements pipeline.Counter.
func (c *counter) Set(done, total int64) {
	if total > 0 { // what is obtained may be larger than what is made of it
		c.of.Store(total)
	}
	c.tell(done)
}

// Finish implements pipeline.Counter.
func (c *counter) Finish() {}

// beginTask starts work in the background.
func beginTask(ctx context.Context, kind string, work func(context.Context, *task) error) *task {
	ctx, cancel := context.WithCancel(ctx)
	t := &task{kind: kind, cancel: cancel, done: make(chan struct{})}
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

func (t *task) running() bool {
	select {
	case <-t.done:
		return false
	default:
		return true
	}
}

func (t *task) answer() *taskAnswer {
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
		a.Error, a.Conflicts = &text, conflictsOf(t.err)
	}
	return a
}
