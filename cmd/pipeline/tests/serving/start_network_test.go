package serving

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testenv"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

// A mirror stands for the rest of the network: a registry of npm, and a proxy behind which
// every https address has the same file, which is none of the catalogue's.
type mirror struct {
	*httptest.Server
	behind   *httptest.Server // the proxy
	packages map[string][]byte
	file     []byte
	goOn     chan bool // ends a pause in the middle of a package or file

	mu     sync.Mutex
	ranges []string // that the file was asked for
}

func newMirror(t *testing.T) *mirror {
	m := &mirror{packages: map[string][]byte{}, goOn: make(chan bool, 1)}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	m.behind = httptest.NewUnstartedServer(http.HandlerFunc(m.download))
	m.behind.StartTLS()
	t.Cleanup(func() { m.Close(); m.behind.Close() })
	return m
}

// trust makes the proxy's certificate one for every name in the catalogue, and writes it.
func (m *mirror) trust(l *commandtest.Bed, names ...string) string {
	l.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		l.Fatal(err)
	}
	about := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, &about, &about, key.Public(), key)
	if err != nil {
		l.Fatal(err)
	}
	m.behind.TLS.Certificates = []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}
	file := l.Path("certificate.pem")
	l.Write(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}))
	return file
}

// publish makes a library a package of the registry, in which it is all there is.
func (m *mirror) publish(l *commandtest.Bed, of libraries.Library, dir string) {
	l.Helper()
	file, ok := of.For(libraries.Platform())
	if !ok {
		testenv.Missing(l, "needs a prepared %s for this platform", of.Name)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		l.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Name: "package/" + file.Name, Size: file.Bytes, Mode: 0o755})
	if _, writing := w.Write(l.Read(dir, file.Name)); errors.Join(err, writing, w.Close(), z.Close()) != nil {
		l.Fatal(errors.Join(err, writing))
	}
	sum := sha512.Sum512(b.Bytes())
	about, err := json.Marshal(map[string]any{"name": of.Package, "versions": map[string]any{of.Version: map[string]any{
		"name": of.Package, "version": of.Version, "dist": map[string]any{
			"tarball":   m.URL + "/" + of.Name,
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}}}})
	if err != nil {
		l.Fatal(err)
	}
	m.packages["/"+of.Package], m.packages["/"+of.Name] = about, b.Bytes()
}

// answer is that of the registry, and that of the proxy to who asks for a connection.
func (m *mirror) answer(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		m.connect(w)
		return
	}
	content, ok := m.packages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	m.send(w, content, len(content)/2)
}

// send sends a file, with a pause after its first bytes if it is long.
func (m *mirror) send(w http.ResponseWriter, content []byte, first int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	if len(content) > 1<<23 && first > 0 {
		_, _ = w.Write(content[:first])
		_ = http.NewResponseController(w).Flush()
		<-m.goOn
		content = content[first:]
	}
	_, _ = w.Write(content)
}

// connect passes a connection on to what is behind the proxy.
func (m *mirror) connect(w http.ResponseWriter) {
	there, err := net.Dial("tcp", m.behind.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, sent, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	fmt.Fprint(here, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(there, sent); there.Close() }()
	_, _ = io.Copy(here, there)
}

// download sends the file, with a pause in the first answer, or what is left of it.
func (m *mirror) download(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.ranges = append(m.ranges, r.Header.Get("Range"))
	first := 0
	if len(m.ranges) == 1 {
		first = paused
	}
	m.mu.Unlock()
	content := m.file
	var from int
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); n == 1 {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
		w.Header().Set("Content-Length", fmt.Sprint(len(content)-from))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content[from:])
		return
	}
	m.send(w, content, first)
}

// paused is how much of a network has come when the mirror pauses.
const paused = 5_000_000

