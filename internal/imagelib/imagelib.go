package imagelib

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

var (
	// ErrNoLibrary reports that no usable library was found.
	ErrNoLibrary = errors.New("no usable library")
	// ErrTooOld reports one without functions that are needed.
	ErrTooOld = errors.New("it is too old")
)

// A Library decodes pictures.
type Library struct {
	// Name is libvips or libheif.
	Name string
	// Env is the environment variable that names the library file.
	Env string
	// Dir and Version are the folder in the user's cache, and in it that of the release, that
	// `pipeline setup` fills. The release is that of the package of PyPI.
	Dir, Version string
	// oldest is the library's own version from which on it can be used.
	oldest [2]int
	// version is the function that returns the library's own version; no other library has it.
	version string
	// debian, fedora and formula are the packages of systems.
	debian, fedora, formula string
	// files are the names of its file for each system, as patterns: that of the package, and
	// that of a system.
	files map[string][2]string
}

// Vips decodes JPEG, PNG, GIF, TIFF, WebP and AVIF.
func Vips() Library {
	return Library{
		Name: "libvips", Env: "LIBVIPS_LIB", Dir: "vips", Version: "8.18.7", version: "vips_version_string",
		oldest: [2]int{8, 13}, // which blocks loaders
		debian: "libvips42", fedora: "vips", formula: "vips",
		files: map[string][2]string{
			"darwin":  {"libvips.42.dylib", "libvips.dylib"},
			"windows": {"libvips-42-*.dll", "libvips-42.dll"},
			"linux":   {"libvips-????????.so.42", "libvips.so.42"},
		},
	}
}

// Heif decodes HEIC.
func Heif() Library {
	return Library{
		Name: "libheif", Env: "LIBHEIF_LIB", Dir: "heif", Version: "1.4.0", version: "heif_get_version",
		oldest: [2]int{1, 20}, // which bounds the memory that it takes
		debian: "libheif1", fedora: "libheif", formula: "libheif",
		files: map[string][2]string{
			"darwin":  {"libheif.1.*.dylib", "libheif.dylib"},
			"windows": {"libheif-*.dll", "libheif.dll"},
			"linux":   {"libheif-????????.so.1.*", "libheif.so.1"},
		},
	}
}

// Locate returns the path of the library to use: that named by l.Env, the one that came with
// the program, the user's cache filled by `pipeline setup`, the system's usual folders. If the
// variable is set but names no library, Locate fails. Nothing is loaded. Errors wrap
// ErrNoLibrary.
func (l Library) Locate() (string, error) {
	s := sharedlib.Search{Name: l.Name, Functions: []string{l.version}, Env: l.Env,
		NotFound: fmt.Errorf("%w %s", ErrNoLibrary, l.Name), Remedy: l.Remedy()}
	path, _, err := s.Locate("", l.places())
	return path, err
}

// places returns the files to try that are there, in order.
func (l Library) places() (files []string) {
	for _, folder := range sharedlib.Folders(l.cacheDir(), l.formula, "/opt/"+l.Dir+"/lib") {
		for _, pattern := range l.files[runtime.GOOS] {
			files = append(files, sharedlib.Glob(folder, pattern)...)
		}
	}
	return files
}

// Find locates the library and loads it, with the libraries beside it that it needs. The
// version is its own.
func (l Library) Find() (path, version string, err error) {
	path, err = l.Locate()
	if err != nil {
		return "", "", err
	}
	var ask func() string
	err = sharedlib.Load(path, map[string]any{l.version: &ask}, nil)
	if err == nil {
		version = ask()
		err = l.check(version)
	}
	if err != nil {
		return path, "", fmt.Errorf("%w %s: %s: %w", ErrNoLibrary, l.Name, path, err)
	}
	return path, version, nil
}

// check refuses versions without functions that are needed.
func (l Library) check(version string) error {
	var got [2]int
	_, err := fmt.Sscanf(version, "%d.%d", &got[0], &got[1])
	if err != nil || slices.Compare(got[:], l.oldest[:]) < 0 {
		return fmt.Errorf("%w (%s; %d.%d or newer is needed): %s", ErrTooOld, version, l.oldest[0], l.oldest[1],
			l.Remedy())
	}
	return nil
}

// Remedy tells users without the library what to do.
func (l Library) Remedy() string {
	return "run `pipeline setup`, or " + sharedlib.Install(l.debian, l.fedora, l.formula) + "set " + l.Env +
		" to its library file"
}

// Source says why Locate chose a file.
func (l Library) Source(path string) string {
	switch {
	case os.Getenv(l.Env) != "":
		return "named by " + l.Env
	case filepath.Dir(path) == l.cacheDir():
		return "the user's cache (pipeline setup)"
	case slices.Contains(sharedlib.Beside(sharedlib.ProgramDir()), filepath.Dir(path)):
		return "shipped with the program"
	}
	return "found in a usual place"
}

// cacheDir returns the folder that `pipeline setup` fills, "" without a home folder.
func (l Library) cacheDir() string {
	home, _ := os.UserHomeDir() // "" if it is unknown
	return sharedlib.SetupDir(os.Getenv, home, l.Dir, l.Version)
}
