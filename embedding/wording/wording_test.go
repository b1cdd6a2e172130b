package wording_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/embedding/wording"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/words/textencoder/textencodertest"
)

// pair writes the network and returns what is known of it.
func pair(t *testing.T) (embedding.Provenance, embedding.Options) {
	t.Helper()
	orttest.Open(t)
	o := embedding.DefaultOptions()
	o.Cache = t.TempDir()
	path := textencodertest.Write(t, t.TempDir())
	return embedding.Provenance{
		Backbone: embedding.Backbone{Name: "small", SHA256: strings.Repeat("0", 64), Path: path},
		Dim:      textencodertest.Dim,
	}, o
}

// TestDescribe: what is written into a folder is read back, and says what computed it.
func TestDescribe(t *testing.T) {
	photos, o := pair(t)
	side := must.Get(wording.Open(wording.DefaultConfig(), photos, o))(t)
	described := []dataset.Description{{Class: "blue"}, {Class: "warm", Text: "red"}}
	texts, err := side.Describe(t.Context(), described, photos)
	must.Do(t, errors.Join(err, side.Close()))
	dir := filepath.Join(t.TempDir(), "texts")
	for range 2 { // the second replaces the first
		must.Do(t, texts.Write(dir))
	}
	read := must.Get(featdir.ReadTexts(dir))(t)
	if !slices.Equal(read.Classes, texts.Classes) || !slices.Equal(read.Texts, texts.Texts) || len(read.Texts) != 8 {
		t.Errorf("%q, %q", read.Classes, read.Texts)
	}
	for i, row := range texts.Rows {
		if !slices.Equal(row, read.Rows[i]) {
			t.Errorf("row %d: %v, read %v", i, row, read.Rows[i])
		}
	}
	source := read.Provenance.Text
	if source == nil || len(source.SHA256) != 64 || len(source.Tokenizer) != 64 || len(source.Templates) != 7 ||
		read.Provenance.Backbone != photos.Backbone {
		t.Errorf("%+v of %+v", source, read.Provenance)
	}
	byClass, err := read.ByClass()
	if err != nil || byClass["blue"][2] < 0.99 || byClass["warm"][0] < 0.99 {
		t.Errorf("%v, error %v", byClass, err)
	}
}

// TestOpen: settings go before what is found, and a network of another one is refused.
func TestOpen(t *testing.T) {
	photos, o := pair(t)
	dir := filepath.Dir(photos.Backbone.Path)
	settings := filepath.Join(dir, "tokenizer_config.json")
	must.Do(t, os.WriteFile(settings, []byte(`{"model_max_length": 9}`), 0o644))
	lengths := func(c wording.Config) int {
		side := must.Get(wording.Open(c, photos, o))(t)
		defer side.Close()
		return side.Source().Length
	}
	c := wording.DefaultConfig()
	if n := lengths(c); n != 9 {
		t.Errorf("length %d, not that of tokenizer_config.json", n)
	}
	c.Length = 5
	if n := lengths(c); n != 5 {
		t.Errorf("length %d, not that of the settings", n)
	}
	other := photos
	if other.Dim++; !fails(c, other, o, "another network") {
		t.Error("texts of 4 values are compared with photos of 5")
	}
	if c.Output = "none"; !fails(c, photos, o, `"none"`) {
		t.Error("an output that is not there is read")
	}
	must.Do(t, os.WriteFile(settings, []byte(`{"pad_token": "none"}`), 0o644))
	if !fails(wording.DefaultConfig(), photos, o, "pad_token") {
		t.Error("a padding token that is not there is used")
	}
	bad := wording.DefaultConfig()
	if bad.Length = -1; bad.Validate() == nil {
		t.Error("a length of −1 is taken")
	}
}

func fails(c wording.Config, photos embedding.Provenance, o embedding.Options, says string) bool {
	side, err := wording.Open(c, photos, o)
	if err == nil {
		_ = side.Close()
	}
	return err != nil && strings.Contains(err.Error(), says)
}

// TestHas: it says what Open would find.
func TestHas(t *testing.T) {
	photos, o := pair(t)
	for _, c := range []struct {
		ref  string
		want bool
	}{{photos.Backbone.Path, true}, {"", false}} {
		file := must.Get(backbone.Resolve(c.ref, backbone.Dirs{}))(t)
		if got := wording.Has(wording.DefaultConfig(), file, o); got != c.want {
			t.Errorf("%s: %v", c.ref, got)
		}
	}
}
