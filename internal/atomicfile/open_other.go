//go:build !linux

package atomicfile

func mustBeClosed(...string) {}
