//go:build (linux || darwin || windows) && (amd64 || arm64)

package sharedlib

import "github.com/ebitengine/purego"

// Load loads a library, which is never unloaded, and sets function variables, given by
// address, to its functions of these names. It fails if one of required is missing;
// variables of optional keep their value then.
func Load(path string, required, optional map[string]any) error {
	handle, err := open(path)
	if err != nil {
		return err
	}
	for name, target := range required {
		address, err := symbol(handle, name)
		if err != nil {
			return err
		}
		purego.RegisterFunc(target, address)
	}
	for name, target := range optional {
		if address, err := symbol(handle, name); err == nil {
			purego.RegisterFunc(target, address)
		}
	}
	return nil
}

// Callback returns the address of a function for a library to call. It is never freed.
func Callback(f any) uintptr { return purego.NewCallback(f) }
