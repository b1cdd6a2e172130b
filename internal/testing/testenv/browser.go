package testenv

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browserTime is how long a page may take to load or an expression to answer, waitTime how long
// Wait waits.
const (
	browserTime = 5 * time.Minute
	waitTime    = time.Minute
)

// running is the browser of this process, which starts when a test first needs it (3 s, 6 s of
// processor time).
var running struct {
	sync.Once
	ctx context.Context
	err error
}

func start(program string) (context.Context, error) {
	profile, err := os.MkdirTemp("", "chromium-")
	if err != nil {
		return nil, err
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("allow-file-access-from-files", true), chromedp.Flag("hide-scrollbars", false),
		chromedp.Flag("remote-debugging-pipe", true),
		// A browser ends when this process does, however that ends: its pipes are closed then, and the
		// shell removes its profile.
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			cmd.Args = append([]string{"sh", "-c", `"$@"; rm -rf "$0"`, profile, program}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
		}))
	all, _ := chromedp.NewExecAllocator(context.Background(), options...)
	first, _ := chromedp.NewContext(all)
	return first, chromedp.Do(first)
}

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
	tb  testing.TB
	ctx context.Context
}

// Open opens a page in a headless Chromium and waits until it and all its
// frames have loaded. All pages of a test binary are in one browser, each with
// cookies, storage and the focus to itself.
func Open(tb testing.TB, url string) *Page {
	tb.Helper()
	program := browser(tb)
	running.Do(func() { running.ctx, running.err = start(program) })
	if running.err != nil {
		tb.Fatalf("browser: %v", running.err)
	}
	ctx, end := chromedp.NewContext(running.ctx, chromedp.WithNewBrowserContext())
	tb.Cleanup(end)
	p := &Page{tb, ctx}
	p.do(chromedp.Steps()) // a context whose first action has a limit ends with it
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.Go(url)
	return p
}

// call sends a command that answers nothing.
func call[P any](p *Page, command cdp.Command[P, cdp.Empty], params P) {
	p.tb.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	}))
}

// do runs actions.
func (p *Page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.tb.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.tb.Fatalf("browser: %v", err)
	}
}

// Go opens another address in the same page and waits until it has loaded.
func (p *Page) Go(url string) {
	p.tb.Helper()
	ctx, end := context.WithTimeout(p.ctx, browserTime)
	defer end()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		p.tb.Fatalf("browser: %s does not load: %v", url, err)
	}
}

// Eval evaluates a JavaScript expression, waits for it if it is a promise, and
// stores its value, by way of JSON, in result unless that is nil.
func (p *Page) Eval(expression string, result any) {
	p.tb.Helper()
	value, err := p.eval(expression)
	if err == nil && result != nil {
		err = json.Unmarshal(value, result)
	}
	if err != nil {
		p.tb.Fatalf("browser: %s: %v", expression, err)
	}
}

func (p *Page) eval(expression string) ([]byte, error) {
	ctx, end := context.WithTimeout(p.ctx, browserTime)
	defer end()
	return chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise, chromedp.EvalAsValue))
}

// Wait waits until a JavaScript expression is true, also if the page goes to another address
// meanwhile.
func (p *Page) Wait(expression string) {
	p.tb.Helper()
	script := fmt.Sprintf(`new Promise(function (done) {
		var end = Date.now() + %d;
		(function look() {
			if (%s) { done(true); } else if (Date.now() > end) { done(false); } else { setTimeout(look, 20); }
		}());
	})`, waitTime.Milliseconds(), expression)
	held, err := p.eval(script)
	for err != nil && strings.Contains(err.Error(), "navigated") {
		held, err = p.eval(script)
	}
	if err != nil {
		p.tb.Fatalf("browser: %s: %v", expression, err)
	}
	if string(held) != "true" {
		p.tb.Fatalf("browser: waited %v in vain for %s", waitTime, expression)
	}
}

// View sets the size of the window in CSS pixels and the colour scheme.
func (p *Page) View(width, height int, dark bool) {
	p.tb.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.do(chromedp.EmulateViewport(int64(width), int64(height)))
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// A point is a place in the window in CSS pixels.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// middle brings the first element that matches a CSS selector into sight and returns its middle, as soon as it
// stays where it is for a frame: on a busy machine the page may still be arranging itself.
func (p *Page) middle(selector string) (at point) {
	p.tb.Helper()
	p.Eval(fmt.Sprintf(`(async () => {
		const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
		const place = () => {
			const e = document.querySelector(%q);
			e.scrollIntoView({block: "nearest", behavior: "instant"});
			return e.getBoundingClientRect();
		};
		let was = place();
		for (let frames = 0; frames < 600; frames++) {
			await frame();
			await frame();
			const is = place();
			if (is.width > 0 && is.left === was.left && is.top === was.top && is.width === was.width) {
				break;
			}
			was = is;
		}
		return {x: was.left + was.width / 2, y: was.top + was.height / 2};
	})()`, selector), &at)
	return at
}

func (p *Page) mouse(kind input.DispatchMouseEventType, at point, held ...chromedp.Modifier) {
	p.tb.Helper()
	p.do(chromedp.MouseEvent(kind, at.X, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1),
		chromedp.ButtonModifiers(held...), func(e *input.DispatchMouseEventParams) {
			if kind == input.DispatchMouseEventTypeMouseMoved {
				e.Buttons = 1 // pressed while it moves
			}
		}))
}

