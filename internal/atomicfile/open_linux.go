package atomicfile

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mustBeClosed panics, in tests, if this process has something open that is about to
// lose its name, so that the tests on Linux find what only Windows refuses. Exempt are
// the locks of this package, which Windows does without.
func mustBeClosed(names ...string) {
	if flag.Lookup("test.v") == nil { // only tests have it, and the program does not import their package
		return
	}
	handles, _ := os.ReadDir("/proc/self/fd") // without /proc nothing is checked
	for _, name := range names {
		changed, err := os.Lstat(name)
		if err != nil {
			continue
		}
		name = resolved(name)
		for _, h := range handles {
			open, err := os.Readlink("/proc/self/fd/" + h.Name())
			if err != nil {
				continue // the handle of ReadDir
			}
			itself := isOf(h.Name(), changed) && !locked(h.Name()) && isOf(h.Name(), changed) // still
			within := strings.HasPrefix(open, name+"/") && !strings.HasSuffix(open, " (deleted)")
			if itself || within {
				panic(fmt.Sprintf("%s is renamed, replaced or removed while %s is open: Windows would refuse that",
					name, open))
			}
		}
	}
}

// isOf reports whether a handle is one of a file.
func isOf(handle string, file os.FileInfo) bool {
	info, err := os.Stat("/proc/self/fd/" + handle)
	return err == nil && os.SameFile(info, file)
}

// resolved returns the name under which the system lists a file that is open.
func resolved(name string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return name
	}
	return filepath.Join(dir, filepath.Base(name))
}

// locked reports whether a handle is a lock of this package. Other packages lock files
// of their own for that.
func locked(handle string) bool {
	name, _ := os.Readlink("/proc/self/fd/" + handle)
	info, err := os.ReadFile("/proc/self/fdinfo/" + handle)
	return err == nil && strings.Contains(string(info), "FLOCK") && filepath.Ext(name) != ".lock"
}
