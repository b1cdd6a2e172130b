package backbone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// content is long enough to be truncated in the middle of a body.
func content() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 20000) }

// A server serves content and records the Range headers.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	ranges []string
}

func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		s.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func whole(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "m.onnx", time.Time{}, bytes.NewReader(content()))
}

// cutAfter sends n bytes of the requested range and disconnects.
func cutAfter(n int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		var start int
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &start)
		if start > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(content())-1, len(content())))
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content())-start))
		if start > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		w.Write(content()[start:min(start+n, len(content()))])
		w.(http.Flusher).Flush()
		if start+n < len(content()) {
			panic(http.ErrAbortHandler)
		}
	}
}

func entry(urls ...string) Entry {
	return Entry{Name: "net", SHA256: hashOf(content()), Bytes: int64(len(content())), URLs: urls}
}

func pullInto(t *testing.T, dir string, e Entry) (string, error) {
	t.Helper()
	return Pull(context.Background(), e, PullOptions{Dir: dir})
}

// checkPulled checks that dir holds the content under its final name and no
// remnants of the download.
func checkPulled(t *testing.T, path string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content()) {
		t.Errorf("content differs: %d bytes, %v", len(got), err)
	}
	if _, err := os.Stat(path + ".part"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("part file left: %v", err)
	}
}

// checkNothing checks that there is no file with a final name.
func checkNothing(t *testing.T, dir string) {
	t.Helper()
	if found, _ := filepath.Glob(filepath.Join(dir, "*.onnx")); len(found) != 0 {
		t.Errorf("final name given: %v", found)
	}
}

func TestPull(t *testing.T) {
	s := serve(t, whole)
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var last [2]int64
	path, err := Pull(context.Background(), entry(s.URL),
		PullOptions{Dir: dir, Client: s.Client(), Progress: func(done, total int64) { last = [2]int64{done, total} }})
	checkPulled(t, path, err)
	if n := int64(len(content())); last != [2]int64{n, n} {
		t.Errorf("progress ended at %v", last)
	}
	again, err := pullInto(t, dir, entry(s.URL))
	if err != nil || again != path || len(s.ranges) != 1 {
		t.Errorf("second pull: %s, %v, %d requests", again, err, len(s.ranges))
	}
}

func TestPullResumesWithinOneCall(t *testing.T) {
	s := serve(t, cutAfter(200_000))
	path, err := pullInto(t, t.TempDir(), entry(s.URL))
	checkPulled(t, path, err)
	if len(s.ranges) != 2 || s.ranges[0] != "" || !strings.HasPrefix(s.ranges[1], "bytes=") {
		t.Errorf("ranges %q", s.ranges)
	}
}

func TestPullResumesInALaterCall(t *testing.T) {
	dir := t.TempDir()
	tooShort := serve(t, cutAfter(1000))
	_, err := pullInto(t, dir, entry(tooShort.URL))
	if err == nil || !strings.Contains(err.Error(), "resumes from there") {
		t.Fatalf("error %v", err)
	}
	checkNothing(t, dir)
	part := Dirs{Cache: dir}.CachePath(entry()) + ".part"
	info, err := os.Stat(part)
	if err != nil || info.Size() == 0 {
		t.Fatalf("nothing saved: %v", err)
	}
	s := serve(t, whole)
	path, err := pullInto(t, dir, entry(s.URL))
	checkPulled(t, path, err)
	if want := fmt.Sprintf("bytes=%d-", info.Size()); len(s.ranges) != 1 || s.ranges[0] != want {
		t.Errorf("ranges %q, want %q", s.ranges, want)
	}
}

func TestPullFinishesACompletePart(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, Dirs{Cache: dir}.CachePath(entry())+".part", content())
	s := serve(t, whole)
	path, err := pullInto(t, dir, entry(s.URL))
	checkPulled(t, path, err)
	if len(s.ranges) != 0 {
		t.Errorf("%d requests for a file that was there", len(s.ranges))
	}
}

func TestPullReplacesARottenPart(t *testing.T) {
	for name, part := range map[string][]byte{
		"short": bytes.Repeat([]byte("x"), 5000), "complete": bytes.Repeat([]byte("x"), len(content())),
		"too long": bytes.Repeat([]byte("x"), len(content())+9),
	} {
		dir := t.TempDir()
		writeFile(t, Dirs{Cache: dir}.CachePath(entry())+".part", part)
		path, err := pullInto(t, dir, entry(serve(t, whole).URL))
		t.Log(name)
		checkPulled(t, path, err)
	}
}

func TestPullWithoutRangeSupport(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, Dirs{Cache: dir}.CachePath(entry())+".part", content()[:5000])
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(content()) })
	path, err := pullInto(t, dir, entry(s.URL))
	checkPulled(t, path, err)
}

func TestPullOfUnstatedSize(t *testing.T) {
	dir := t.TempDir()
	e := entry(serve(t, cutAfter(200_000)).URL)
	e.Bytes = 0
	writeFile(t, Dirs{Cache: dir}.CachePath(e)+".part", content()[:5000])
	path, err := pullInto(t, dir, e)
	checkPulled(t, path, err)

	writeFile(t, path+".part", content()) // complete, but Pull cannot know: the server answers 416
	must.Do(t, os.Remove(path))
	e.URLs = []string{serve(t, whole).URL}
	path, err = pullInto(t, dir, e)
	checkPulled(t, path, err)
}

