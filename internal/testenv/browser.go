package testenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

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
	tb      testing.TB
	b       *chromium
	session string
	loaded  <-chan struct{}
}

// Open opens a page in a headless Chromium and waits until it and all its
// frames have loaded. All pages of a test binary are in one browser, each with
// cookies, storage and the focus to itself.
func Open(tb testing.TB, url string) *Page {
	tb.Helper()
	b := theBrowser(tb)
	var context struct {
		BrowserContextID string `json:"browserContextId"`
	}
	b.call(tb, "", "Target.createBrowserContext", nil, &context)
	tb.Cleanup(func() { b.call(tb, "", "Target.disposeBrowserContext", context, nil) })
	var target struct{ TargetID string }
	b.call(tb, "", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true,
		"browserContextId": context.BrowserContextID}, &target)
	var attached struct{ SessionID string }
	b.call(tb, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &Page{tb, b, attached.SessionID, b.loads(attached.SessionID)}
	p.call("Page.enable", nil, nil)
	p.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	p.Go(url)
	return p
}

// Go opens another address in the same page and waits until it has loaded.
func (p *Page) Go(url string) {
	p.tb.Helper()
	select {
	case <-p.loaded: // of an earlier page
	default:
	}
	p.call("Page.navigate", map[string]any{"url": url}, nil)
	select {
	case <-p.loaded:
	case <-time.After(browserTime):
		p.tb.Fatalf("browser: %s does not finish loading", url)
	}
}

func (p *Page) call(method string, params, result any) {
	p.tb.Helper()
	p.b.call(p.tb, p.session, method, params, result)
}

// Eval evaluates a JavaScript expression, waits for it if it is a promise, and
// stores its value, by way of JSON, in result unless that is nil.
func (p *Page) Eval(expression string, result any) {
	p.tb.Helper()
	if err := p.eval(expression, result); err != nil {
		p.tb.Fatalf("browser: %s: %v", expression, err)
	}
}

func (p *Page) eval(expression string, result any) error {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	err := p.b.try(p.session, "Runtime.evaluate",
		map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	switch {
	case err != nil:
		return err
	case answer.ExceptionDetails != nil:
		return fmt.Errorf("%s", answer.ExceptionDetails)
	case result == nil:
		return nil
	}
	return json.Unmarshal(answer.Result.Value, result)
}

// Wait waits until a JavaScript expression is true, also if the page goes to another address
// meanwhile.
func (p *Page) Wait(expression string) {
	p.tb.Helper()
	var held bool
	script := fmt.Sprintf(`new Promise(function (done) {
		var end = Date.now() + %d;
		(function look() {
			if (%s) { done(true); } else if (Date.now() > end) { done(false); } else { setTimeout(look, 20); }
		}());
	})`, waitTime.Milliseconds(), expression)
	err := p.eval(script, &held)
	for left := refused(""); errors.As(err, &left) && strings.Contains(string(left), "navigated"); {
		err = p.eval(script, &held)
	}
	if err != nil {
		p.tb.Fatalf("browser: %s: %v", expression, err)
	}
	if !held {
		p.tb.Fatalf("browser: waited %v in vain for %s", waitTime, expression)
	}
}

// View sets the size of the window in CSS pixels and the colour scheme.
func (p *Page) View(width, height int, dark bool) {
	p.tb.Helper()
	p.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.call("Emulation.setEmulatedMedia",
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
	p.call("Input.dispatchMouseEvent", event, nil)
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

// Draw presses the mouse on an element and moves it from corner to corner, given in shares of
// the element's width and height, and releases it at the last one.
func (p *Page) Draw(selector string, corners ...[2]float64) {
	p.tb.Helper()
	kind := "mousePressed"
	var at point
	for _, c := range corners {
		p.Eval(fmt.Sprintf(`(({left, top, width, height}) => ({x: left + %g * width, y: top + %g * height}))(
			document.querySelector(%q).getBoundingClientRect())`, c[0], c[1], selector), &at)
		p.mouse(kind, at, 0)
		kind = "mouseMoved"
	}
	p.mouse("mouseReleased", at, 0)
}

// Drop drags a file of the disk onto an element and drops it there.
func (p *Page) Drop(selector, file string) {
	p.tb.Helper()
	at := p.middle(selector)
	data := map[string]any{"items": []any{}, "files": []string{file}, "dragOperationsMask": 1}
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		p.call("Input.dispatchDragEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "data": data}, nil)
	}
}

// Tap touches an element with a finger.
func (p *Page) Tap(selector string) {
	p.tb.Helper()
	at := p.middle(selector)
	p.call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true}, nil)
	p.call("Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []point{at}}, nil)
	p.call("Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []point{}}, nil)
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
		p.call("Input.dispatchKeyEvent", event, nil)
		event["type"] = "keyUp"
		delete(event, "text")
		p.call("Input.dispatchKeyEvent", event, nil)
	}
}

// Screenshot returns the window as a PNG.
func (p *Page) Screenshot() []byte {
	p.tb.Helper()
	var shot struct{ Data []byte }
	p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	return shot.Data
}
