package libraries

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ulikunitz/xz"
)

const (
	right   = "the right library"
	other   = "that of another processor"
	damaged = "the r1ght library"
)

// target returns a made-up library that is missing from a new folder.
func target(t *testing.T) Target {
	pin := func(content string) File {
		sum := sha256.Sum256([]byte(content))
		return File{Name: "libthing.so.1", SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(content))}
	}
	l := Library{
		Name: "Thing", Package: "@made/thing", Version: "1.2.3",
		files: map[string]File{"linux/amd64": pin(right), "linux/arm64": pin(other)},
	}
	return Target{Library: l, File: l.files["linux/amd64"], Dir: filepath.Join(t.TempDir(), "thing", "1.2.3")}
}

// archive returns a tar, compressed by gzip, of files: name, content, name, content …
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	return packed(t, &b, gzip.NewWriter(&b), files)
}

// release is an archive compressed by xz, as ours are.
func release(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	return packed(t, &b, z, files)
}

func packed(t *testing.T, b *bytes.Buffer, zipped io.WriteCloser, files []string) []byte {
	t.Helper()
	w := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		err := w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o755})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
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
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// files lists what is below a folder.
func files(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, d.Name())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// expect checks that the library is installed, or that nothing is and the error has the
// words.
func expect(t *testing.T, want Target, found []Target, err error, words ...string) {
	t.Helper()
	if len(words) == 0 {
		if content, reading := os.ReadFile(want.Path()); err != nil || reading != nil || string(content) != right ||
			len(found) != 1 || !want.Present() {
			t.Errorf("%v, %v, %q, %d found", err, reading, content, len(found))
		}
		if left := files(t, want.Dir); len(left) != 1 {
			t.Errorf("left behind: %q", left)
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
	whole := archive(t, "package/README.md", "hello", "package/arm64/libthing.so.1", other, "package/x64/libthing.so.1",
		right, "package/bulk", strings.Repeat("0123456789", 9999))
	inXZ := release(t, "pipeline-1/pipeline", noise(1<<16), "pipeline-1/lib/libthing.so.1", right)
	for name, c := range map[string]struct {
		file  string
		bytes []byte
		words []string
	}{
		"package":         {"any.tgz", whole, nil},
		"release":         {"any", inXZ, nil},
		"cut release":     {"any", inXZ[:len(inXZ)/2], []string{"ends too early"}},
		"damaged release": {"any", changed(inXZ, 24), []string{"the archive cannot be read"}},
		"start of xz":     {"any", inXZ[:8], []string{"not a complete archive"}},
		"library":         {"renamed", []byte(right), nil},
		"wrong platform": {"x.tgz", archive(t, "lib/libthing.so.1", other),
			[]string{"another platform", "linux/arm64"}},
		"damaged": {"x.tgz", archive(t, "lib/libthing.so.1", damaged),
			[]string{"damaged", "@made/thing@1.2.3", target(t).SHA256}},
		"same size": {"x.tgz", archive(t, "LICENSE", damaged),
			[]string{"none of the libraries", "made-thing-1.2.3.tgz"}},
		"other release": {"x.tgz", archive(t, "lib/libthing.so.2", right+"s"),
			[]string{"18 bytes", "another release"}},
		"cut":              {"x.tgz", whole[:60], []string{"ends too early"}},
		"cut in a library": {"x.tgz", archive(t, "libthing.so.1", right)[:40], []string{"ends too early"}},
		"not an archive":   {"x.tgz", []byte("<html>Log in</html>"), []string{"none of the libraries"}},
		"no tar":           {"x.tgz", append([]byte("\x1f\x8b"), make([]byte, 99)...), []string{"archive"}},
		"empty":            {"x.tgz", nil, []string{"none of the libraries"}},
	} {
		t.Run(name, func(t *testing.T) {
			file, want := write(t, filepath.Join(t.TempDir(), c.file), c.bytes), target(t)
			found, err := From(t.Context(), file, []Target{want}, nil)
			expect(t, want, found, err, c.words...)
		})
	}
}

func TestFromFolder(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		bytes []byte
		words []string
	}{
		"unpacked":       {"node_modules/thing/x64/libthing.so.1", []byte(right), nil},
		"npm package":    {"made-thing-1.2.3.tgz", archive(t, "x/libthing.so.1", right), nil},
		"our archive":    {"pipeline-0.2.0-linux-amd64.tar.xz", release(t, "p/lib/libthing.so.1", right), nil},
		"an earlier one": {"pipeline-0.1.0-linux-amd64.tar.gz", archive(t, "p/lib/libthing.so.1", right), nil},
		"other archive":  {"holiday.tgz", archive(t, "x/libthing.so.1", right), []string{"none of the libraries"}},
		"other platform": {"lib/libthing.so.1", []byte(other), []string{"linux/arm64"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, want := t.TempDir(), target(t)
			write(t, filepath.Join(dir, c.file), c.bytes)
			found, err := From(t.Context(), dir, []Target{want}, nil)
			expect(t, want, found, err, c.words...)
		})
	}
	want := target(t)
	found, err := From(t.Context(), filepath.Join(t.TempDir(), "no"), []Target{want}, nil)
	expect(t, want, found, err, "no such file or folder")
}

func TestFromAddress(t *testing.T) {
	whole := archive(t, "x64/libthing.so.1", right)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/whole.tgz":
			_, _ = w.Write(whole)
		case "/cut.tgz": // announces more than it sends
			w.Header().Set("Content-Length", "5000")
			_, _ = w.Write(whole[:len(whole)/2])
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for path, words := range map[string][]string{
		"/whole.tgz": nil, "/cut.tgz": {"ends too early", server.URL}, "/no.tgz": {"404"},
	} {
		want := target(t)
		var last int64
		found, err := From(t.Context(), server.URL+path, []Target{want}, func(done, _ int64) { last = done })
		expect(t, want, found, err, words...)
		if words == nil && last == 0 {
			t.Error("no progress")
		}
	}
	want := target(t)
	server.Close()
	found,
		err := From(t.Context(), strings.Replace(server.URL, "//", "//me:secret@", 1)+"/whole.tgz", []Target{want}, nil)
	expect(t, want, found, err, "copy the file here")
	if strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestFromStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	// more than one read
	file, want := write(t, filepath.Join(t.TempDir(), "x.tgz"),
		archive(t, "big", noise(1<<16), "libthing.so.1", right)), target(t)
	found, err := From(ctx, file, []Target{want}, func(int64, int64) { cancel() })
	expect(t, want, found, err, "cancel")
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// npm puts a program into PATH that acts as npm: a script, which finds the package
// in $PACKAGE.
func npm(t *testing.T, script string, pack []byte) {
	t.Helper()
	standIn(t, "npm", script, pack)
}

// standIn is npm for any program.
func standIn(t *testing.T, program, script string, pack []byte) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skipf("the stand-in for %s is a shell script", program)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, program), []byte("#!/bin/sh\n"+script))
	t.Setenv("PACKAGE", write(t, filepath.Join(dir, "package"), pack))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestNPM(t *testing.T) {
	good := archive(t, "package/x64/libthing.so.1", right)
	const pack = `case "$*" in "pack @made/thing@1.2.3 --ignore-scripts --cache "*) ` +
		`cp "$PACKAGE" made-thing-1.2.3.tgz;; *) exit 9;; esac`
	for name, c := range map[string]struct {
		script string
		bytes  []byte
		words  []string
	}{
		"fetched": {pack, good, nil},
		"refused": {"echo npm error 401 who are you >&2; exit 1", nil,
			[]string{"npm could not fetch @made/thing@1.2.3", "who are you", "registry"}},
		"tampered": {pack, archive(t, "package/x64/libthing.so.1", damaged), []string{"damaged"}},
		"cut":      {pack, good[:50], []string{"ends too early"}},
		"nothing":  {"exit 0", nil, []string{"made-thing-1.2.3.tgz", "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			npm(t, c.script, c.bytes)
			want := target(t)
			var found []Target
			err := NPM(t.Context(), want, nil)
			if err == nil {
				found = []Target{want}
			}
			expect(t, want, found, err, c.words...)
		})
	}
}

