package libraries

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

const (
	right   = "the right library"
	other   = "that of another processor"
	damaged = "the r1ght library"
)

// pin is the pinned file of that name and content.
func pin(name, content string) File {
	sum := sha256.Sum256([]byte(content))
	return File{Name: name, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(content))}
}

const (
	wheelHere = "thing-1.2.3-cp312-cp312-manylinux_2_26_x86_64.manylinux_2_28_x86_64.whl"
	needed    = "what it needs"
	licence   = "you may"
)

// target returns a made-up library that is missing from a new folder.
func target(t *testing.T) Target {
	l := Library{
		Name: "Thing", Package: "thing", Version: "1.2.3",
		archives: map[string]Archive{
			"linux/amd64": {File{Name: wheelHere}, []File{
				pin("libthing.so.1", right), pin("libpart.so.2", needed), pin("thing-LICENSE.txt", licence),
			}},
			"linux/arm64": {File{Name: "thing-1.2.3-cp312-cp312-manylinux_2_28_aarch64.whl"},
				[]File{pin("libthing.so.1", other)}},
		},
	}
	return Target{Library: l, Archive: l.archives["linux/amd64"], Dir: filepath.Join(t.TempDir(), "thing", "1.2.3")}
}

// whole are the files of the made-up library in an archive.
func whole(others ...string) []string {
	return append(others, "thing/capi/libthing.so.1.2.3", right, "thing.libs/part-1.so", needed,
		"thing/LICENSE", licence)
}

// wheel returns a zip of files.
func wheel(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f := must.Get(w.Create(files[i]))(t)
		must.Get(f.Write([]byte(files[i+1])))(t)
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// release returns a tar of files, name, content, name, content …, compressed by xz as ours are.
func release(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := must.Get(xz.NewWriter(&b))(t)
	w := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		must.Do(t, w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o755}))
		must.Get(w.Write([]byte(files[i+1])))(t)
	}
	must.Do(t, errors.Join(w.Close(), z.Close()))
	return b.Bytes()
}

// noise is n bytes that no compression makes fewer.
func noise(n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return string(b)
}

// changed returns a copy with another byte at i.
func changed(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 0x40
	return b
}

func write(t *testing.T, path string, content []byte) string {
	t.Helper()
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755)))
	return path
}

// files lists what is below a folder.
func files(t *testing.T, dir string) (found []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, d.Name())
		}
		return nil
	}))
	return found
}

// expect checks that the library is installed, or that nothing is and the error has the
// words.
func expect(t *testing.T, want Target, found []Target, err error, words ...string) {
	t.Helper()
	if len(words) == 0 {
		content, reading := os.ReadFile(want.Path())
		if err != nil || reading != nil || string(content) != right || len(found) != 1 || !want.Present() {
			t.Errorf("%v, %v, %q, %d found", err, reading, content, len(found))
		}
		for _, file := range files(t, want.Dir) {
			if !slices.ContainsFunc(want.Contents, func(f File) bool { return f.Name == file }) {
				t.Errorf("left behind: %q", file)
			}
		}
		return
	}
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("no %q in: %v", word, err)
		}
	}
	if left := files(t, want.Dir); len(left) > 0 || len(found) > 0 || want.Present() {
		t.Errorf("left behind: %q, %d found", left, len(found))
	}
}

