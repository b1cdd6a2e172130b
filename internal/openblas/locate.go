package openblas

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// EnvLibrary is the environment variable that names the library file.
const EnvLibrary = "OPENBLAS_LIB"

// ErrNoLibrary reports that no usable library was found.
var ErrNoLibrary = errors.New("no usable OpenBLAS library")

// Remedy tells users without a library what to do.
const Remedy = "install one with POSIX threads (Debian, Ubuntu: libopenblas0-pthread; macOS: brew install openblas), or set " + EnvLibrary + " to its library file"

// setThreads is a function that distinguishes OpenBLAS from other BLAS
// libraries.
const setThreads = "openblas_set_num_threads"

// A Library is a file that is OpenBLAS according to its headers.
type Library struct {
	// Path is absolute.
	Path string
	// Source describes where it was found.
	Source string
	naming naming
}

// naming is how a build names its functions: builds inside Python wheels add a
// prefix, builds with 64-bit integers a suffix.
type naming struct{ prefix, suffix string }

func (n naming) of(function string) string { return n.prefix + function + n.suffix }

// wide reports whether integers have 64 bits.
func (n naming) wide() bool { return n.suffix != "" }

func namings() []naming {
	return []naming{{"", ""}, {"", "64_"}, {"scipy_", ""}, {"scipy_", "64_"}}
}

// Locate finds the library to use: explicit (from the configuration),
// $OPENBLAS_LIB, the executable's folder, the system's usual folders. The first
// two are binding: if one is set but unusable, Locate fails. Nothing is loaded.
// Errors wrap ErrNoLibrary.
func Locate(explicit string) (Library, error) {
	if explicit != "" {
		return ordered(explicit, "the configuration")
	}
	if path := os.Getenv(EnvLibrary); path != "" {
		return ordered(path, "$"+EnvLibrary)
	}
	return search(places())
}

// Ordered reports whether the user named a library. Locate then considers no
// other.
func Ordered(explicit string) bool { return explicit != "" || os.Getenv(EnvLibrary) != "" }

func ordered(path, source string) (Library, error) {
	lib, err := inspect(path, source)
	if err != nil {
		return lib, fmt.Errorf("%w: %s, named by %s: %w; correct it or remove the setting", ErrNoLibrary, path, source, err)
	}
	return lib, nil
}

// search returns the first usable library. The problems of others are only
// reported if there is none.
func search(paths []string) (Library, error) {
	var wrong error
	for _, path := range paths {
		lib, err := inspect(path, "a usual place")
		switch {
		case err == nil:
			return lib, nil
		case !errors.Is(err, os.ErrNotExist):
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", path, err))
		}
	}
	if wrong != nil {
		return Library{}, fmt.Errorf("%w: %w; %s", ErrNoLibrary, wrong, Remedy)
	}
	return Library{}, fmt.Errorf("%w: %s", ErrNoLibrary, Remedy)
}

func inspect(path, source string) (Library, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Library{}, err
	}
	var wanted []string
	for _, n := range namings() {
		wanted = append(wanted, n.of(setThreads))
	}
	found, err := sharedlib.Inspect(abs, runtime.GOOS, runtime.GOARCH, wanted...)
	if errors.Is(err, sharedlib.ErrNoFunction) {
		return Library{}, errors.New("a shared library, but not OpenBLAS (no " + setThreads + " in it)")
	}
	if err != nil {
		return Library{}, err
	}
	prefix, suffix, _ := strings.Cut(found.Function, setThreads)
	return Library{Path: abs, Source: source, naming: naming{prefix, suffix}}, nil
}

// places returns the files to look at, best first.
func places() []string {
	name := "libopenblas.so.0"
	var folders []string
	if exe, err := os.Executable(); err == nil {
		folders = append(folders, filepath.Dir(exe))
	}
	if runtime.GOOS == "darwin" {
		name = "libopenblas.dylib"
		folders = append(folders, "/opt/homebrew/opt/openblas/lib", "/usr/local/opt/openblas/lib", "/opt/homebrew/lib", "/usr/local/lib")
	} else {
		folders = append(folders, "/usr/local/lib", "/opt/OpenBLAS/lib")
		for _, lib := range systemFolders(runtime.GOARCH) {
			folders = append(folders, filepath.Join(lib, "openblas-pthread"), lib)
		}
	}
	var all []string
	for _, folder := range folders {
		all = append(all, filepath.Join(folder, name))
	}
	return all
}

func systemFolders(goarch string) []string {
	folders := []string{"/usr/lib64", "/usr/lib"}
	if triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[goarch]; triplet != "" {
		return append([]string{"/usr/lib/" + triplet}, folders...)
	}
	return folders
}
