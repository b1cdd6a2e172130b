package backbone

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// public is an address for documentation, outside every local network.
const public = "http://192.0.2.1/"

// abroad returns a client for which s has the address public, and every other
// address is out of reach; dialled records what it was sent to.
func abroad(s *server, dialled *[]string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network,
		address string) (net.Conn, error) {
		*dialled = append(*dialled, address)
		if address != "192.0.2.1:80" && address != "198.51.100.7:80" {
			return nil, errors.New("out of reach")
		}
		return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
	}}}
}

func TestPullRefusesRedirectsInward(t *testing.T) {
	for _, to := range []string{
		"file:///etc/passwd", "ftp://198.51.100.7/m.onnx", "http://127.0.0.1/", "http://localhost:8080/",
		"http://10.1.2.3/", "http://192.168.1.1/",
		"http://169.254.169.254/latest", "http://0.0.0.0/", "http://[::1]/", "http://[fd00::1]/", "http://[fe80::1]/",
		"http://[::ffff:127.0.0.1]/",
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		var dialled []string
		dir := t.TempDir()
		_, err := Pull(context.Background(), entry(public), PullOptions{Dir: dir, Client: abroad(s, &dialled)})
		if err == nil || !strings.Contains(err.Error(), "redirected to "+to) || len(dialled) != 1 {
			t.Errorf("%s: %v; dialled %q", to, err, dialled)
		}
		checkNothing(t, dir)
	}
}

func TestPullFollowsRedirectsOutside(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "192.0.2.1" {
			http.Redirect(w, r, "http://198.51.100.7/m.onnx", http.StatusFound)
			return
		}
		whole(w, r)
	})
	var dialled []string
	path, err := Pull(context.Background(), entry(public), PullOptions{Dir: t.TempDir(), Client: abroad(s, &dialled)})
	checkPulled(t, path, err)
}

func TestPullRefusesRedirectsToPlainHTTP(t *testing.T) {
	plain := serve(t, whole)
	s := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer s.Close()
	_, err := Pull(context.Background(), entry(s.URL), PullOptions{Dir: t.TempDir(), Client: s.Client()})
	if err == nil || !strings.Contains(err.Error(), "redirected from https") || len(plain.ranges) != 0 {
		t.Errorf("error %v, %d requests", err, len(plain.ranges))
	}
}

func TestPullEndsRedirectsInCircles(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) })
	if _, err := pullInto(t, t.TempDir(), entry(s.URL)); err == nil ||
		!strings.Contains(err.Error(), "more than 10 redirects") {
		t.Errorf("error %v", err)
	}
}

// A stream without an end is cut off at the size in the catalogue.
func TestPullEndsAnEndlessStream(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(content()); err != nil {
				return
			}
		}
	})
	dir := t.TempDir()
	var most int64
	_, err := Pull(context.Background(), entry(s.URL),
		PullOptions{Dir: dir, Progress: func(done, _ int64) { most = max(most, done) }})
	if err == nil || !strings.Contains(err.Error(), "longer than the expected") || most > int64(len(content()))+1 {
		t.Errorf("error %v after %d bytes", err, most)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "net*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// A server that announces too much is not read at all.
func TestPullRefusesAnAnnouncedLength(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000000000")
		w.Write(content())
	})
	read := false
	_, err := Pull(context.Background(), entry(s.URL),
		PullOptions{Dir: t.TempDir(), Progress: func(int64, int64) { read = true }})
	if err == nil || !strings.Contains(err.Error(), "announces 1000000000000 bytes") || read {
		t.Errorf("error %v, read %v", err, read)
	}
}

// Offline, the error says which file goes where, and a file that is copied there
// is used without a request; a wrong one is not.
func TestPullOfflineByHand(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, whole)
	s.Close()
	e := entry(s.URL)
	path := Dirs{Cache: dir}.CachePath(e)
	_, err := pullInto(t, dir, e)
	for _, want := range []string{s.URL, path, e.SHA256, "path with backbone"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	must.Do(t, os.WriteFile(path, bytes.Repeat([]byte("x"), len(content())), 0o644))
	if _, err := pullInto(t, dir, e); err == nil {
		t.Error("a wrong file was taken")
	}
	must.Do(t, os.WriteFile(path, content(), 0o644))
	got, err := pullInto(t, dir, e)
	checkPulled(t, got, err)
}