func TestFrom(t *testing.T) {
	good := wheel(t, whole("README.md", "hello", "thing/bulk", strings.Repeat("0123456789", 9999))...)
	inXZ := release(t, whole("pipeline-1/pipeline", noise(1<<16))...)
	one := func(name, content string) []byte { return wheel(t, name, content) }
	for name, c := range map[string]struct {
		file  string
		bytes []byte
		words []string
	}{
		"wheel":              {"any.whl", good, nil},
		"release":            {"any", inXZ, nil},
		"without licence":    {"any", wheel(t, "libthing.so", right, "part", needed), nil},
		"licence of another": {"any", wheel(t, "libthing.so", right, "part", needed, "LICENSE", "you can"), nil},
		"cut release":        {"any", inXZ[:len(inXZ)/2], []string{"ends too early"}},
		"damaged release":    {"any", changed(inXZ, 24), []string{"the archive cannot be read"}},
		"start of xz":        {"any", inXZ[:8], []string{"not a complete archive"}},
		"only the library":   {"libthing.so.1", []byte(right), []string{"lacks libpart.so.2", "Thing"}},
		"wrong platform": {"x.whl", one("lib/libthing.so.1", other),
			[]string{"another platform", "linux/arm64"}},
		"damaged": {"x.whl", one("lib/libthing.so.1", damaged),
			[]string{"damaged", "thing==1.2.3", target(t).Contents[0].SHA256}},
		"damaged inside": {"x.whl", changed(wheel(t, whole()...), 60), []string{"libthing.so.1.2.3 is damaged"}},
		"same size":      {"x.whl", one("README", damaged), []string{"none of the libraries", wheelHere}},
		"other release": {"x.whl", one("lib/libthing.so.2", right+"s"),
			[]string{"18 bytes", "another release"}},
		"cut":            {"x.whl", good[:60], []string{"ends too early"}},
		"cut at its end": {"x.whl", good[:len(good)-9], []string{"ends too early"}},
		"not an archive": {"x.whl", []byte("<html>Log in</html>"), []string{"none of the libraries"}},
		"no tar":         {"x", append([]byte("\xfd7zXZ\x00"), make([]byte, 99)...), []string{"archive"}},
		"empty":          {"x.whl", nil, []string{"none of the libraries"}},
	} {
		t.Run(name, func(t *testing.T) {
			file, want := write(t, filepath.Join(t.TempDir(), c.file), c.bytes), target(t)
			found, err := From(t.Context(), file, []Target{want}, nil)
			expect(t, want, found, err, c.words...)
		})
	}
}

