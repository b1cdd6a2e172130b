package ort

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	onnxruntime "github.com/yalue/onnxruntime_go"

	"github.com/seed-90d10d51/pipeline/internal/hostmem"
)

// A Runtime is the loaded library with its environment. It is safe for
// concurrent use and lives for the life of the process.
type Runtime struct {
	library Library
	until   context.Context // ends the runs of sessions; nil for those that nothing ends
	longest time.Duration   // that a run may take, if until is set
}

// longestRun is more than the largest networks take for some photos on a busy machine.
const longestRun = 10 * time.Minute

// Until returns the library for networks that are not trusted to come to an end: the sessions
// that it makes stop before their next operator when ctx is done, and fail after ten minutes in one run;
// opening a file may take as long. Without a ctx (nil) nothing ends them.
func (rt *Runtime) Until(ctx context.Context) *Runtime {
	return &Runtime{library: rt.library, until: ctx, longest: longestRun}
}

// process holds the only Runtime: ONNX Runtime and its binding are process-wide
// (see the package comment).
var process struct {
	sync.Mutex
	runtime *Runtime
}

// Open loads the library, which takes about 30 ms the first time. A second call
// with the same file returns the same Runtime; another file is an error.
func Open(lib Library) (*Runtime, error) {
	process.Lock()
	defer process.Unlock()
	if rt := process.runtime; rt != nil {
		if sameFile(rt.library.Path, lib.Path) {
			return rt, nil
		}
		return nil, fmt.Errorf("ONNX Runtime library %s: this process already uses %s, and there can be only one",
			lib.Path, rt.library.Path)
	}
	rt, err := load(lib)
	if err != nil {
		return nil, err
	}
	process.runtime = rt
	return rt, nil
}

// sameFile follows links, since a library usually has several names.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// load checks the file again before loading it: a Library need not come from
// Locate, and the file may have changed since.
func load(lib Library) (*Runtime, error) {
	path, err := filepath.Abs(lib.Path)
	if err != nil {
		return nil, fmt.Errorf("ONNX Runtime library %s: %w", lib.Path, err)
	}
	if _, err := inspect(path); err != nil {
		return nil, fmt.Errorf("ONNX Runtime library %s: %w", path, err)
	}
	if err := forbidTelemetry(); err != nil {
		return nil, fmt.Errorf("ONNX Runtime library %s: %w", path, err)
	}
	onnxruntime.SetSharedLibraryPath(path)
	// Failures come back as errors; the library's own log would only repeat
	// them on stderr, together with warnings about processors and devices.
	err = quietly(func() error {
		return onnxruntime.InitializeEnvironment(onnxruntime.WithLogLevelFatal())
	})
	if err != nil {
		return nil, fmt.Errorf("ONNX Runtime library %s cannot be loaded: %w; %s", path, err, Remedy)
	}
	if err := boundMemory(networkMemory()); err != nil {
		return nil, fmt.Errorf("ONNX Runtime library %s: the memory of networks: %w", path, err)
	}
	lib.Path, lib.Version = path, onnxruntime.GetVersion()
	return &Runtime{library: lib}, nil
}

// networkMemory is what networks may take for their weights and values, in bytes: three
// quarters of the machine's memory, since a system that has promised more ends the process without a word;
// 0 (no bound) where that is not known.
func networkMemory() int64 { return hostmem.Total() / 4 * 3 }

// boundMemory gives all sessions one pool of memory that grows up to a number of bytes.
func boundMemory(bytes int64) error {
	pool, err := onnxruntime.NewArenaCfg(int(bytes), -1, -1, -1)
	if err != nil {
		return err
	}
	defer pool.Destroy()
	info, err := onnxruntime.GetMemoryInfo()
	if err != nil {
		return err
	}
	return onnxruntime.CreateAndRegisterAllocator(info, pool)
}

// forbidTelemetry must run before loading: as soon as they start, the official
// builds since 1.29 write a device id and a database into the user's cache
// folder and send reports, which include names of models. The library's own
// switch is only available later.
func forbidTelemetry() error {
	if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
		return fmt.Errorf("switching its telemetry off: %w", err)
	}
	return nil
}

// Library returns the loaded library; its Version is the one reported by the
// library itself.
func (rt *Runtime) Library() Library { return rt.library }

// Version returns the library's release, such as "1.30.0".
func (rt *Runtime) Version() string { return rt.library.Version }

// MajorMinor returns the part of the version that fingerprints use: results
// differ in their last bits between minor releases.
func (rt *Runtime) MajorMinor() string {
	major, minor, err := majorMinor(rt.library.Version)
	if err != nil {
		return rt.library.Version
	}
	return fmt.Sprintf("%d.%d", major, minor)
}
