package turbojpeg

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// CachedVersion is the release of the npm package @julusian/jpeg-turbo whose
// library `pipeline setup` installs in the user's cache; it contains libjpeg-turbo
// 3.1.2.
const CachedVersion = "2.3.0"

// EnvLibrary is the environment variable that names the library file.
const EnvLibrary = "TURBOJPEG_LIB"

// ErrNoLibrary reports that no usable library was found.
var ErrNoLibrary = errors.New("no usable TurboJPEG library")

// Remedy tells users without a library what to do.
func Remedy() string {
	setup := "run `pipeline setup`, or "
	if runtime.GOOS == "windows" {
		setup = "" // it has none
	}
	return setup + sharedlib.Install("libturbojpeg0", "turbojpeg", "jpeg-turbo") + "set " + EnvLibrary +
		" to its library file"
}

// Find locates the library and opens it.
func Find() (*Decoder, error) {
	path, err := Locate()
	if err != nil {
		return nil, err
	}
	return Open(path)
}

// Locate returns the path of the library to use: $TURBOJPEG_LIB, the one that came
// with the program, the user's cache filled by `pipeline setup`, the system's usual folders. If
// the variable is set but names no library, Locate fails. Nothing is loaded.
// Errors wrap ErrNoLibrary.
func Locate() (string, error) {
	s := sharedlib.Search{Name: "TurboJPEG", Functions: []string{decompress}, Env: EnvLibrary, NotFound: ErrNoLibrary,
		Remedy: Remedy()}
	path, _, err := s.Locate("", sharedlib.Places(setupDir(), "jpeg-turbo", "/opt/libjpeg-turbo/lib64",
		"turbojpeg", "libturbojpeg.so.0"))
	return path, err
}

// Source says why Locate chose a library.
func Source(path string) string {
	switch {
	case os.Getenv(EnvLibrary) != "":
		return "named by " + EnvLibrary
	case filepath.Dir(path) == setupDir():
		return "the user's cache (pipeline setup)"
	case slices.Contains(sharedlib.Beside(sharedlib.ProgramDir()), filepath.Dir(path)):
		return "shipped with the program"
	}
	return "found in a usual place"
}

// setupDir returns the folder that `pipeline setup` fills, "" without a home folder.
func setupDir() string {
	home, _ := os.UserHomeDir() // "" if it is unknown
	return sharedlib.SetupDir(os.Getenv, home, "jpeg-turbo", CachedVersion)
}
