// Package hostmem tells how much memory this process may use.
package hostmem

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Total returns the memory of the machine in bytes, or the least limit of the
// process's control groups (containers, batch jobs) if that is less; 0 if
// neither is known, as on other systems than Linux.
func Total() int64 { return total("/") }

// total is Total for the files below root.
func total(root string) int64 {
	least := int64(math.MaxInt64)
	for _, n := range append(groups(root), machine(root)) {
		if n > 0 {
			least = min(least, n)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// machine returns MemTotal of /proc/meminfo.
func machine(root string) int64 {
	for line := range strings.Lines(read(root, "proc/meminfo")) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
			return 1024 * number(f[1])
		}
	}
	return 0
}

// groups returns the limits of the process's control group and of those above
// it, in version 2 ("0::/path") and version 1 ("5:memory:/path"). Inside a
// container the path may be the host's, which does not exist there; the
// container's own limit is then at the root.
func groups(root string) (limits []int64) {
	for line := range strings.Lines(read(root, "proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if f[0] != "0" || f[1] != "" {
			if !strings.Contains(","+f[1]+",", ",memory,") {
				continue
			}
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for group := path.Clean("/" + f[2]); ; group = path.Dir(group) {
			limits = append(limits, number(strings.TrimSpace(read(root, mount, group, file))))
			if group == "/" {
				break
			}
		}
	}
	return limits
}

// number returns 0 for anything else, such as "max".
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// read returns "" if the file cannot be read.
func read(elem ...string) string {
	b, _ := os.ReadFile(filepath.Join(elem...))
	return string(b)
}
