package atomicfile

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var tempPattern = regexp.MustCompile(`^\..*\.tmp-pipeline-[0-9a-z]+$`)

// longNameBytes bounds the final name's part of a temporary name, so that the
// whole fits into the 255 bytes that most file systems allow.
const longNameBytes = 200

func tempName(name string) string {
	name = strings.ToValidUTF8(name[:min(len(name), longNameBytes)], "_")
	return "." + name + ".tmp-pipeline-" + strconv.FormatUint(rand.Uint64(), 36)
}

// IsTemp reports whether a base name is one of this package's temporary names.
func IsTemp(name string) bool { return tempPattern.MatchString(name) }

// RemoveStale removes from dir the temporary files and directories whose
// writers are gone, and returns how many. Those locked by a running writer
// stay. On file systems without advisory locks it removes only those last changed
// more than a day ago, on Windows those that nothing has open.
func RemoveStale(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	removed := 0
	var errs []error
	for _, e := range entries {
		if !IsTemp(e.Name()) || !(e.Type().IsRegular() || e.IsDir()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		gone, err := ifAbandoned(path, func() error { return RemoveAll(path) })
		if gone {
			removed++
		}
		errs = append(errs, err)
	}
	return removed, errors.Join(errs...)
}
