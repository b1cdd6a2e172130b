package libraries

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// A Library is a release of a library, which packages of PyPI contain.
type Library struct {
	Name             string
	Package, Version string
	// Env is the environment variable that names another file to use.
	Env string
	// archives are the packages for each platform.
	archives map[string]Archive
	// dir is the library's folder in the user's cache.
	dir string
}

// An Archive is the file of a package.
type Archive struct {
	File
	// Contents are what is taken from it: the library first, then what it needs, and licences.
	Contents []File
}

// A File is a pinned file.
type File struct {
	Name, SHA256 string
	Bytes        int64
}

// licence reports whether it is not needed to run the library.
func (f File) licence() bool { return strings.HasSuffix(f.Name, ".txt") }

// ONNXRuntime computes the embeddings.
func ONNXRuntime() Library {
	return pinned(Library{
		Name: "ONNX Runtime", Package: "onnxruntime", Version: ort.CachedVersion, Env: ort.EnvLibrary,
		dir: "onnxruntime",
	})
}

// Pictures are the libraries that decode photos.
func Pictures() []Library {
	vips, heif := imagelib.Vips(), imagelib.Heif()
	return []Library{
		pinned(Library{Name: vips.Name, Package: "pyvips-binary", Version: vips.Version, Env: vips.Env, dir: vips.Dir}),
		pinned(Library{Name: heif.Name, Package: "pi-heif", Version: heif.Version, Env: heif.Env, dir: heif.Dir}),
	}
}

//go:embed pins.txt
var pins string

// pinned returns a library with its archives in pins.txt.
func pinned(l Library) Library {
	l.archives = map[string]Archive{}
	for block := range strings.SplitSeq(pins, "\n\n") {
		head, files, _ := strings.Cut(block, "\n")
		platform, ok := strings.CutPrefix(head, l.Package+" "+l.Version+" ")
		if !ok {
			continue
		}
		var all []File
		for line := range strings.Lines(files) {
			var f File
			if _, err := fmt.Sscan(line, &f.SHA256, &f.Bytes, &f.Name); err != nil {
				panic("pins.txt: " + line) // a test reads all
			}
			all = append(all, f)
		}
		l.archives[platform] = Archive{all[0], all[1:]}
	}
	return l
}

// Platform returns the name of this machine's platform, such as linux/amd64, or
// linux/amd64-musl where musl is the only C library.
func Platform() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if name == "linux/amd64" && exists("/lib/ld-musl-x86_64.so.1") && !exists("/lib64/ld-linux-x86-64.so.2") {
		return name + "-musl"
	}
	return name
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// For returns the archive for a platform.
func (l Library) For(platform string) (Archive, bool) {
	a, ok := l.archives[platform]
	return a, ok
}

// CacheDir returns the folder in the user's cache in which the program looks for the
// library, "" if there is no home folder.
func (l Library) CacheDir() string {
	home, _ := os.UserHomeDir() // "" if it is unknown
	return sharedlib.SetupDir(os.Getenv, home, l.dir, l.Version)
}

// Platforms returns the platforms that the library is pinned for, sorted.
func (l Library) Platforms() []string { return slices.Sorted(maps.Keys(l.archives)) }

// Release returns the package with its version, as pip takes it.
func (l Library) Release() string { return l.Package + "==" + l.Version }

// URL returns the package as lists of contents name it (purl).
func (l Library) URL() string { return "pkg:pypi/" + l.Package + "@" + l.Version }

// platformOf returns the platform of which a file has this size.
func (l Library) platformOf(bytes int64) string {
	for platform, a := range l.archives {
		if slices.ContainsFunc(a.Contents, func(f File) bool { return f.Bytes == bytes }) {
			return platform
		}
	}
	return ""
}

// resembles reports whether a file's name is that of a build of the library.
func (l Library) resembles(name string) bool {
	stem, _, _ := strings.Cut(path.Base(filepath.ToSlash(name)), ".")
	for _, a := range l.archives {
		for _, f := range a.Contents {
			pinned, _, _ := strings.Cut(f.Name, ".")
			if pinned == stem && !f.licence() {
				return true
			}
		}
	}
	return false
}
