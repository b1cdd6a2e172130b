package vips

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// open returns the library of this machine.
func open(t *testing.T) *Library {
	t.Helper()
	path, version, err := imagelib.Vips().Find()
	if err != nil {
		testenv.Missing(t, "needs libvips: run make setup (%v)", err)
	}
	return must.Get(Open(path, version))(t)
}

// TestBlocked: loaders other than the allowed do not run, not even those of files of the same formats.
func TestBlocked(t *testing.T) {
	l := open(t)
	for loader, name := range map[string]string{"jpegload": "101x77_420.jpg", "pngload": "RGB.png",
		"vipsload": "RGB.png", "csvload": "RGB.png", "rawload": "RGB.png"} {
		file := filepath.Join("..", "..", "testdata", "images", name)
		_, err := l.Header(Source{File: []byte("not used"), Loader: loader, Options: "filename=" + file})
		if err == nil || !strings.Contains(err.Error(), "block") {
			t.Errorf("%s: %v", loader, err)
		}
	}
}

// TestNothingStays: after a picture has been read, or refused, libvips holds no memory and no
// object of it.
func TestNothingStays(t *testing.T) {
	l := open(t)
	var held func() uintptr
	var each func(callback, a, b uintptr) uintptr
	must.Do(t, sharedlib.Load(l.Path(), map[string]any{"vips_tracked_get_mem": &held, "vips_object_map": &each},
		nil))
	objects := 0
	count := sharedlib.Callback(func(_, _, _ uintptr) uintptr { objects++; return 0 })
	for _, c := range []struct{ file, loader string }{
		{"101x77_420.jpg", "jpegload_buffer"}, {"RGB.png", "pngload_buffer"}, {"RGB.png", "jpegload_buffer"},
		{"L_tiff_lzw.tif", "tiffload_buffer"},
		{"alpha.webp", "webpload_buffer"},
	} {
		content := must.Get(os.ReadFile(filepath.Join("..", "..", "testdata", "images", c.file)))(t)
		for _, file := range [][]byte{content, content[:len(content)/2]} {
			s := Source{File: file, Loader: c.loader, Options: "access=sequential", Watched: true}
			_, _ = l.Header(s)
			_, _ = l.Rows(t.Context(), s, func(Header) error { return nil }, func(int, []byte) {})
			s.Then, s.ThenOptions = "extract_band", "band=0,n=1"
			_, _ = l.Rows(t.Context(), s, func(Header) error { return nil }, func(int, []byte) {})
			for end := time.Now().Add(time.Minute); held() > 0 && time.Now().Before(end); {
				runtime.Gosched() // its threads give their buffers back when they next run
			}
			if objects = 0; each(count, 0, 0) != 0 || objects > 0 || held() > 0 {
				t.Errorf("%s of %d bytes, %s: %d objects and %d bytes stay", c.file, len(file), c.loader, objects,
					held())
			}
		}
	}
}
