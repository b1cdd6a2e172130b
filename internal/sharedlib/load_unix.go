//go:build (linux || darwin) && (amd64 || arm64)

package sharedlib

import "github.com/ebitengine/purego"

// Load loads a library, which is never unloaded, and sets function variables, given by
// address, to its functions of these names. It fails if one of required is missing;
// variables of optional keep their value then.
func Load(path string, required, optional map[string]any) error {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return err
	}
	for name, target := range required {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return err
		}
		purego.RegisterFunc(target, address)
	}
	for name, target := range optional {
		if address, err := purego.Dlsym(handle, name); err == nil {
			purego.RegisterFunc(target, address)
		}
	}
	return nil
}
