//go:build !((linux || darwin || windows) && (amd64 || arm64))

package sharedlib

import "errors"

// Load fails: functions of a library can be called only on Linux, macOS and Windows, on
// amd64 and arm64.
func Load(string, map[string]any, map[string]any) error {
	return errors.New("not supported on this platform")
}
