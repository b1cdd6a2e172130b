package openblas

import (
	"errors"
	"os"
	"runtime"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// envLibrary is the environment variable that names the library file.
const envLibrary = "OPENBLAS_LIB"

// ErrNoLibrary reports that no usable library was found.
var ErrNoLibrary = errors.New("no usable OpenBLAS library")

// remedy tells users without a library what to do.
func remedy() string {
	if runtime.GOOS == "windows" {
		return "it is not used on Windows"
	}
	return sharedlib.Install("libopenblas0-pthread, with POSIX threads", "", "openblas") + "set " + envLibrary +
		" to its library file"
}

// setThreads is a function that distinguishes OpenBLAS from other BLAS
// libraries.
const setThreads = "openblas_set_num_threads"

// A Library is a file that is OpenBLAS.
type Library struct {
	// Path is absolute.
	Path   string
	naming naming
}

// naming is how a build names its functions: builds inside Python wheels add a
// prefix, builds with 64-bit integers a suffix.
type naming struct{ prefix, suffix string }

func (n naming) of(function string) string { return n.prefix + function + n.suffix }

// wide reports whether integers have 64 bits.
func (n naming) wide() bool { return n.suffix != "" }

func search() sharedlib.Search {
	s := sharedlib.Search{Name: "OpenBLAS", Env: envLibrary, NotFound: ErrNoLibrary, Remedy: remedy()}
	for _, n := range []naming{{"", ""}, {"", "64_"}, {"scipy_", ""}, {"scipy_", "64_"}} {
		s.Functions = append(s.Functions, n.of(setThreads))
	}
	return s
}

// Locate finds the library to use: explicit (from the configuration),
// $OPENBLAS_LIB, the executable's folder, the system's usual folders. The first
// two are binding: if one is set but unusable, Locate fails. Errors
// wrap ErrNoLibrary.
func Locate(explicit string) (Library, error) {
	return locate(explicit, sharedlib.Places("", "openblas", "/opt/OpenBLAS/lib", "openblas",
		"openblas-pthread/libopenblas.so.0", "libopenblas.so.0"))
}

func locate(explicit string, places []string) (Library, error) {
	return libraryOf(search().Locate(explicit, places))
}

func libraryOf(path, function string, err error) (Library, error) {
	prefix, suffix, _ := strings.Cut(function, setThreads)
	return Library{Path: path, naming: naming{prefix, suffix}}, err
}

// Ordered reports whether the user named a library. Locate then considers no
// other.
func Ordered(explicit string) bool { return explicit != "" || os.Getenv(envLibrary) != "" }
