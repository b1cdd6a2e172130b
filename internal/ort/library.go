package ort

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Library is a usable ONNX Runtime library on this machine.
type Library struct {
	// Path is absolute.
	Path string
	// Version is "major.minor.patch", or "" if it is only known after loading.
	Version string
	// Source describes where it was found.
	Source string
}

// An Attempt is a place that Locate looked at and the reason for rejecting it.
type Attempt struct {
	Path   string
	Source string
	Err    error
}

// ErrNoLibrary reports that no usable library was found.
var ErrNoLibrary = errors.New("no usable ONNX Runtime library")

// Remedy tells users without a library what to do.
const Remedy = "run `pipeline setup`, or install ONNX Runtime " + minVersionText +
	" or newer and set ONNXRUNTIME_LIB to its library file"

// The binding asks for API version 24; 1.24 is the first release that has it.
// Newer releases keep older APIs, so there is no upper bound.
const (
	minMajor, minMinor = 1, 24
	minVersionText     = "1.24"
)

// checkVersion refuses releases without the API that the binding needs. An
// unknown version ("") passes: Open checks it.
func checkVersion(version string) error {
	if version == "" {
		return nil
	}
	major, minor, err := majorMinor(version)
	if err != nil {
		return err
	}
	if major < minMajor || major == minMajor && minor < minMinor {
		return fmt.Errorf("ONNX Runtime %s is too old, %s or newer is needed: %s", version, minVersionText, Remedy)
	}
	return nil
}

func majorMinor(version string) (major, minor int, err error) {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err1 := strconv.Atoi(first)
	minor, err2 := strconv.Atoi(second)
	if err := cmp.Or(err1, err2); err != nil {
		return 0, 0, fmt.Errorf("version %q: not major.minor.patch: %w", version, err)
	}
	return major, minor, nil
}
