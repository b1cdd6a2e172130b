package libraries

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

// A Library is a release of a library, contained in an npm package, or a network, made from
// a package of PyPI.
type Library struct {
	Name             string
	Package, Version string
	// Env is the environment variable that names another file to use.
	Env string
	// PackageBytes is the size of the compressed package.
	PackageBytes int64
	// files are those for each platform.
	files map[string]File
	// dir is the library's folder in the user's cache.
	dir string
	// wheel is the file name of a package of PyPI.
	wheel string
}

// A File is a pinned file of a library.
type File struct {
	Name, SHA256 string
	Bytes        int64
}

// ONNXRuntime computes the embeddings.
func ONNXRuntime() Library {
	return Library{
		Name: "ONNX Runtime", Package: "onnxruntime-node", Version: ort.CachedVersion, PackageBytes: 113507888,
		Env: ort.EnvLibrary, dir: "onnxruntime",
		files: map[string]File{
			"linux/amd64": {"libonnxruntime.so.1", "ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23",
				45828512},
			"linux/arm64": {"libonnxruntime.so.1", "1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76",
				25135496},
			"darwin/arm64": {"libonnxruntime.1.30.0.dylib",
				"685d2be5dba1309c89d3a5324b7fd06a5c42f1a61bfea32d14c4cc28d072121d", 44589928},
			"windows/amd64": {"onnxruntime.dll", "508c362f5673483dd3a086379c392795b2e42d10d5e6f3f90ebd7ac21c97af67",
				28754232},
			"windows/arm64": {"onnxruntime.dll", "6c3a2abf5c6aca11c48a0d338a91af309f2266f25ce2e4084e6a87bbcb0fbfd0",
				29815136},
		},
	}
}

// TurboJPEG decodes photos; without it the program decodes them in Go, more slowly.
func TurboJPEG() Library {
	return Library{
		Name: "libjpeg-turbo", Package: "@julusian/jpeg-turbo", Version: turbojpeg.CachedVersion, PackageBytes: 2905366,
		Env: turbojpeg.EnvLibrary, dir: "jpeg-turbo",
		files: map[string]File{
			"linux/amd64": {"libturbojpeg.so.0",
				"d8a735da75b826e407dc442a8c86de5f45372fdc35e83a0bc7d9d4236c11d30e", 1046960},
			"linux/amd64-musl": {"libturbojpeg.so.0",
				"c0182d4e495f5aac942cbebcc75d383b6e950ba0f69a54ac9b9d9bd6329b4d88", 1070224},
			"linux/arm64": {"libturbojpeg.so.0", "96f7bf39ebca03f8cb4a47e5b8bc610123314e87b8106661b54cc9e7bef2b295",
				915832},
		},
	}
}

// everywhere stands for all platforms.
const everywhere = "every platform"

// Network returns a file that is the same on every platform: a network, or the wheel, a
// package of PyPI, that it is made from.
func Network(name, pkg, version, wheel string, f File) Library {
	return Library{Name: name, Package: pkg, Version: version, wheel: wheel, files: map[string]File{everywhere: f}}
}

// NetworkDir returns the folder in the user's cache for networks, whose names contain a
// hash; "" if there is no home folder.
func NetworkDir() string {
	home, _ := os.UserHomeDir() // "" if it is unknown
	return sharedlib.SetupDir(os.Getenv, home, "backbones", "")
}

// NetworkDirs returns the folders in which the program looks for the network of new
// models: where one may have come with the program, and NetworkDir.
func NetworkDirs() []string {
	dirs := sharedlib.Beside(sharedlib.ProgramDir())
	if cache := NetworkDir(); cache != "" {
		dirs = append(dirs, cache)
	}
	return dirs
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

// For returns the file for a platform.
func (l Library) For(platform string) (File, bool) {
	f, ok := l.files[platform]
	if !ok {
		f, ok = l.files[everywhere]
	}
	return f, ok
}

// CacheDir returns the folder in the user's cache in which the program looks for the
// library, "" if there is no home folder.
func (l Library) CacheDir() string {
	home, _ := os.UserHomeDir() // "" if it is unknown
	return sharedlib.SetupDir(os.Getenv, home, l.dir, l.Version)
}

// Platforms returns the platforms that the library is pinned for, sorted.
func (l Library) Platforms() []string { return slices.Sorted(maps.Keys(l.files)) }

// Release returns the package with its version, as npm or pip takes it.
func (l Library) Release() string {
	if l.wheel != "" {
		return l.Package + "==" + l.Version
	}
	return l.Package + "@" + l.Version
}

// Archive returns the file name of the package.
func (l Library) Archive() string {
	if l.wheel != "" {
		return l.wheel
	}
	return fmt.Sprintf("%s-%s.tgz", strings.ReplaceAll(strings.TrimPrefix(l.Package, "@"), "/", "-"), l.Version)
}

// platformOf returns the platform whose file has this size, if it is another one.
func (l Library) platformOf(bytes int64) string {
	for platform, f := range l.files {
		if f.Bytes == bytes && platform != everywhere {
			return platform
		}
	}
	return ""
}

// resembles reports whether a file's name is that of a build of the library.
func (l Library) resembles(name string) bool {
	stem, _, _ := strings.Cut(path.Base(filepath.ToSlash(name)), ".")
	for _, f := range l.files {
		if pinned, _, _ := strings.Cut(f.Name, "."); pinned == stem {
			return true
		}
	}
	return false
}
