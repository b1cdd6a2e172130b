package dense

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Parallel calls do(0) to do(tasks−1), each once, on all cores. The division into
// tasks must not depend on the number of cores, so that results do not either.
func Parallel(tasks int, do func(task int)) {
	workers := min(tasks, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range tasks {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < tasks; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// ParallelErr is Parallel for tasks that can fail. It runs all tasks and returns
// the error of the failed task with the lowest number.
func ParallelErr(tasks int, do func(task int) error) error {
	errs := make([]error, tasks)
	Parallel(tasks, func(i int) { errs[i] = do(i) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
