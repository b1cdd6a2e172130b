package turbojpeg

import (
	"errors"

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
	s := sharedlib.Search{Name: "TurboJPEG", Functions: []string{decompress}, Env: EnvLibrary, NotFound: ErrNoLibrary, Remedy: Remedy}
	path, _, err := s.Locate("", sharedlib.Places("jpeg-turbo", "/opt/libjpeg-turbo/lib64", "libturbojpeg.dylib", "libturbojpeg.so.0"))
	return path, err
}
