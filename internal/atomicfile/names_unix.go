//go:build unix

package atomicfile

func patiently(change func() error) error { return change() }
