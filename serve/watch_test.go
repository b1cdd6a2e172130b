package serve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A held Embedder names the first photo of every part, and reads it when it may go on. It fails
// where that is an error.
type held struct {
	drawn
	parts chan string
	goOn  chan error
}

func (h held) EmbedSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample],
	emit func(pixels.Item) error) (pixels.Counts, error) {
	for s := range samples {
		h.parts <- s.Path
		break
	}
	var failure error
	select {
	case failure = <-h.goOn:
	case <-ctx.Done():
		return pixels.Counts{}, ctx.Err()
	}
	counts, err := h.drawn.EmbedSeq(ctx, root, samples, emit)
	return counts, errors.Join(failure, err)
}

func newHeld(t *testing.T, rescan time.Duration) (*site, held) {
	h := held{parts: make(chan string, 100), goOn: make(chan error, 100)}
	return newSite(t, func(o *Options) { o.Embedder, o.Rescan = h, rescan }), h
}

// TestLookAgain: the folder is looked into while its photos are still being read, and what
// somebody has just put there is read before what has waited.
func TestLookAgain(t *testing.T) {
	s, h := newHeld(t, time.Hour)
	if first := <-h.parts; first != "cam0/00.jpg" {
		t.Errorf("the first photo is %s", first)
	}
	s.write("photos/cam1/new.jpg", "IMG 1 new")
	answered := make(chan statusAnswer)
	go func() {
		var now statusAnswer
		s.post("/v1/look", nil, &now)
		answered <- now
	}()
	h.goOn <- nil
	part := <-h.parts
	if part != "cam1/new.jpg" { // it began before the question came
		h.goOn <- nil
		part = <-h.parts
	}
	if part != "cam1/new.jpg" {
		t.Errorf("the photo that is new is not the next one: %s", part)
	}
	if now := <-answered; now.Images.Found != 32 || !now.Images.Scanning {
		t.Errorf("while photos are read, looking again finds %+v", now.Images)
	}
	close(h.goOn)
	s.loaded(31)
}

// TestReadingIsTriedAgain: photos of a part that failed are not lost, whatever had been read of it.
func TestReadingIsTriedAgain(t *testing.T) {
	s, h := newHeld(t, time.Millisecond)
	h.goOn <- errors.New("no space left")
	s.until(func(a statusAnswer) bool { return a.Images.Unread != nil && *a.Images.Unread == "no space left" })
	close(h.goOn)
	s.loaded(30)
	s.until(func(a statusAnswer) bool { return a.Images.Unread == nil })
}

// A copier is an Embedder of photos that are still being copied while done is false.
type copier struct {
	drawn
	done *atomic.Bool
}

func (c copier) EmbedSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample],
	emit func(pixels.Item) error) (pixels.Counts, error) {
	return c.drawn.EmbedSeq(ctx, root, samples, func(item pixels.Item) error {
		if !c.done.Load() && item.Sample.Path == "cam0/00.jpg" {
			item = pixels.Item{Sample: item.Sample, Err: pixels.ErrGrowing}
		}
		return emit(item)
	})
}

// TestPhotosThatAreBeingCopied are neither shown nor failed, and are read when they are whole.
func TestPhotosThatAreBeingCopied(t *testing.T) {
	var done atomic.Bool
	s := newSite(t, func(o *Options) { o.Embedder, o.Rescan = copier{done: &done}, time.Millisecond })
	s.until(func(a statusAnswer) bool { return a.Images.Failed == 1 && !a.Images.Scanning }) // which is no photo
	s.loaded(29)
	done.Store(true)
	s.loaded(30)
}

// TestQuit: only whoever may ends the server from the page.
func TestQuit(t *testing.T) {
	s := newSite(t, nil)
	s.expect(http.StatusForbidden, "where it was started", "POST", "/v1/quit", "")
	quit := make(chan bool, 1)
	other := newSite(t, func(o *Options) { o.Quit = func() { quit <- true } })
	if !other.server.newStatus().MayQuit || s.server.newStatus().MayQuit {
		t.Error("the status does not tell who may quit")
	}
	other.expect(http.StatusAccepted, "true", "POST", "/v1/quit", "")
	<-quit
}

// BenchmarkVisit20000 looks into a folder of which everything is known.
func BenchmarkVisit20000(b *testing.B) {
	root := b.TempDir()
	f := folder{known: map[string]cache.FileState{}}
	for i := range 20_000 {
		path := fmt.Sprintf("%02d/%05d.jpg", i%50, i)
		file := filepath.Join(root, path)
		must.Do(b, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)))
		state := must.Get(cache.Stat(file))(b)
		f.known[path] = state
	}
	scan := func(ctx context.Context) ([]dataset.Sample, error) {
		l, err := dataset.Scan(ctx, root, dataset.ScanOptions{})
		return l.Samples, err
	}
	f.Server = New(Options{Root: root, Session: emptySession(b), Scan: scan})
	for b.Loop() {
		f.visit(b.Context())
	}
	if len(f.fresh) > 0 {
		b.Errorf("%d photos are new", len(f.fresh))
	}
}