// TestLicencesTravel: the licence of a library is stored with it.
func TestLicencesTravel(t *testing.T) {
	want := target(t)
	file := write(t, filepath.Join(t.TempDir(), "x"), wheel(t, whole()...))
	found, err := From(t.Context(), file, []Target{want}, nil)
	expect(t, want, found, err)
	if got, err := os.ReadFile(filepath.Join(want.Dir, "thing-LICENSE.txt")); err != nil || string(got) != licence {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFromFolder(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		bytes []byte
		words []string
	}{
		"wheel":          {wheelHere, wheel(t, whole()...), nil},
		"our archive":    {"pipeline-0.3.0-linux-amd64.tar.xz", release(t, whole()...), nil},
		"our zip":        {"pipeline-0.3.0-windows-amd64.zip", wheel(t, whole()...), nil},
		"other archive":  {"holiday.zip", wheel(t, whole()...), []string{"none of the libraries"}},
		"other platform": {"lib/libthing.so.1", []byte(other), []string{"linux/arm64"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, want := t.TempDir(), target(t)
			write(t, filepath.Join(dir, c.file), c.bytes)
			found, err := From(t.Context(), dir, []Target{want}, nil)
			expect(t, want, found, err, c.words...)
		})
	}
	dir, want := t.TempDir(), target(t)
	for i, all := 0, whole(); i < len(all); i += 2 {
		write(t, filepath.Join(dir, "unpacked", all[i]), []byte(all[i+1]))
	}
	found, err := From(t.Context(), dir, []Target{want}, nil)
	expect(t, want, found, err)
	want = target(t)
	found, err = From(t.Context(), filepath.Join(t.TempDir(), "no"), []Target{want}, nil)
	expect(t, want, found, err, "no such file or folder")
}

func TestFromAddress(t *testing.T) {
	good := wheel(t, whole()...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/whole.whl":
			_, _ = w.Write(good)
		case "/cut.whl": // announces more than it sends
			w.Header().Set("Content-Length", "5000")
			_, _ = w.Write(good[:len(good)/2])
		case "/film":
			w.Header().Set("Content-Length", fmt.Sprint(largestArchive+1))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for path, words := range map[string][]string{
		"/whole.whl": nil, "/cut.whl": {"ends too early", server.URL}, "/no.whl": {"404"},
		"/film": {"1073741825 bytes"},
	} {
		want := target(t)
		var last int64
		found, err := From(t.Context(), server.URL+path, []Target{want}, func(done, _ int64) { last = done })
		expect(t, want, found, err, words...)
		if words == nil && last != int64(len(good)) {
			t.Error("progress:", last)
		}
	}
	want := target(t)
	server.Close()
	found,
		err := From(t.Context(), strings.Replace(server.URL, "//", "//me:secret@", 1)+"/whole.whl", []Target{want}, nil)
	expect(t, want, found, err, "copy the file here")
	if strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestFromStopsWhenCancelled(t *testing.T) {
	for name, archive := range map[string][]byte{ // more than one read
		"wheel": wheel(t, whole("big", noise(1<<16))...), "release": release(t, whole("big", noise(1<<16))...),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		file, want := write(t, filepath.Join(t.TempDir(), name), archive), target(t)
		found, err := From(ctx, file, []Target{want}, func(int64, int64) { cancel() })
		expect(t, want, found, err, "cancel")
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// TestFromTellsOfAnotherPlatform: what is there of another platform is named, also if
// something else of it was found.
func TestFromTellsOfAnotherPlatform(t *testing.T) {
	here, missing := target(t), target(t)
	missing.Library.Name, missing.Contents = "Another", []File{{"libthing.so.1", right, 3}}
	from := func(files ...string) error {
		t.Helper()
		source := write(t, filepath.Join(t.TempDir(), "x"), wheel(t, files...))
		found, err := From(t.Context(), source, []Target{here, missing}, nil)
		if len(found) != 1 {
			t.Errorf("%d found: %v", len(found), err)
		}
		return err
	}
	if err := from(whole("a/libthing.so.1", other, "c", "readme")...); err == nil ||
		!strings.Contains(err.Error(), "another platform") {
		t.Errorf("nothing is said of the file for another platform: %v", err)
	}
}

// TestFromGoesOn: what is damaged does not keep what follows it from being installed.
func TestFromGoesOn(t *testing.T) {
	here, bad := target(t), target(t)
	bad.Library.Name, bad.Contents = "Another", []File{pin("libthing.so.1", damaged[1:]+"!?")}
	file := write(t, filepath.Join(t.TempDir(), "x"), wheel(t, whole("a/libthing.so.1", damaged[1:]+"?!")...))
	found, err := From(t.Context(), file, []Target{bad, here}, nil)
	if len(found) != 1 || err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%d found, %v", len(found), err)
	}
	expect(t, here, found, nil)
}

// TestPins: the pins are complete, and no two files that are wanted together have the same
// size, by which they are recognised.
func TestPins(t *testing.T) {
	hash := regexp.MustCompile(`^[0-9a-f]{64}$`)
	sizes := map[string]bool{}
	for _, l := range append(Pictures(), ONNXRuntime()) {
		if len(l.archives) < 5 {
			t.Errorf("%s for %q", l.Name, l.Platforms())
		}
		for platform, a := range l.archives {
			if !hash.MatchString(a.SHA256) || a.Bytes == 0 || !strings.Contains(a.File.Name, "-"+l.Version+"-") {
				t.Errorf("%s for %s: %+v", l.Name, platform, a.File)
			}
			if !a.Contents[len(a.Contents)-1].licence() || !strings.Contains(a.Contents[0].Name, l.dir) {
				t.Errorf("%s for %s has %+v", l.Name, platform, a.Contents)
			}
			for _, f := range a.Contents {
				size := fmt.Sprint(platform, f.Bytes)
				if !hash.MatchString(f.SHA256) || f.Bytes == 0 || sizes[size] ||
					!f.licence() && !l.resembles("a/"+f.Name) {
					t.Errorf("%s for %s: %+v", l.Name, platform, f)
				}
				sizes[size] = true
			}
		}
	}
	if strings.Count(pins, "\n\n") != len(ONNXRuntime().archives)+len(Pictures()[0].archives)+
		len(Pictures()[1].archives) {
		t.Error("pins.txt has a package of another release")
	}
	if a, _ := ONNXRuntime().For("darwin/arm64"); !strings.Contains(a.Contents[0].Name, ONNXRuntime().Version) {
		t.Errorf("%s is not of release %s", a.Contents[0].Name, ONNXRuntime().Version)
	}
}
