//go:build !unix

package atomicfile

import "os"

func lock(*os.File) {}

func movable(string) error { return nil }

func abandoned(f *os.File) bool {
	old := untouched(f)
	f.Close() // an open file cannot be removed here
	return old
}

func cannotSync(error) bool { return true }
