package hostmem

import (
	"runtime"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestLeast(t *testing.T) {
	unknown := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	for name, c := range map[string]struct {
		machine, group memlimit.Provider
		want           int64
	}{
		"nothing known":        {unknown, unknown, 0},
		"no group":             {memlimit.Limit(16 << 30), unknown, 16 << 30},
		"a container":          {memlimit.Limit(16 << 30), memlimit.Limit(1 << 30), 1 << 30},
		"a limit never met":    {memlimit.Limit(16 << 30), memlimit.Limit(1 << 50), 16 << 30},
		"a limit of all there": {unknown, memlimit.Limit(1<<64 - 1), 0},
		"zero":                 {memlimit.Limit(0), memlimit.Limit(1 << 30), 1 << 30},
	} {
		if got := least(c.machine, c.group); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestThisMachine(t *testing.T) {
	known := runtime.GOOS == "linux" || runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	if got := Total(); known && got < 1<<20 {
		t.Errorf("%d bytes", got)
	}
}