// Click clicks the middle of the first element that matches a CSS selector.
func (p *Page) Click(selector string) {
	p.tb.Helper()
	p.click(selector)
}

// ClickWithShift clicks with the Shift key held.
func (p *Page) ClickWithShift(selector string) {
	p.tb.Helper()
	p.click(selector, chromedp.ModifierShift)
}

func (p *Page) click(selector string, held ...chromedp.Modifier) {
	p.tb.Helper()
	at := p.middle(selector)
	p.mouse(input.DispatchMouseEventTypeMousePressed, at, held...)
	p.mouse(input.DispatchMouseEventTypeMouseReleased, at, held...)
}

// Drag presses the mouse on one element and releases it on another.
func (p *Page) Drag(from, to string) {
	p.tb.Helper()
	p.mouse(input.DispatchMouseEventTypeMousePressed, p.middle(from))
	end := p.middle(to)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, end)
	p.mouse(input.DispatchMouseEventTypeMouseReleased, end)
}

// Draw presses the mouse on an element and moves it from corner to corner, given in shares of
// the element's width and height, and releases it at the last one.
func (p *Page) Draw(selector string, corners ...[2]float64) {
	p.tb.Helper()
	kind := input.DispatchMouseEventTypeMousePressed
	var at point
	for _, c := range corners {
		p.Eval(fmt.Sprintf(`(({left, top, width, height}) => ({x: left + %g * width, y: top + %g * height}))(
			document.querySelector(%q).getBoundingClientRect())`, c[0], c[1], selector), &at)
		p.mouse(kind, at)
		kind = input.DispatchMouseEventTypeMouseMoved
	}
	p.mouse(input.DispatchMouseEventTypeMouseReleased, at)
}

// Drop drags a file of the disk onto an element and drops it there.
func (p *Page) Drop(selector, file string) {
	p.tb.Helper()
	at := p.middle(selector)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{file}, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter,
		input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		call(p, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: at.X, Y: at.Y, Data: data})
	}
}

// Tap touches an element with a finger.
func (p *Page) Tap(selector string) {
	p.tb.Helper()
	at := p.middle(selector)
	call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	p.do(chromedp.TapXY(at.X, at.Y))
}

// named are the keys with names as in KeyboardEvent.key.
var named = map[string]string{"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab, "Backspace": kb.Backspace,
	"Delete": kb.Delete, "ArrowLeft": kb.ArrowLeft, "ArrowUp": kb.ArrowUp, "ArrowRight": kb.ArrowRight,
	"ArrowDown": kb.ArrowDown, "Home": kb.Home, "End": kb.End, "PageUp": kb.PageUp, "PageDown": kb.PageDown}

// Press presses keys one after the other: single characters, or names as in
// KeyboardEvent.key, such as "Enter" and "ArrowDown"; "Shift+", "Control+" and "Alt+"
// before one hold that key, in this order.
func (p *Page) Press(keys ...string) {
	p.tb.Helper()
	for _, key := range keys {
		var held []chromedp.Modifier
		for _, m := range []struct {
			prefix string
			key    chromedp.Modifier
		}{{"Shift+", chromedp.ModifierShift}, {"Control+", chromedp.ModifierCtrl}, {"Alt+", chromedp.ModifierAlt}} {
			if rest, ok := strings.CutPrefix(key, m.prefix); ok {
				key, held = rest, append(held, m.key)
			}
		}
		if name, ok := named[key]; ok {
			key = name
		}
		for _, r := range key {
			p.stroke(r, held...)
		}
	}
}

// stroke presses and releases a key. Its character comes with the press, so that a page that takes the
// press keeps it out of what has the focus then, as a keyboard's.
func (p *Page) stroke(r rune, held ...chromedp.Modifier) {
	p.tb.Helper()
	events := kb.Encode(r)
	for _, e := range events {
		if e.Key == "Unidentified" { // kb knows the keys of an American keyboard
			e.Key = string(r)
		}
		for _, m := range held {
			e.Modifiers |= int64(m)
		}
	}
	down := events[0]
	for _, e := range events {
		if e.Type == kb.KeyChar && e.Modifiers&^int64(chromedp.ModifierShift) == 0 {
			down.Type, down.Text = kb.KeyDown, e.Text
		}
	}
	for _, e := range events {
		if e.Type != kb.KeyChar {
			call(p, input.DispatchKeyEvent, *e)
		}
	}
}

// Screenshot returns the window as a PNG.
func (p *Page) Screenshot() []byte {
	p.tb.Helper()
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.tb.Fatalf("browser: %v", err)
	}
	return shot
}