// TestPip: a wheel is the pinned file itself, whatever the platform.
func TestPip(t *testing.T) {
	const pack = `case "$*" in
	"download net==1.0 --no-deps --only-binary=:all: "*) cp "$PACKAGE" net-1.0.whl;;
	*) exit 9;;
esac`
	for name, c := range map[string]struct {
		script  string
		content string
		words   []string
	}{
		"fetched": {pack, right, nil},
		"refused": {
			"echo no such index >&2; exit 1", right,
			[]string{"pip could not fetch net==1.0", "no such index", "proxy"},
		},
		"tampered": {pack, damaged, []string{"net-1.0.whl is damaged"}},
		"nothing":  {"exit 0", right, []string{"net-1.0.whl", "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			standIn(t, "pip3", c.script, []byte(c.content))
			sum := sha256.Sum256([]byte(right))
			l := Network("Net", "net", "1.0", "net-1.0.whl",
				File{"net-1.0.whl", hex.EncodeToString(sum[:]), int64(len(right))})
			file, ok := l.For("linux/amd64-musl")
			want := Target{Library: l, File: file, Dir: t.TempDir()}
			var found []Target
			err := Pip(t.Context(), want, nil)
			if err == nil {
				found = []Target{want}
			}
			if expect(t, want, found, err, c.words...); !ok {
				t.Error("there is none for this platform")
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	if err := Pip(t.Context(), target(t), nil); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("without pip: %v", err)
	}
}

// TestFromTellsOfAnotherPlatform: what is there of another platform is named, also if
// something else of it was found, and is not if that of this one was found too.
func TestFromTellsOfAnotherPlatform(t *testing.T) {
	here, missing := target(t), target(t)
	missing.Library.Name, missing.File.Bytes = "Another", 3
	from := func(files ...string) error {
		t.Helper()
		source := write(t, filepath.Join(t.TempDir(), "x.tgz"), archive(t, files...))
		found, err := From(t.Context(), source, []Target{here, missing}, nil)
		if len(found) != 1 {
			t.Errorf("%d found: %v", len(found), err)
		}
		return err
	}
	if err := from("a/libthing.so.1", other, "b/libthing.so.1", right, "c", "readme"); err != nil {
		if !strings.Contains(err.Error(), "another platform") {
			t.Error(err)
		}
	} else {
		t.Error("nothing is said of the file for another platform")
	}
	missing.Library.files = map[string]File{everywhere: {"thing.bin", missing.SHA256, 3}}
	missing.File.Name = "thing.bin"
	if err := from("a/libthing.so.1", other, "b/libthing.so.1", right); err != nil {
		t.Error(err)
	}
}

// TestNPMCancelled: npm is told to end, and its folder is removed.
func TestNPMCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(t.TempDir(), "started")
	npm(t, `trap 'exit 130' INT; mkfifo fifo; : >"$STARTED"; read x <fifo`, nil)
	t.Setenv("STARTED", started)
	want, ended := target(t), make(chan error)
	go func() { ended <- NPM(ctx, want, nil) }()
	for !exists(started) {
		runtime.Gosched()
	}
	cancel()
	expect(t, want, nil, <-ended, "cancel")
}

// TestProgress: what npm has stored so far is told while it works, wherever it keeps its
// temporary files.
func TestProgress(t *testing.T) {
	good := archive(t, "package/x64/libthing.so.1", right)
	npm(t, `mkfifo "$FIFO"; printf 1234567 >"$TMPDIR/part"; read x <"$FIFO"; cp "$PACKAGE" made-thing-1.2.3.tgz`, good)
	fifo := filepath.Join(t.TempDir(), "fifo")
	t.Setenv("FIFO", fifo)
	t.Chdir(t.TempDir())
	want := target(t)
	want.Dir, want.PackageBytes = "stick", int64(len(good))
	goOn := sync.OnceFunc(func() { _ = os.WriteFile(fifo, []byte("\n"), 0) })
	told := 0
	err := NPM(t.Context(), want, func(done, total int64) {
		if told++; told == 1 && done != 0 || total != want.PackageBytes {
			t.Errorf("%d of %d", done, total)
		}
		if done == 7 {
			goOn()
		}
	})
	expect(t, want, []Target{want}, err)
}

// TestPins: the pins are complete, and no two files of a library have the same size,
// by which they are recognised.
func TestPins(t *testing.T) {
	hash := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, l := range []Library{ONNXRuntime(), TurboJPEG()} {
		sizes := map[int64]bool{}
		for platform, f := range l.files {
			if !hash.MatchString(f.SHA256) || f.Bytes == 0 || sizes[f.Bytes] || !l.resembles("a/"+f.Name) {
				t.Errorf("%s for %s: %+v", l.Name, platform, f)
			}
			sizes[f.Bytes] = true
		}
	}
	if got := TurboJPEG().Archive(); got != "julusian-jpeg-turbo-"+TurboJPEG().Version+".tgz" {
		t.Error(got)
	}
	if darwin, _ := ONNXRuntime().For("darwin/arm64"); !strings.Contains(darwin.Name, ONNXRuntime().Version) {
		t.Errorf("%s is not of release %s", darwin.Name, ONNXRuntime().Version)
	}
}
