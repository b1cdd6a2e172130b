package turbojpeg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// EnvLibrary is the environment variable that names the library file.
const EnvLibrary = "TURBOJPEG_LIB"

// ErrNoLibrary reports that no usable library was found.
var ErrNoLibrary = errors.New("no usable TurboJPEG library")

// Remedy tells users without a library what to do.
const Remedy = "install one (Debian, Ubuntu: libturbojpeg0; Fedora: turbojpeg; macOS: brew install jpeg-turbo), or set " + EnvLibrary + " to its library file"

// Find locates the library and opens it.
func Find() (*Decoder, error) {
	path, err := Locate()
	if err != nil {
		return nil, err
	}
	return Open(path)
}

// Locate returns the path of the library to use: $TURBOJPEG_LIB, the
// executable's folder, the system's usual folders. If the variable is set but
// names no library, Locate fails. Nothing is loaded. Errors wrap ErrNoLibrary.
func Locate() (string, error) {
	if path := os.Getenv(EnvLibrary); path != "" {
		abs, err := check(path)
		if err != nil {
			return "", fmt.Errorf("%w: %s, named by $%s: %w; correct it or remove the setting", ErrNoLibrary, path, EnvLibrary, err)
		}
		return abs, nil
	}
	for _, path := range places() {
		if abs, err := check(path); err == nil {
			return abs, nil
		}
	}
	return "", fmt.Errorf("%w: %s", ErrNoLibrary, Remedy)
}

func check(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	_, err = sharedlib.Inspect(abs, runtime.GOOS, runtime.GOARCH, decompress)
	if errors.Is(err, sharedlib.ErrNoFunction) {
		return "", errors.New("a shared library, but not TurboJPEG (no " + decompress + " in it)")
	}
	return abs, err
}

func places() []string {
	name := "libturbojpeg.so.0"
	var folders []string
	if exe, err := os.Executable(); err == nil {
		folders = append(folders, filepath.Dir(exe))
	}
	if runtime.GOOS == "darwin" {
		name = "libturbojpeg.dylib"
		folders = append(folders, "/opt/homebrew/opt/jpeg-turbo/lib", "/usr/local/opt/jpeg-turbo/lib", "/opt/homebrew/lib", "/usr/local/lib")
	} else {
		folders = append(folders, "/usr/local/lib", "/opt/libjpeg-turbo/lib64")
		if triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]; triplet != "" {
			folders = append(folders, "/usr/lib/"+triplet)
		}
		folders = append(folders, "/usr/lib64", "/usr/lib")
	}
	var all []string
	for _, folder := range folders {
		all = append(all, filepath.Join(folder, name))
	}
	return all
}