// TestStartObtains: on a machine on which nothing is installed, the page gets ONNX Runtime
// from the user's registry, says how far it is, and goes on with it; a download of a network
// shows how far it is, ends when it is cancelled, goes on from there, and is refused if it
// is not the network of the catalogue.
func TestStartObtains(t *testing.T) {
	l := commandtest.New(t)
	from := testenv.Libraries(t)
	if _, err := exec.LookPath("npm"); err != nil {
		testenv.Missing(t, "needs npm")
	}
	network, err := backbone.Lookup("mobilenetv2")
	if err != nil {
		t.Fatal(err)
	}
	m := newMirror(t)
	m.publish(l, libraries.ONNXRuntime(), from)
	m.publish(l, libraries.TurboJPEG(), from)
	m.file = make([]byte, network.Bytes)
	l.Write(l.Path("bin", "pip3"), []byte("#!/bin/sh\nexit 1\n"))
	if err := os.Chmod(l.Path("bin", "pip3"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.Env = append(l.Env, ort.EnvLibrary+"=", turbojpeg.EnvLibrary+"=",
		"PATH="+l.Path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "npm_config_registry="+m.URL,
		"HTTPS_PROXY="+m.URL, "NO_PROXY=127.0.0.1",
		"SSL_CERT_FILE="+m.trust(l, "huggingface.co", "media.githubusercontent.com"))
	drawn(l, l.Path("photos"), 2, "kiwi", "lime")
	s := start(l)
	page := testenv.Open(t, s.address)
	page.Wait("document.querySelector('#networks input:checked') !== null")
	var missing string
	page.Eval("document.getElementById('missing').textContent", &missing)
	if !strings.HasPrefix(missing, "No network runs on this machine yet") {
		t.Skipf("this machine has ONNX Runtime of its own: %q", missing)
	}

	// The libraries.
	tabTo(page, t, "#setup")
	page.Press("Enter")
	page.Wait("/^[1-9][0-9.]* of 113.5 MB$/.test(document.getElementById('task-state').textContent)")
	m.goOn <- true
	page.Wait("document.getElementById('task-state').textContent === 'Done.'")
	page.Wait("document.getElementById('missing').hidden")

	// A network of the catalogue.
	tabTo(page, t, "#networks summary")
	page.Press("Enter")
	const get = "[aria-label='Get mobilenetv2']"
	tabTo(page, t, get)
	page.Press("Enter")
	page.Wait("document.getElementById('task-state').textContent === '5.0 of 14.0 MB'")
	page.Wait("document.getElementById('task-progress').position.toFixed(3) === '0.358'")
	page.Eval(fmt.Sprintf("document.querySelector(%q).id = 'before'", get), nil)
	tabTo(page, t, "#task-cancel")
	page.Press("Enter")
	page.Wait("document.getElementById('task-state').textContent.startsWith('Cancelled.')")
	m.goOn <- true
	part := l.Path("cache", "backbones", network.FileName()+".part")
	if info, err := os.Stat(part); err != nil || info.Size() != paused {
		t.Errorf("kept of the download: %v, %v", info, err)
	}
	page.Wait(fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", get+":not(#before)"))
	tabTo(page, t, get)
	page.Press("Enter")
	page.Wait("document.getElementById('task-state').textContent.includes('refused and removed')")
	if m.ranges[1] != fmt.Sprintf("bytes=%d-", paused) || m.ranges[2] != "" {
		t.Errorf("the network was asked for by %q", m.ranges)
	}
	if left, err := filepath.Glob(l.Path("cache", "backbones", "mobilenetv2*")); err != nil || len(left) > 0 {
		t.Errorf("left of what was refused: %q, %v", left, err)
	}

	// And on, without another start.
	s.well("v1/begin", map[string]any{"dir": l.Path("a.project"), "images": l.Path("photos"), "with": "folders",
		"examples": l.Photos(l.Path("examples"), 32, 2, "kiwi", "lime")})
	s.well("v1/export", map[string]any{"formats": []string{"csv"}})
	if labels := l.Table(l.Path("a.project", "exports"), "labels.csv"); len(labels) != 5 {
		t.Errorf("labels: %q", labels)
	}
	s.ask("POST", "v1/stop", nil, nil)
	s.ends()
}
