package testenv

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browserTime is how long a browser may be silent before it is ended.
const browserTime = 5 * time.Minute

// The bits of keys that are held, in the modifiers of an event.
const (
	altKey     = 1
	controlKey = 2
	shiftKey   = 8
)

// waitTime is how long Wait waits.
const waitTime = time.Minute

// Visit opens a page in a headless Chromium and returns the HTML of its
// document once the page and all its frames have loaded.
func Visit(tb testing.TB, url string) string {
	tb.Helper()
	var document string
	Open(tb, url).Eval("document.documentElement.outerHTML", &document)
	return document
}

// A Page is a page open in a headless Chromium. An error of its methods ends
// the test.
type Page struct {
	tb testing.TB
	b  *session
}

// Open opens a page in a headless Chromium and waits until it and all its
// frames have loaded.
func Open(tb testing.TB, url string) *Page {
	tb.Helper()
	b := startBrowser(tb)
	var target struct{ TargetID string }
	b.call(tb, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call(tb, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call(tb, "Page.enable", nil, nil)
	p := &Page{tb, b}
	p.Go(url)
	return p
}

// Go opens another address in the same page and waits until it has loaded.
func (p *Page) Go(url string) {
	p.tb.Helper()
	p.b.call(p.tb, "Page.navigate", map[string]any{"url": url}, nil)
	p.b.await(p.tb, "Page.loadEventFired")
}

// Eval evaluates a JavaScript expression, waits for it if it is a promise, and
// stores its value, by way of JSON, in result unless that is nil.
func (p *Page) Eval(expression string, result any) {
	p.tb.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	p.b.call(p.tb, "Runtime.evaluate",
		map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		p.tb.Fatalf("browser: %s: %s", expression, answer.ExceptionDetails)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(answer.Result.Value, result); err != nil {
		p.tb.Fatalf("browser: %s: %v", expression, err)
	}
}

// Wait waits until a JavaScript expression is true.
func (p *Page) Wait(expression string) {
	p.tb.Helper()
	var held bool
	p.Eval(fmt.Sprintf(`new Promise(function (done) {
		var end = Date.now() + %d;
		(function look() {
			if (%s) { done(true); } else if (Date.now() > end) { done(false); } else { setTimeout(look, 20); }
		}());
	})`, waitTime.Milliseconds(), expression), &held)
	if !held {
		p.tb.Fatalf("browser: waited %v in vain for %s", waitTime, expression)
	}
}

// View sets the size of the window in CSS pixels and the colour scheme.
func (p *Page) View(width, height int, dark bool) {
	p.tb.Helper()
	p.b.call(p.tb, "Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.b.call(p.tb, "Emulation.setEmulatedMedia",
		map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// A point is a place in the window in CSS pixels.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// middle brings the first element that matches a CSS selector into sight and
// returns its middle.
func (p *Page) middle(selector string) (at point) {
	p.tb.Helper()
	p.Eval(fmt.Sprintf(`(function () {
		var e = document.querySelector(%q);
		e.scrollIntoView({block: "nearest", behavior: "instant"});
		var r = e.getBoundingClientRect();
		return {x: r.left + r.width / 2, y: r.top + r.height / 2};
	}())`, selector), &at)
	return at
}

func (p *Page) mouse(kind string, at point, modifiers int) {
	p.tb.Helper()
	event := map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1,
		"modifiers": modifiers}
	if kind == "mouseMoved" {
		event["buttons"] = 1
	}
	p.b.call(p.tb, "Input.dispatchMouseEvent", event, nil)
}

// Click clicks the middle of the first element that matches a CSS selector.
func (p *Page) Click(selector string) {
	p.tb.Helper()
	p.click(selector, 0)
}

// ClickWithShift clicks with the Shift key held.
func (p *Page) ClickWithShift(selector string) {
	p.tb.Helper()
	p.click(selector, shiftKey)
}

func (p *Page) click(selector string, modifiers int) {
	p.tb.Helper()
	at := p.middle(selector)
	p.mouse("mousePressed", at, modifiers)
	p.mouse("mouseReleased", at, modifiers)
}

// Drag presses the mouse on one element and releases it on another.
func (p *Page) Drag(from, to string) {
	p.tb.Helper()
	p.mouse("mousePressed", p.middle(from), 0)
	end := p.middle(to)
	p.mouse("mouseMoved", end, 0)
	p.mouse("mouseReleased", end, 0)
}

// Drop drags a file of the disk onto an element and drops it there.
func (p *Page) Drop(selector, file string) {
	p.tb.Helper()
	at := p.middle(selector)
	data := map[string]any{"items": []any{}, "files": []string{file}, "dragOperationsMask": 1}
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		p.b.call(p.tb, "Input.dispatchDragEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "data": data}, nil)
	}
}

// Tap touches an element with a finger.
func (p *Page) Tap(selector string) {
	p.tb.Helper()
	at := p.middle(selector)
	p.b.call(p.tb, "Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true}, nil)
	p.b.call(p.tb, "Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []point{at}}, nil)
	p.b.call(p.tb, "Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []point{}}, nil)
}

// Press presses keys one after the other: single characters, or names as in
// KeyboardEvent.key, such as "Enter" and "ArrowDown"; "Shift+", "Control+" and "Alt+"
// before one hold that key, in this order.
func (p *Page) Press(keys ...string) {
	p.tb.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, " ": 32, "Tab": 9, "Backspace": 8, "Delete": 46,
		"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "PageUp": 33,
		"PageDown": 34}
	for _, key := range keys {
		modifiers := 0
		for _, held := range []struct {
			name string
			bit  int
		}{{"Shift+", shiftKey}, {"Control+", controlKey}, {"Alt+", altKey}} {
			if rest, ok := strings.CutPrefix(key, held.name); ok {
				key, modifiers = rest, modifiers|held.bit
			}
		}
		event := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key],
			"modifiers": modifiers}
		if len([]rune(key)) == 1 && modifiers&(controlKey|altKey) == 0 {
			event["text"] = key
		} else if key == "Enter" {
			event["text"] = "\r"
		}
		p.b.call(p.tb, "Input.dispatchKeyEvent", event, nil)
		event["type"] = "keyUp"
		delete(event, "text")
		p.b.call(p.tb, "Input.dispatchKeyEvent", event, nil)
	}
}

// Screenshot returns the window as a PNG.
func (p *Page) Screenshot() []byte {
	p.tb.Helper()
	var shot struct{ Data []byte }
	p.b.call(p.tb, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	return shot.Data
}

// A session is a connection to Chromium through the DevTools protocol: JSON
// messages that end with a zero byte, over a pair of pipes.
type session struct {
	in      io.Writer
	out     *bufio.Reader
	silence *time.Timer
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
	ctx, cancel := context.WithCancel(context.Background()) // not tb.Context, which ends before the cleanup
	tb.Cleanup(cancel)
	silence := time.AfterFunc(browserTime, cancel)
	cmd := exec.CommandContext(ctx, browser(tb),
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking",
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
	b := &session{in: in, out: bufio.NewReader(out), silence: silence}
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
		b.silence.Reset(browserTime)
		var m message
		if err := json.Unmarshal(data[:len(data)-1], &m); err != nil {
			tb.Fatalf("browser: %v", err)
		}
		if wanted(m) {
			return m
		}
	}
}
