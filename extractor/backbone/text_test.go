package backbone

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/words/textencoder/textencodertest"
)

// TestPullPair: a pull fetches both sides and the tokenizer, once, and says how far it is
// in all of them.
func TestPullPair(t *testing.T) {
	files := map[string][]byte{"/photo": textencodertest.PhotoSide(t), "/text": textencodertest.TextSide(t),
		"/tokenizer": textencodertest.Vocabulary(t)}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[r.URL.Path]))
	})
	remote := func(path string) Remote {
		return Remote{SHA256: hashOf(files[path]), Bytes: int64(len(files[path])), URLs: []string{s.URL + path}}
	}
	photo := remote("/photo")
	e := Entry{Name: "pair", SHA256: photo.SHA256, Bytes: photo.Bytes, URLs: photo.URLs,
		Text: &TextEntry{Remote: remote("/text"), Tokenizer: remote("/tokenizer"), Length: 7}}
	dirs := Dirs{Cache: t.TempDir()}
	if _, err := e.text("", dirs); !errors.Is(err, ErrNotPulled) || dirs.Pulled(e) {
		t.Errorf("error %v before the pull", err)
	}
	var last, total int64
	opts := PullOptions{Dir: dirs.Cache, Progress: func(done, of int64) {
		if done < last {
			t.Errorf("%d bytes after %d", done, last)
		}
		last, total = done, of
	}}
	path := must.Get(Pull(t.Context(), e, opts))(t)
	if path != dirs.CachePath(e) || !dirs.Pulled(e) || last != e.AllBytes() || total != last {
		t.Errorf("%s, %d of %d bytes", path, last, total)
	}
	side := must.Get(e.text("", dirs))(t)
	if !bytes.Equal(side.Network, files["/text"]) || !bytes.Equal(side.Tokenizer, files["/tokenizer"]) ||
		side.Config.Length != 7 || filepath.Ext(side.TokenizerPath) != ".json" {
		t.Errorf("%s, %s, %+v", side.Path, side.TokenizerPath, side.Config)
	}
	if _, err := Pull(t.Context(), e, opts); err != nil || len(s.ranges) != 3 {
		t.Errorf("%d requests, error %v", len(s.ranges), err)
	}
	must.Do(t, os.WriteFile(side.Path, []byte("other"), 0o644))
	if _, err := e.text("", dirs); err == nil || !strings.Contains(err.Error(), "pipeline backbones pull pair") {
		t.Errorf("error %v for a damaged file", err)
	}
}

func TestFindText(t *testing.T) {
	dir := t.TempDir()
	photos := Photos{Name: "small", SHA256: strings.Repeat("0", 64), Path: textencodertest.Write(t, dir)}
	side, err := FindText(photos, "", "", Dirs{})
	if err != nil || side.Path != filepath.Join(dir, textencodertest.Text) || len(side.SHA256()) != 64 {
		t.Errorf("%s, error %v", side.Path, err)
	}
	// The tokenizer may lie in the folder above, or anywhere.
	below := filepath.Join(dir, "onnx")
	must.Do(t, os.Mkdir(below, 0o755))
	moved := filepath.Join(below, "net.onnx")
	must.Do(t, os.Rename(filepath.Join(dir, textencodertest.Text), moved))
	if side, err = FindText(photos, moved, "", Dirs{}); err != nil ||
		side.TokenizerPath != filepath.Join(dir, textencodertest.Tokenizer) {
		t.Errorf("%s, error %v", side.TokenizerPath, err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	must.Do(t, os.Rename(filepath.Join(dir, textencodertest.Tokenizer), other))
	_, err = FindText(photos, moved, "", Dirs{})
	if err == nil || !strings.Contains(err.Error(), "with tokenizer FILE") {
		t.Errorf("error %v without a tokenizer", err)
	}
	if _, err = FindText(photos, moved, other, Dirs{}); err != nil {
		t.Error(err)
	}
	for _, path := range []string{photos.Path, "", filepath.Join(dir, "gone.onnx")} {
		photos.Path = path
		if _, err = FindText(photos, "", other, Dirs{}); !errors.Is(err, ErrNoText) ||
			!strings.Contains(err.Error(), "text.network") {
			t.Errorf("%q: error %v without a text side", path, err)
		}
	}
	if _, err = FindText(photos, filepath.Join(dir, "gone.onnx"), other, Dirs{}); err == nil {
		t.Error("a file that is not there is found")
	}
	for _, name := range []string{"clip-b32"} {
		e, err := Lookup(name)
		if err != nil || e.Text == nil || e.Text.Length != 77 || e.AllBytes() <= e.Bytes {
			t.Errorf("%s: %+v, error %v", name, e.Text, err)
		}
	}
}

// TestFindBoth: a network exported with both sides is its own text side.
func TestFindBoth(t *testing.T) {
	path := shared.Path(t, "cases/26-clip-combined/clip_combined.onnx")
	vocabulary := filepath.Join(t.TempDir(), "tokenizer.json")
	must.Do(t, os.WriteFile(vocabulary, textencodertest.Vocabulary(t), 0o644))
	side, err := FindText(Photos{Path: path}, "", vocabulary, Dirs{})
	if err != nil || side.Path != path {
		t.Errorf("%s, error %v", side.Path, err)
	}
}
