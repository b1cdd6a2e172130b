package testenv

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
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
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		Missing(tb, "cannot trace a process: %v", err)
	}
	status, err := traced(cmd.Process.Pid, n)
	if err != nil {
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait() // for its output; it has ended
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

// traced follows all threads of a stopped process until it ends.
func traced(pid, n int) (status unix.WaitStatus, err error) {
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return status, err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return status, err
	}
	for thread := pid; ; {
		if err := unix.PtraceSyscall(thread, resumed(status)); err != nil && !errors.Is(err, unix.ESRCH) {
			return status, err
		}
		if thread, err = unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil); err != nil {
			return status, err
		}
		if thread == pid && !status.Stopped() {
			return status, nil
		}
		if changes(thread, status) {
			if n--; n == 0 {
				if err := unix.Kill(pid, unix.SIGKILL); err != nil {
					return status, err
				}
			}
		}
	}
}

const systemCall = unix.SIGTRAP | 0x80 // by PTRACE_O_TRACESYSGOOD

// resumed returns the signal that a stopped thread goes on with: its own, unless it
// stopped for us.
func resumed(status unix.WaitStatus) int {
	if !status.Stopped() {
		return 0
	}
	switch signal := status.StopSignal(); signal {
	case unix.SIGTRAP, unix.SIGSTOP, systemCall:
		return 0
	default:
		return int(signal)
	}
}

// changes reports whether a thread is about to change the file system.
func changes(thread int, status unix.WaitStatus) bool {
	if !status.Stopped() || status.StopSignal() != systemCall {
		return false
	}
	const getInfo, entry = 0x420e, 1 // PTRACE_GET_SYSCALL_INFO, PTRACE_SYSCALL_INFO_ENTRY
	var info struct {
		op          uint8
		arch        uint32
		at, stack   uint64
		number      uint64
		args, spare [6]uint64
	}
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, getInfo, uintptr(thread), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	return e == 0 && info.op == entry && slices.Contains([]uint64{
		unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_MKDIRAT,
		unix.SYS_FSYNC, unix.SYS_FTRUNCATE,
	}, info.number)
}
