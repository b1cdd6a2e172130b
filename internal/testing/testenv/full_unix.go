//go:build unix

package testenv

import (
	"os/signal"
	"syscall"
	"testing"
)

// FullDisk makes writes beyond a file size fail, as on a full disk, until end is
// called.
func FullDisk(tb testing.TB, size uint64) (end func()) {
	tb.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		tb.Fatal(err)
	}
	set := func(l syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			tb.Fatal(err)
		}
	}
	set(syscall.Rlimit{Cur: size, Max: before.Max})
	return func() {
		set(before)
		signal.Reset(syscall.SIGXFSZ)
	}
}
