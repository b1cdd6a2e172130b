package ort

import (
	"errors"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// entryPoint is the only function that ONNX Runtime exports. Its symbol version
// is the release: VERS_1.30.0.
const entryPoint = "OrtGetApiBase"

var errNotORT = errors.New("a shared library, but not ONNX Runtime (no " + entryPoint + " in it)")

// inspect checks, from a file's headers alone, that it is a complete library
// for the given system and returns its release ("" if the headers do not
// contain it).
func inspect(path, goos, goarch string) (version string, err error) {
	lib, err := sharedlib.Inspect(path, goos, goarch, entryPoint)
	if errors.Is(err, sharedlib.ErrNoFunction) {
		return "", errNotORT
	}
	if err != nil {
		return "", err
	}
	version, _ = strings.CutPrefix(lib.Version, "VERS_")
	return version, checkVersion(version)
}
