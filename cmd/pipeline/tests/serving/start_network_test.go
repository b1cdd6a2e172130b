package serving

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A mirror stands for the rest of the network: an index of pip, and a proxy behind which
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
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(l)
	about := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour)}
	signed := must.Get(x509.CreateCertificate(rand.Reader, &about, &about, key.Public(), key))(l)
	m.behind.TLS.Certificates = []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}
	file := l.Path("certificate.pem")
	l.Write(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}))
	return file
}

// publish makes a library a package of the index, whose wheel has all of it.
func (m *mirror) publish(l *commandtest.Bed, of libraries.Library, dir string) {
	l.Helper()
	archive, ok := of.For(libraries.Platform())
	if !ok {
		testenv.Missing(l, "needs a prepared %s for this platform", of.Name)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range archive.Contents {
		entry := must.Get(w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store}))(l)
		must.Get(entry.Write(l.Read(dir, f.Name)))(l)
	}
	// pip reads what a wheel says of itself before it stores it.
	info := strings.Join(strings.Split(archive.Name, "-")[:2], "-") + ".dist-info/"
	for name, text := range map[string]string{
		"METADATA": fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", of.Package, of.Version),
		"WHEEL":    "Wheel-Version: 1.0\n",
	} {
		entry := must.Get(w.Create(info + name))(l)
		must.Get(io.WriteString(entry, text))(l)
	}
	must.Do(l, w.Close())
	m.packages["/"+of.Package+"/"] = fmt.Appendf(nil, "<a href=%q>%s</a>", m.URL+"/"+archive.Name, archive.Name)
	m.packages["/"+archive.Name] = b.Bytes()
}

// answer is that of the index, and that of the proxy to who asks for a connection.
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
	first := 0
	switch {
	case strings.HasSuffix(r.URL.Path, "/"):
		w.Header().Set("Content-Type", "text/html")
	case strings.Contains(r.URL.Path, libraries.ONNXRuntime().Package):
		first = len(content) / 2
	}
	m.send(w, content, first)
}

// send sends a file, with a pause after its first bytes.
func (m *mirror) send(w http.ResponseWriter, content []byte, first int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	if first > 0 {
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
// from the user's index, says how far it is, and goes on with it; a download of a network
// shows how far it is, ends when it is cancelled, goes on from there, and is refused if it
// is not the network of the catalogue.
func TestStartObtains(t *testing.T) {
	l := commandtest.New(t)
	from := testenv.Libraries(t)
	if _, err := libraries.FindPip(); err != nil {
		testenv.Missing(t, "needs pip")
	}
	network := must.Get(backbone.Lookup("mobilenetv2"))(t)
	m := newMirror(t)
	m.publish(l, libraries.ONNXRuntime(), from)
	for _, library := range libraries.Pictures() {
		m.publish(l, library, from)
	}
	m.file = make([]byte, network.Bytes)
	l.Env = append(l.Env, ort.EnvLibrary+"=", imagelib.Vips().Env+"=", imagelib.Heif().Env+"=",
		"PIP_INDEX_URL="+m.URL, "PIP_CONFIG_FILE="+os.DevNull, "PIP_PROXY=",
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
	page.Wait("/^[1-9][0-9.]* of 23.6 MB$/.test(document.getElementById('task-state').textContent)")
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
