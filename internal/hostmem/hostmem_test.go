package hostmem

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestTotal(t *testing.T) {
	const machine = "MemTotal:       16000000 kB\nMemFree:         9000000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no files": {nil, 0},
		"machine":  {map[string]string{"proc/meminfo": machine}, 16000000 << 10},
		"version 2": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/job/task\n",
			"sys/fs/cgroup/job/task/memory.max": "max\n", "sys/fs/cgroup/job/memory.max": "2147483648\n",
		}, 2 << 30},
		"version 2 in a container": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/host/path\n", "sys/fs/cgroup/memory.max": "1073741824\n",
		}, 1 << 30},
		"version 2 without limit": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 16000000 << 10},
		"version 1": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "12:cpu,cpuacct:/a\n5:memory:/a/b\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "536870912\n",
		}, 512 << 20},
		"version 1 without limit": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "5:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 16000000 << 10},
		"damaged": {map[string]string{"proc/meminfo": "MemTotal: many kB\n", "proc/self/cgroup": "0:\n:::\n"}, 0},
	} {
		root := t.TempDir()
		for file, content := range c.files {
			file = filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := total(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestThisMachine(t *testing.T) {
	if got := Total(); runtime.GOOS == "linux" && got < 1<<20 {
		t.Errorf("%d bytes", got)
	}
}
