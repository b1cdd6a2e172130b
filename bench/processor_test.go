//go:build unix

package bench_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// processorTime returns the time that this process has spent on all cores, in user
// and kernel mode. Other load on the machine affects it less than a clock.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkGPTreeFitProcessor is BenchmarkGPTreeFit in processor time; one thread on
// both sides (OMP_NUM_THREADS=1, GOMAXPROCS=1) keeps it free of waiting threads.
func BenchmarkGPTreeFitProcessor(b *testing.B) {
	fitAgainstOfficial(b, func() time.Duration { return processorTime(b) }, "processor")
}
