//go:build (linux || darwin) && (amd64 || arm64)

package turbojpeg

import "github.com/ebitengine/purego"

// load resolves the functions. The library is never unloaded.
func (d *Decoder) load() error {
	handle, err := purego.Dlopen(d.path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return err
	}
	for name, target := range map[string]any{"tjInitDecompress": &d.open, "tjDestroy": &d.destroy, decompress: &d.decode} {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return err
		}
		purego.RegisterFunc(target, address)
	}
	if address, err := purego.Dlsym(handle, "tj3Set"); err == nil {
		purego.RegisterFunc(&d.set, address)
	}
	return nil
}
