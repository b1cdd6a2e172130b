//go:build !((linux || darwin) && (amd64 || arm64))

package heif

import "errors"

func (l *Library) load() error { return errors.New("not supported on this platform") }
