//go:build unix

package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/preprocess"
	"github.com/seed-90d10d51/pipeline/teach"
)

// budgeted draws pictures of files as the program does, up to their decoding.
type budgeted struct {
	drawn
	budget *preprocess.Budget
}

func (b budgeted) Thumbnail(ctx context.Context, file string, side int) (jpeg []byte, of cache.Hash, err error) {
	err = b.budget.ReadFile(ctx, file, func(content []byte) error {
		jpeg, of = fmt.Appendf(nil, "JPEG %d %s", side, content), cache.HashOf(content)
		return nil
	})
	return jpeg, of, err
}

// TestPhotosThatBecomePipes, or links to devices, cannot be read any more; they
// neither fill the memory nor keep other pictures waiting.
func TestPhotosThatBecomePipes(t *testing.T) {
	s := newSite(t, func(o *Options) {
		o.Embedder, o.Rescan = budgeted{budget: preprocess.DefaultBudget()}, time.Hour
	})
	photos := s.loaded(30)
	odd, good := photos[:3*cap(s.server.pictures)], photos[len(photos)-1]
	for i, p := range odd {
		file := filepath.Join(s.dir, "photos", p.Folder, p.Name)
		become(t, file, i%2 == 0)
	}
	picture := func(p image, kind string, want int, text string) {
		t.Helper()
		code, body := s.send(s.request("GET", "/v1/images/"+p.ID.String()+"/"+kind, "", ""))
		if code != want || !strings.Contains(string(body), text) || strings.Contains(string(body), s.dir) {
			t.Errorf("%s of %s: %d %s", kind, p.Name, code, body)
		}
	}
	for _, kind := range []string{"thumb", "photo"} {
		for _, p := range odd {
			picture(p, kind, http.StatusGone, "not a regular file")
		}
		picture(good, kind, http.StatusOK, "JPEG")
	}
	become(t, teach.ThumbnailFile(s.server.Thumbnails, good.ID), true)
	picture(good, "thumb", http.StatusOK, "JPEG")
}

// TestReplacedPhoto: a photo that has been replaced is not shown as the one before, nor
// kept as its thumbnail.
func TestReplacedPhoto(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Rescan = time.Hour })
	p := s.loaded(30)[0]
	s.write(filepath.Join("photos", p.Folder, p.Name), "IMG 2 another")
	for _, kind := range []string{"thumb", "photo"} {
		code, body := s.send(s.request("GET", "/v1/images/"+p.ID.String()+"/"+kind, "", ""))
		if code != http.StatusGone || !strings.Contains(string(body), "another photo by now") {
			t.Errorf("%s: %d %s", kind, code, body)
		}
	}
	if _, err := os.Stat(teach.ThumbnailFile(s.server.Thumbnails, p.ID)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its thumbnail: %v", err)
	}
}

// become replaces a file by a pipe or by a link to a device without an end.
func become(t *testing.T, file string, pipe bool) {
	t.Helper()
	err := os.Remove(file)
	if pipe {
		err = errors.Join(err, syscall.Mkfifo(file, 0o600))
	} else {
		err = errors.Join(err, os.Symlink("/dev/zero", file))
	}
	if err != nil {
		t.Fatal(err)
	}
}
