//go:build !((linux || darwin) && (amd64 || arm64))

package openblas

import "errors"

func (b *BLAS) load() error { return errors.New("OpenBLAS is not used on this system") }
