//go:build unix

package atomicfile

import "os"

func patiently(change func() error) error { return change() }

func removeAll(name string) error { return os.RemoveAll(name) }
