package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

const text = "a/1.jpg\nb/2.jpg\n"

// lists returns lists of one file.
func lists(address string) Lists {
	sum := sha256.Sum256([]byte(text))
	return Lists{Name: "tiny", Address: address, Files: map[string]string{"session_1.txt": hex.EncodeToString(sum[:])}}
}

// TestPullFromBadServers: nothing but the right file is kept, and the error says
// what happened and how to do without the server.
func TestPullFromBadServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"cut": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "16")
			w.Write([]byte(text[:5]))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "unexpected EOF"},
		"too short": {func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(text[:5])) }, "refused"},
		"too long":  {func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(text + "c")) }, "refused"},
		"altered": {func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(strings.ToUpper(text))) },
			"SHA-256"},
		"a page": {func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusForbidden) }, "403"},
		"partial": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-4/16")
			w.WriteHeader(http.StatusPartialContent)
			w.Write([]byte(text[:5]))
		}, "206"},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, "longer than"},
		"file": {http.RedirectHandler("file:///etc/passwd", http.StatusFound).ServeHTTP,
			"redirected to file:///etc/passwd"},
		"inward": {http.RedirectHandler("http://10.0.0.1/", http.StatusFound).ServeHTTP,
			"redirected to http://10.0.0.1/"},
		"metadata": {http.RedirectHandler("http://169.254.169.254/", http.StatusFound).ServeHTTP, "redirected to"},
	} {
		s := httptest.NewServer(c.answer)
		abroad := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network,
			address string) (net.Conn, error) {
			if address != "192.0.2.1:80" {
				return nil, errors.New("out of reach")
			}
			return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
		}}}
		dir := t.TempDir()
		err := lists("http://192.0.2.1/").Pull(context.Background(), dir, abroad)
		for _, want := range []string{c.says, "http://192.0.2.1/", dir} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
			t.Errorf("%s: left %v", name, left)
		}
		abroad.CloseIdleConnections()
		s.Close()
	}
}

// Offline, lists that were copied by hand are used; altered ones are not.
func TestPullOfflineByHand(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	l, dir := lists(s.URL+"/"), t.TempDir()
	for content, pulled := range map[string]bool{text: true, "altered": false} {
		must.Do(t, os.WriteFile(filepath.Join(dir, "session_1.txt"), []byte(content), 0o644))
		if err := l.Pull(context.Background(), dir, nil); (err == nil) != pulled || l.Pulled(dir) != pulled {
			t.Errorf("%q: %v", content, err)
		}
	}
}
