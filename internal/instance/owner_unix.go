//go:build unix

package instance

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// own returns ErrForeign unless a file is this user's, and nobody else can read it.
func own(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	const others = 0o077
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&others != 0 {
		return ErrForeign
	}
	return nil
}

// owner returns the name of another user whose file it is, "" if nobody knows.
func owner(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return ""
	}
	id := strconv.FormatUint(uint64(stat.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}