func TestPullRefusesWrongHash(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, whole)
	e := entry(s.URL)
	e.SHA256 = hashOf([]byte("something else"))
	path, err := pullInto(t, dir, e)
	var wrong *HashError
	if !errors.As(err, &wrong) || wrong.Want != e.SHA256 || wrong.Got != hashOf(content()) || path != "" {
		t.Errorf("%q, %v", path, err)
	}
	checkNothing(t, dir)
	if parts, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(parts) != 0 {
		t.Errorf("wrong file not removed: %v", parts)
	}
}

func TestPullRefusesWrongSizes(t *testing.T) {
	for name, body := range map[string][]byte{"longer": append(content(), 'x'), "shorter": content()[:1000],
		"an LFS pointer": []byte("version https://git-lfs.github.com/spec/v1\n"), "empty": nil} {
		dir := t.TempDir()
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			w.Write(body)
		})
		if _, err := pullInto(t, dir, entry(s.URL)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		checkNothing(t, dir)
	}
}

func TestPullFollowsRedirects(t *testing.T) {
	dir := t.TempDir()
	end := serve(t, whole)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, end.URL, http.StatusFound) })
	writeFile(t, Dirs{Cache: dir}.CachePath(entry())+".part", content()[:7000])
	path, err := pullInto(t, dir, entry(s.URL))
	checkPulled(t, path, err)
	if len(end.ranges) != 1 || end.ranges[0] != "bytes=7000-" {
		t.Errorf("the range is missing: %q", end.ranges)
	}
}

func TestPullTriesTheNextAddress(t *testing.T) {
	gone := serve(t, http.NotFound)
	dead := serve(t, whole)
	dead.Close()
	path, err := pullInto(t, t.TempDir(), entry(gone.URL, dead.URL, serve(t, whole).URL))
	checkPulled(t, path, err)

	_, err = pullInto(t, t.TempDir(), entry(gone.URL, dead.URL))
	for _, want := range []string{"404", "no longer exists", dead.URL, "path with backbone"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

func TestPullRefusesLyingRange(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, Dirs{Cache: dir}.CachePath(entry())+".part", content()[:5000])
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") == "" {
			whole(w, r)
			return
		}
		w.Header().Set("Content-Range", "bytes 0-99/100")
		w.WriteHeader(http.StatusPartialContent)
	})
	path, err := pullInto(t, dir, entry(s.URL))
	checkPulled(t, path, err)
}

func TestPullCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content())))
		w.Write(content()[:50_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	dir := t.TempDir()
	_, err := Pull(ctx, entry(s.URL), PullOptions{Dir: dir, Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	checkNothing(t, dir)
	path, err := pullInto(t, dir, entry(serve(t, whole).URL))
	checkPulled(t, path, err)
}

func TestPullReplacesAnAlteredFile(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, Dirs{Cache: dir}.CachePath(entry()), []byte("altered"))
	path, err := pullInto(t, dir, entry(serve(t, whole).URL))
	checkPulled(t, path, err)
}

func TestPullByTwoAtOnce(t *testing.T) {
	s := serve(t, whole)
	dir := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		wg.Go(func() { _, errs[i] = Pull(context.Background(), entry(s.URL), PullOptions{Dir: dir}) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if len(s.ranges) != 1 {
		t.Errorf("%d requests", len(s.ranges))
	}
}

func TestPullRefusesWhatCannotBePulled(t *testing.T) {
	if _, err := pullInto(t, t.TempDir(), entry()); err == nil || !strings.Contains(err.Error(), "path of the file") {
		t.Errorf("no address: %v", err)
	}
	blocked := writeFile(t, filepath.Join(t.TempDir(), "file"), nil)
	if _, err := pullInto(t, filepath.Join(blocked, "cache"), entry("https://127.0.0.1:1")); err == nil {
		t.Error("a folder inside a file")
	}
}

// A full disk ends the pull at once: no other address is tried.
func TestPullStopsWhenTheDiskIsFull(t *testing.T) {
	full := "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no /dev/full on this system")
	}
	file := must.Get(os.OpenFile(full, os.O_WRONLY, 0))(t)
	defer file.Close()
	d := transfer{entry: entry()}
	response := &http.Response{Body: io.NopCloser(bytes.NewReader(content()))}
	err := d.copy(context.Background(), func(error) {}, file, response, 0)
	var local *fs.PathError
	var broken *brokenError
	if !errors.As(err, &local) || errors.As(err, &broken) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
}

// TestPullThroughALink: a link that has the name of a partial download leads nobody's file into it.
func TestPullThroughALink(t *testing.T) {
	dir := t.TempDir()
	theirs, part := filepath.Join(dir, "theirs"), Dirs{Cache: dir}.CachePath(entry())+".part"
	writeFile(t, theirs, []byte("theirs"))
	must.Do(t, os.Symlink(theirs, part))
	if _, err := pullInto(t, dir, entry(serve(t, whole).URL)); err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(theirs); string(text) != "theirs" || err != nil {
		t.Errorf("somebody else's file is %d bytes, %v", len(text), err)
	}
}
