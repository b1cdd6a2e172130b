package testenv

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// AsNobody runs f without the rights of root, which reads what nobody else may. The
// rights are those of a thread, so f must do its work itself. dir is the test's temporary
// folder, which is made reachable.
func AsNobody(tb testing.TB, dir string, f func()) {
	tb.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	for ; len(dir) > len(filepath.Clean(os.TempDir())); dir = filepath.Dir(dir) {
		must.Do(tb, os.Chmod(dir, 0o777))
	}
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, 0); e != 0 {
		tb.Skip(e)
	}
	defer unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0)
	f()
}
