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

// inspect checks that a file is a complete library of this system and returns its release,
// "" if that is only known once it is used.
func inspect(path string) (version string, err error) {
	if err := forbidTelemetry(); err != nil { // some systems load it to look at it
		return "", err
	}
	lib, err := sharedlib.Inspect(path, entryPoint)
	if errors.Is(err, sharedlib.ErrNoFunction) {
		return "", errNotORT
	}
	if err != nil {
		return "", err
	}
	version, _ = strings.CutPrefix(lib.Version, "VERS_")
	return version, checkVersion(version)
}
