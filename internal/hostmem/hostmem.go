// Package hostmem tells how much memory this process may use.
package hostmem

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Total returns the memory of the machine in bytes, or the least limit of the
// process's control groups (containers, batch jobs) if that is less; 0 if
// neither is known.
func Total() int64 { return least(memlimit.FromSystem, memlimit.FromCgroup) }

// least leaves out what is not known or not limited, which is an error.
func least(limits ...memlimit.Provider) int64 {
	total := uint64(math.MaxInt64)
	for _, limit := range limits {
		n, err := limit()
		if err == nil && n > 0 {
			total = min(total, n)
		}
	}
	if total == math.MaxInt64 {
		return 0
	}
	return int64(total)
}
