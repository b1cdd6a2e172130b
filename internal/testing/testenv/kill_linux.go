package testenv

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// KillAt runs a command and kills it just before its n-th change of the file system,
// when a file or folder gets a name or loses it, or a file is made durable. A command
// that makes fewer ends by itself, with an exit code. So a test can stop a command at
// every step, wherever it writes, and sees the same each time.
func KillAt(tb testing.TB, n int, cmd *exec.Cmd) (killed bool, exitCode int) {
	tb.Helper()
	var status unix.WaitStatus
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // a tracer is a thread; this one ends here, with its filter
		status, err = traced(cmd, n)
	}()
	<-done
	if err != nil {
		Missing(tb, "cannot trace a process: %v", err)
	}
	return status.Signaled(), status.ExitStatus()
}

// KillAtEveryStep runs the test that it is called from again, as a process that finds a
// folder in a variable of its environment: in folders that begin alike, killed one step
// later each time, and then to its end. The files must be those after a run that was not
// killed; killed sees a folder in between.
func KillAtEveryStep(tb testing.TB, variable string, begin func() (folder string),
	files func(folder string) map[string]string, killed func(step int, folder string)) {
	tb.Helper()
	run := func(folder string, step int) bool {
		cmd := exec.Command(os.Args[0], "-test.run=^"+tb.Name()+"$")
		cmd.Env = append(os.Environ(), variable+"="+folder)
		killed, code := KillAt(tb, step, cmd)
		if !killed && code != 0 {
			tb.Fatalf("exit code %d", code)
		}
		return killed
	}
	const never = 1 << 30
	whole := begin()
	run(whole, never)
	want := files(whole)
	for step := 1; ; step++ {
		folder := begin()
		if !run(folder, step) {
			tb.Logf("%d steps", step-1)
			return
		}
		killed(step, folder)
		run(folder, never)
		if got := files(folder); !maps.Equal(got, want) {
			tb.Errorf("killed before step %d, then: %q, want %q", step, got, want)
		}
	}
}

// traced runs a command and follows all its threads until it ends.
func traced(cmd *exec.Cmd, n int) (status unix.WaitStatus, err error) {
	if err := stopAtChanges(); err != nil {
		return status, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return status, err
	}
	if status, err = follow(cmd.Process.Pid, n); err != nil {
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait() // for its output; it has ended
	return status, err
}

func follow(pid, n int) (status unix.WaitStatus, err error) {
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return status, err
	}
	const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return status, err
	}
	for thread := pid; ; {
		if err := unix.PtraceCont(thread, resumed(status)); err != nil && !errors.Is(err, unix.ESRCH) {
			return status, err
		}
		if thread, err = unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil); err != nil {
			return status, err
		}
		if thread == pid && !status.Stopped() {
			return status, nil
		}
		if status.TrapCause() == unix.PTRACE_EVENT_SECCOMP {
			if n--; n == 0 {
				if err := unix.Kill(pid, unix.SIGKILL); err != nil {
					return status, err
				}
			}
		}
	}
}

// resumed returns the signal that a stopped thread goes on with: its own, unless it
// stopped for us.
func resumed(status unix.WaitStatus) int {
	signal := status.StopSignal()
	if status.Stopped() && signal != unix.SIGTRAP && signal != unix.SIGSTOP {
		return int(signal)
	}
	return 0
}

// stopAtChanges makes the kernel stop what this thread starts just before each change of the
// file system. Stopping at every system call would take ten times as long.
func stopAtChanges() error {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		give  = unix.BPF_RET | unix.BPF_K
	)
	filter := []unix.SockFilter{{Code: load}} // the number of the system call
	for _, number := range []uint32{
		unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_MKDIRAT,
		unix.SYS_FSYNC, unix.SYS_FTRUNCATE,
	} {
		filter = append(filter, unix.SockFilter{Code: equal, Jf: 1, K: number},
			unix.SockFilter{Code: give, K: unix.SECCOMP_RET_TRACE})
	}
	filter = append(filter, unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}
