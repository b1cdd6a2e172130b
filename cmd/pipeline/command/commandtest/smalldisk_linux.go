package commandtest

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// SmallDisk mounts a file system of the given size, and skips the test if that is
// not allowed.
func (l *Bed) SmallDisk(t *testing.T, name string, size int) string {
	t.Helper()
	dir := l.Path(name)
	must.Do(t, os.MkdirAll(dir, 0o755))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("no small disk here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}
