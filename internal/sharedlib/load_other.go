//go:build !((linux || darwin || windows) && (amd64 || arm64))

package sharedlib

import "errors"

var errPlatform = errors.New("not supported on this platform")

// Load fails: functions of a library can be called only on Linux, macOS and Windows, on
// amd64 and arm64.
func Load(string, map[string]any, map[string]any) error {
	return errPlatform
}

func open(string) (uintptr, error) { return 0, errPlatform }

func symbol(uintptr, string) (uintptr, error) { return 0, errPlatform }

// Callback returns no address: there is no library that would call it.
func Callback(any) uintptr { return 0 }
