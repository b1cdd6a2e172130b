package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/random"
)

// TestHostileClients: while clients are slow, send too much or nonsense, ask for files
// and come from elsewhere, an honest client is answered, no answer is a 500, nothing
// panics, and memory does not grow. Three seconds, or ten minutes with PIPELINE_LONG.
func TestHostileClients(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	lasts := 2 * time.Second
	if os.Getenv("PIPELINE_LONG") != "" {
		lasts = 10 * time.Minute
	}
	var said lines
	s := newSite(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	s.teach(s.loaded(30)[:6])
	h := &hostile{address: strings.TrimPrefix(s.url, "http://"), codes: map[int]int{}}
	h.attack(time.Second) // buffers and caches are filled
	before, lines := inUse(), s.server.newStatus().Seq
	h.attack(lasts)
	for more := 0; more < 30 && !h.didAll(); more++ { // a busy machine
		h.attack(time.Second)
	}
	after := inUse()
	t.Logf("answers by code: %v; %d slow clients were cut; memory %.1f MiB before, %.1f MiB after", h.codes, h.cut,
		before, after)
	if after > before+4 {
		t.Errorf("memory grew from %.1f to %.1f MiB", before, after)
	}
	for code, n := range h.codes {
		if code >= 500 && code != http.StatusServiceUnavailable && code != http.StatusHTTPVersionNotSupported {
			t.Errorf("%d answers are %d", n, code)
		}
	}
	if !h.didAll() {
		t.Error("the clients did not do what they should")
	}
	if h.cut == 0 && lasts > time.Minute {
		t.Error("no slow client was cut")
	}
	for _, failed := range h.failed {
		t.Error(failed)
	}
	if text := said.text(); strings.Contains(text, "panic") || strings.Contains(text, "level=ERROR") {
		t.Errorf("the server says: %s", text)
	}
	if now := s.server.newStatus().Seq; now != lines {
		t.Errorf("the journal grew from %d to %d lines", lines, now)
	}
}

// didAll reports whether honest, foreign and greedy clients were answered.
func (h *hostile) didAll() bool {
	return h.codes[http.StatusOK] > 0 && h.codes[http.StatusForbidden] > 0 &&
		h.codes[http.StatusRequestEntityTooLarge] > 0
}

// inUse returns the memory in use, in MiB.
func inUse() float64 {
	runtime.GC()
	runtime.GC() // pools are emptied in two
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc+m.StackInuse) / (1 << 20)
}

// lines is a log of the last megabyte.
type lines struct {
	mu   sync.Mutex
	kept []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, b...)
	l.kept = l.kept[max(0, len(l.kept)-1<<20):]
	return len(b), nil
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}

// slowClients are those of one kind at a time.
const slowClients = 12

type hostile struct {
	address string

	mu     sync.Mutex
	codes  map[int]int
	cut    int      // slow clients
	failed []string // of the honest client
}

// attack lets all clients work for a while. The context has no deadline: past one, a dial
// fails at once, for the honest client too, while Err may still be nil.
func (h *hostile) attack(lasts time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	defer time.AfterFunc(lasts, cancel).Stop()
	var working sync.WaitGroup
	for i, client := range []func(ctx context.Context, round int){
		h.honest, h.honest, h.foreign, h.huge, h.traverse, h.malformed, h.malformed, h.slowHeader, h.slowHeader,
		h.slowBody, h.slowPhoto, h.listener, h.listener,
	} {
		working.Go(func() {
			for round := i; ctx.Err() == nil; round += 1000 {
				client(ctx, round)
			}
		})
	}
	working.Wait()
}

