package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A dial listens for connections that it makes itself, in memory, so that their deadlines follow
// the clock of a test.
type dial struct {
	accepted chan net.Conn
	once     sync.Once
	n        int
}

func (d *dial) DialContext(context.Context, string, string) (net.Conn, error) {
	d.n++
	here, there := net.Pipe()
	d.accepted <- there
	return here, nil
}

func (d *dial) Accept() (net.Conn, error) {
	c, ok := <-d.accepted
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (d *dial) Close() error {
	d.once.Do(func() { close(d.accepted) })
	return nil
}

func (d *dial) Addr() net.Addr { return &net.TCPAddr{} }

// serving serves a handler until the test ends, and returns what sends a request, on a connection
// that is kept, and returns the answer or the error.
func (d *dial) serving(t *testing.T, handler http.Handler, log *slog.Logger) func(method, path, body string) string {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serveOn(ctx, d, handler, log) }()
	transport := &http.Transport{DialContext: d.DialContext}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(method, path, body string) string {
		r := must.Get(http.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, strings.NewReader(body)))(t)
		r.Header.Set("Content-Type", "image/jpeg")
		answer, err := transport.RoundTrip(r)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return fmt.Sprintln(answer.StatusCode, err, string(text))
	}
}

// TestOneConnection: the deadline of an answer is none of the next one's, and photos that take
// longer to compute than an answer may take to read are answered, all on one connection.
func TestOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, d := New(Options{}), &dial{accepted: make(chan net.Conn, 1)}
		send := d.serving(t, server.Handler(), server.Log)
		const long = requestTime * 3 / 2
		go func() {
			waiting := <-server.batches
			time.Sleep(long)
			waiting.reply <- reply{err: errors.New("computed")}
		}()
		for i, step := range [][4]string{
			{"GET", "/openapi.yaml", "", "200 <nil> openapi:"}, {"GET", "/", "", "200 <nil> <!DOCTYPE html>"},
			{"GET", "/v1/class", "", `404 <nil> {"error":"there is no such route`},
			{"POST", "/v1/label", "photo", `500 <nil> {"error":"computed"}`},
			{"GET", "/openapi.yaml", "", "200 <nil> openapi:"},
		} {
			if got := send(step[0], step[1], step[2]); !strings.HasPrefix(got, step[3]) {
				t.Errorf("%d %s %s: %.200s", i, step[0], step[1], got)
			}
			time.Sleep(long)
		}
		if d.n != 1 {
			t.Errorf("%d connections", d.n)
		}
	})
}

// TestPanic: a bug in a handler is an error in the log, and an answer unless one has begun.
func TestPanic(t *testing.T) {
	var log lines
	d := &dial{accepted: make(chan net.Conn, 1)}
	send := d.serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/begun":
			w.Header().Set("Content-Type", "text/csv")
			_, _ = w.Write([]byte("half"))
		case "/given-up":
			panic(http.ErrAbortHandler)
		}
		panic("no such row")
	}), slog.New(slog.NewTextHandler(&log, nil)))
	if got := send("POST", "/", ""); !strings.HasPrefix(got, `500 <nil> {"error":"the program has a bug`) {
		t.Error(got)
	}
	for _, path := range []string{"/begun", "/given-up"} { // POST, as GET would be sent again
		if got := send("POST", path, ""); !strings.Contains(got, "EOF") {
			t.Error(path, got)
		}
	}
	said := log.text()
	if strings.Count(said, "level=ERROR") != 2 || strings.Count(said, "no such row") != 2 ||
		!strings.Contains(said, "connection_test.go") {
		t.Error(said)
	}
}
