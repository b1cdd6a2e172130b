package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody runs f without the rights of root.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	runtime.LockOSThread() // the rights are those of a thread
	defer runtime.UnlockOSThread()
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, 0); e != 0 {
		t.Skip(e)
	}
	defer unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0)
	f()
}

// TestUnreadableFolder: before anything is exchanged Commit says which folder its
// content could not be moved from.
func TestUnreadableFolder(t *testing.T) {
	base := t.TempDir()
	for dir := base; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []fs.FileMode{0, 0o500, 0o300} {
		asNobody(t, func() {
			dir := filepath.Join(base, mode.String())
			path := filepath.Join(dir, "feat")
			fill(t, path, map[string]string{"ours": "1", "private/mine": "1"})
			d, err := CreateDir(path, named("ours"))
			if err != nil {
				t.Fatal(err)
			}
			fill(t, d.Path(), map[string]string{"ours": "2"})
			private := filepath.Join(path, "private")
			if err := os.Chmod(private, mode); err != nil {
				t.Fatal(err)
			}
			err = d.Commit()
			d.Abort()
			if err == nil || !strings.Contains(err.Error(), private+": permission denied") {
				t.Errorf("%v: %v", mode, err)
			}
			if err := os.Chmod(private, 0o755); err != nil {
				t.Fatal(err)
			}
			wantFiles(t, dir, map[string]string{"feat/ours": "1", "feat/private/mine": "1"})
		})
	}
}
