//go:build !((linux || darwin) && (amd64 || arm64))

package turbojpeg

import "errors"

func (d *Decoder) load() error { return errors.New("not supported on this platform") }
