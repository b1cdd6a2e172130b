//go:build !linux

package atomicfile

import "errors"

func exchange(string, string) error { return errors.ErrUnsupported }
