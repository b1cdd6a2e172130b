package testenv

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// browserTime is how long a page may take to load.
const browserTime = 2 * time.Minute

// Visit opens a page in a headless Chromium and returns the HTML of its
// document once the page and all its frames have loaded.
func Visit(tb testing.TB, url string) string {
	tb.Helper()
	b := startBrowser(tb)
	var target struct{ TargetID string }
	b.call(tb, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call(tb, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call(tb, "Page.enable", nil, nil)
	b.call(tb, "Page.navigate", map[string]any{"url": url}, nil)
	b.await(tb, "Page.loadEventFired")
	var document struct{ Result struct{ Value string } }
	b.call(tb, "Runtime.evaluate", map[string]any{"expression": "document.documentElement.outerHTML"}, &document)
	return document.Result.Value
}

// A session is a connection to Chromium through the DevTools protocol: JSON
// messages that end with a zero byte, over a pair of pipes.
type session struct {
	in      io.Writer
	out     *bufio.Reader
	session string // of the page, once attached
	id      int
}

type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

func startBrowser(tb testing.TB) *session {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), browserTime) // not tb.Context, which ends before the cleanup
	tb.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, browser(tb),
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--allow-file-access-from-files",
		"--user-data-dir="+tb.TempDir(), "--remote-debugging-pipe")
	theirIn, in := pipe(tb)
	out, theirOut := pipe(tb)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4, where Chromium looks
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &session{in: in, out: bufio.NewReader(out)}
	tb.Cleanup(func() {
		b.session = ""
		b.send(tb, "Browser.close", nil) // it writes its profile and exits
		if err := cmd.Wait(); err != nil {
			tb.Logf("%s: %v", cmd.Path, err)
		}
	})
	return b
}

func pipe(tb testing.TB) (r, w *os.File) {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

// call sends a command and stores its result.
func (b *session) call(tb testing.TB, method string, params, result any) {
	tb.Helper()
	b.send(tb, method, params)
	answer := b.receive(tb, method, func(m message) bool { return m.ID == b.id })
	if answer.Error != nil {
		tb.Fatalf("browser: %s: %s", method, answer.Error)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		tb.Fatalf("browser: %s: %v", method, err)
	}
}

func (b *session) send(tb testing.TB, method string, params any) {
	tb.Helper()
	b.id++
	data, err := json.Marshal(message{ID: b.id, Method: method, SessionID: b.session, Params: params})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := b.in.Write(append(data, 0)); err != nil {
		tb.Fatalf("browser: %s: %v", method, err)
	}
}

// await waits for an event.
func (b *session) await(tb testing.TB, event string) {
	tb.Helper()
	b.receive(tb, event, func(m message) bool { return m.Method == event })
}

// receive reads messages until one is wanted.
func (b *session) receive(tb testing.TB, what string, wanted func(message) bool) message {
	tb.Helper()
	for {
		data, err := b.out.ReadBytes(0)
		if err != nil {
			tb.Fatalf("browser: waiting for %s: %v", what, err)
		}
		var m message
		if err := json.Unmarshal(data[:len(data)-1], &m); err != nil {
			tb.Fatalf("browser: %v", err)
		}
		if wanted(m) {
			return m
		}
	}
}
