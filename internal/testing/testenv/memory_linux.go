package testenv

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// MemoryDir is tb.TempDir for tests of very many steps, each of which would wait for a disk: where the
// system has a file system in memory, with room to spare, the folder is there.
func MemoryDir(tb testing.TB) string {
	tb.Helper()
	const shared, room = "/dev/shm", 256 << 20
	var fs unix.Statfs_t
	if unix.Statfs(shared, &fs) != nil || fs.Type != unix.TMPFS_MAGIC || fs.Bavail*uint64(fs.Bsize) < room {
		return tb.TempDir()
	}
	dir, err := os.MkdirTemp(shared, "pipeline-test")
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() {
		if err := atomicfile.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	return dir
}
