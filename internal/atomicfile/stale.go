package atomicfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var tempPattern = regexp.MustCompile(`^\..*\.tmp-pipeline-[0-9a-z]+$`)

// longNameBytes keeps the temporary name of a long final name within the 255
// bytes that most file systems allow.
const longNameBytes = 200

func tempName(name string) string {
	name = strings.ToValidUTF8(name[:min(len(name), longNameBytes)], "_")
	return "." + name + ".tmp-pipeline-" + strconv.FormatUint(rand.Uint64(), 36)
}

// IsTemp says whether a base name is one of this package's temporary names.
func IsTemp(name string) bool { return tempPattern.MatchString(name) }

// RemoveStale removes from dir the temporary files and directories whose
// writers are gone, and returns how many. What is locked by a living writer
// stays. Where the system has no advisory locks, only what was last changed
// more than a day ago is removed.
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
		gone, err := removeAbandoned(filepath.Join(dir, e.Name()))
		if gone {
			removed++
		}
		errs = append(errs, err)
	}
	return removed, errors.Join(errs...)
}

func removeAbandoned(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if !abandoned(f) || !sameFile(f, path) {
		return false, nil
	}
	if err := os.RemoveAll(path); err != nil {
		return false, err
	}
	return true, nil
}

const dayOld = 24 * time.Hour

// untouched is the fallback where locks say nothing.
func untouched(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && time.Since(info.ModTime()) > dayOld
}