// send sends bytes as they are, and counts the code of the answer, if there is one.
func (h *hostile) send(ctx context.Context, raw ...[]byte) (code int, err error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", h.address)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	_ = c.(*net.TCPConn).SetLinger(0) // its port is free at once
	defer context.AfterFunc(ctx, func() { c.Close() })()
	go func() {
		for _, b := range raw {
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	answer.Body.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.codes[answer.StatusCode]++
	return answer.StatusCode, nil
}

func rawRequest(head, host, more, body string) []byte {
	return fmt.Appendf(nil, "%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", head,
		host, more, len(body), body)
}

func (h *hostile) honest(ctx context.Context, round int) {
	photo := rawRequest("POST /v1/label", h.address, "Content-Type: image/jpeg\r\n", fmt.Sprint("IMG 1 ", round))
	for _, r := range [][]byte{rawRequest("GET /v1/status", h.address, "", ""),
		rawRequest("GET /v1/images?view=check", h.address, "", ""), photo} {
		if code, err := h.send(ctx, r); code != http.StatusOK && ctx.Err() == nil {
			h.mu.Lock()
			h.failed = append(h.failed, fmt.Sprintf("an honest client is answered %d (%v): %.60q", code, err, r))
			h.mu.Unlock()
		}
	}
}

func (h *hostile) foreign(ctx context.Context, _ int) {
	h.send(ctx, rawRequest("GET /v1/images", "photos.example", "", ""))
	h.send(ctx, rawRequest("POST /v1/undo", h.address, "Origin: https://photos.example\r\n", ""))
	h.send(ctx, rawRequest("POST /v1/accept", h.address,
		"Sec-Fetch-Site: cross-site\r\nContent-Type: application/json\r\n", `{"above":0}`))
}

func (h *hostile) huge(ctx context.Context, _ int) {
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	head := fmt.Appendf(nil,
		"POST /v1/label HTTP/1.1\r\nHost: %s\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", h.address,
		2*maxBody)
	many := [][]byte{head}
	for range 2 * maxBody >> 20 {
		many = append(many, chunk)
	}
	h.send(ctx, many...)
	h.send(ctx, rawRequest("POST /v1/decisions", h.address, "Content-Type: application/json\r\n", `{"do":"`+
		strings.Repeat("x", maxJSON)+`"}`))
	h.send(ctx, rawRequest("GET /v1/images?q="+strings.Repeat("x", 1<<20), h.address, "", ""))
	h.send(ctx, rawRequest("GET /", h.address, "Cookie: "+strings.Repeat("x", 1<<20)+"\r\n", ""))
}

func (h *hostile) traverse(ctx context.Context, _ int) {
	for _, path := range []string{"/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
		"/v1/images/..%2F..%2Fetc%2Fpasswd/photo", "/page/../server.go", "//etc/passwd", "/.git/config"} {
		if code, _ := h.send(ctx, rawRequest("GET "+path, h.address, "", "")); code == http.StatusOK {
			h.mu.Lock()
			h.failed = append(h.failed, "there is something at "+path)
			h.mu.Unlock()
		}
	}
}

func (h *hostile) malformed(ctx context.Context, round int) {
	rng := random.Stream(1, "malformed", round)
	noise := make([]byte, 1+rng.IntN(2000))
	for i := range noise {
		noise[i] = byte(rng.IntN(256))
	}
	raw := append(noise, "\r\n\r\n"...)
	good := rawRequest("POST /v1/decisions", h.address, "Content-Type: application/json\r\n",
		`{"do":"label","images":["00"],"class":"x"}`)
	damaged := bytes.Clone(good)
	for range 1 + rng.IntN(8) {
		damaged[rng.IntN(len(damaged))] = byte(rng.IntN(256))
	}
	for _, b := range [][]byte{
		raw, append(damaged, "\r\n\r\n"...),
		rawRequest("POST /v1/label", h.address, "Content-Type: multipart/form-data; boundary=x\r\n",
			"--x\r\nContent-Disposition: form-data; name=image\r\n\r\n"+string(noise)),
		rawRequest("POST /v1/label", h.address, "Content-Type: image/jpeg\r\n", string(noise)),
		rawRequest("POST /v1/back", h.address, "Content-Type: application/json\r\n", `{"seq":-1e99}`),
		fmt.Appendf(nil,
			"POST /v1/label HTTP/1.1\r\nHost: %s\r\nContent-Type: image/jpeg\r\nTransfer-Encoding: "+
				"chunked\r\n\r\nzz\r\n%s", h.address, noise),
	} {
		short, cancel := context.WithTimeout(ctx, time.Second) // some wait for more
		h.send(short, b)
		cancel()
	}
}

// drip sends a byte of text again and again until it is cut.
func (h *hostile) drip(ctx context.Context, clients int, head, text string) {
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			c, err := net.Dial("tcp", h.address)
			if err != nil {
				return
			}
			defer c.Close()
			_, err = io.WriteString(c, head)
			for err == nil && ctx.Err() == nil {
				time.Sleep(50 * time.Millisecond) // it is slow
				_, err = io.WriteString(c, text)
			}
			if err != nil {
				h.mu.Lock()
				h.cut++
				h.mu.Unlock()
			}
		})
	}
	all.Wait()
}

func (h *hostile) slowHeader(ctx context.Context, _ int) {
	h.drip(ctx, slowClients, "GET / HTTP/1.1\r\nHost: "+h.address+"\r\nX-Slow: ", "x")
}

func (h *hostile) slowBody(ctx context.Context, _ int) {
	h.drip(ctx, slowClients, "POST /v1/decisions HTTP/1.1\r\nHost: "+h.address+
		"\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", " ")
}

func (h *hostile) slowPhoto(ctx context.Context, _ int) {
	h.drip(ctx, slowClients, "POST /v1/label HTTP/1.1\r\nHost: "+h.address+
		"\r\nContent-Type: image/jpeg\r\nContent-Length: 100000\r\n\r\n", " ")
}

// listener opens events and does not read them.
func (h *hostile) listener(ctx context.Context, _ int) {
	h.drip(ctx, slowClients, string(rawRequest("GET /v1/events", h.address, "", "")), "x")
}
