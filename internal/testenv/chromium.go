package testenv

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// browserTime is how long an answer of the browser may take.
const browserTime = 5 * time.Minute

// A chromium is a headless Chromium and the connection to it through the DevTools
// protocol: JSON messages that end with a zero byte, over a pair of pipes.
type chromium struct {
	in io.Writer

	mu      sync.Mutex
	id      int
	answers map[int]chan message
	loaded  map[string]chan struct{} // by session: its page has loaded
}

type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

var running struct {
	sync.Mutex
	*chromium
}

// theBrowser returns the browser of this process, which is started when a test first
// needs it (3 s, 6 s of processor time).
func theBrowser(tb testing.TB) *chromium {
	tb.Helper()
	program := browser(tb)
	running.Lock()
	defer running.Unlock()
	if running.chromium == nil {
		b, err := startChromium(program)
		if err != nil {
			tb.Fatalf("browser: %v", err)
		}
		running.chromium = b
	}
	return running.chromium
}

// startChromium starts a browser that lives as long as this process: it ends when its
// end of the pipes is closed, and the shell then removes its profile.
func startChromium(program string) (*chromium, error) {
	profile, err := os.MkdirTemp("", "chromium-")
	if err != nil {
		return nil, err
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	defer theirOut.Close()
	cmd := exec.Command("sh", "-c", `"$@"; rm -rf "$0"`, profile, program,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-background-timer-throttling",
		"--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
		"--disable-component-update", "--disable-sync", "--allow-file-access-from-files",
		"--user-data-dir="+profile, "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4, where Chromium looks
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b := &chromium{in: in, answers: map[int]chan message{}, loaded: map[string]chan struct{}{}}
	go b.receive(bufio.NewReader(out))
	return b, nil
}

// loads returns what receives a value when the page of a session has loaded.
func (b *chromium) loads(session string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	loaded := make(chan struct{}, 1)
	b.loaded[session] = loaded
	return loaded
}

// call sends a command to a session, or to the browser, and stores its result.
func (b *chromium) call(tb testing.TB, session, method string, params, result any) {
	tb.Helper()
	if err := b.try(session, method, params, result); err != nil {
		tb.Fatalf("browser: %s: %v", method, err)
	}
}

// A refused command is one that the browser answered with an error.
type refused string

func (r refused) Error() string { return string(r) }

// try is call without a test.
func (b *chromium) try(session, method string, params, result any) error {
	reply, err := b.send(message{Method: method, SessionID: session, Params: params})
	if err != nil {
		return err
	}
	var answer message
	select {
	case answer = <-reply:
	case <-time.After(browserTime):
		return errors.New("no answer")
	}
	switch {
	case answer.ID == 0:
		return errors.New("the browser ended before it answered")
	case answer.Error != nil:
		return refused(answer.Error)
	case result == nil:
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

// send sends a command and returns where its answer will be.
func (b *chromium) send(m message) (<-chan message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.id++
	m.ID = b.id
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	reply := make(chan message, 1)
	b.answers[m.ID] = reply
	_, err = b.in.Write(append(data, 0))
	return reply, err
}

// receive hands each message to who waits for it, until the browser ends.
func (b *chromium) receive(out *bufio.Reader) {
	for {
		data, err := out.ReadBytes(0)
		var m message
		if err == nil {
			err = json.Unmarshal(data[:len(data)-1], &m)
		}
		b.mu.Lock()
		if err != nil {
			for _, reply := range b.answers {
				close(reply)
			}
			b.answers = map[int]chan message{}
			b.mu.Unlock()
			return
		}
		if reply := b.answers[m.ID]; reply != nil {
			delete(b.answers, m.ID)
			reply <- m
		}
		if m.Method == "Page.loadEventFired" {
			select {
			case b.loaded[m.SessionID] <- struct{}{}:
			default: // nobody knows the page, or looked since it last loaded
			}
		}
		b.mu.Unlock()
	}
}
