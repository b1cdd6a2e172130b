//go:build !unix

package atomicfile

import "os"

func lock(*os.File) {}

func abandoned(f *os.File) bool {
	old := untouched(f)
	f.Close() // an open file cannot be removed here
	return old
}

func cannotSync(error) bool { return true }
