//go:build unix

package testenv

import (
	"os/signal"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// FullDisk makes writes beyond a file size fail, as on a full disk, until end is
// called.
func FullDisk(tb testing.TB, size uint64) (end func()) {
	tb.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	must.Do(tb, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	set := func(l syscall.Rlimit) {
		must.Do(tb, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l))
	}
	set(syscall.Rlimit{Cur: size, Max: before.Max})
	return func() {
		set(before)
		signal.Reset(syscall.SIGXFSZ)
	}
}
