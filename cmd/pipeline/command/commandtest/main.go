package commandtest

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

const (
	// ActAsPipeline makes the test binary the real command. Its name does not
	// have the prefix of settings, so the command ignores it.
	ActAsPipeline = "TEST_BINARY_IS_PIPELINE"
	// AsReleased makes it take the network of new models that the program has.
	AsReleased = "TEST_BINARY_AS_RELEASED"
	// small is the file of the network that it takes otherwise.
	small = "TEST_BINARY_NETWORK"
	// longForm, allStories and exportsDir are for the tests, not settings: the command
	// would refuse them, so Main removes them.
	longForm   = "PIPELINE_LONG"
	allStories = "PIPELINE_STORIES"
	exportsDir = "PIPELINE_EXPORTS"
)

// Wanted is what Main found in the environment.
var Wanted struct {
	Long    bool
	Stories int // classes
	Exports string
}

// Context returns a context in which new models use the small network, which is fast.
func Context(ctx context.Context) context.Context {
	if os.Getenv(AsReleased) != "" {
		return ctx
	}
	return command.WithNetwork(ctx, os.Getenv(small))
}

// common is what the tests of a package share, one after the other.
var common shared

type shared struct {
	dir     string            // removed by Main, "" for none
	trained map[string]string // folders of Bed.Trained, by its arguments
	demo    Demo              // of Bed.Demo, the zero value before its first use
	probes  map[string]bool   // of Bed.CachedRows
}

// folder returns the folder of what is shared.
func (s *shared) folder(l *Bed) string {
	if s.dir == "" {
		var err error
		if s.dir, err = os.MkdirTemp("", "pipeline-test"); err != nil {
			l.Fatal(err)
		}
	}
	return s.dir
}

// Main is the TestMain of packages that use a Bed.
func Main(m *testing.M) {
	if os.Getenv(ActAsPipeline) != "" {
		command.Main(Context(context.Background()))
	}
	root, err := testenv.FindModuleRoot()
	if err != nil {
		panic(err)
	}
	_ = os.Setenv(small, filepath.Join(root, "models", "default.onnx"))
	Wanted.Long = os.Getenv(longForm) != ""
	Wanted.Stories, _ = strconv.Atoi(os.Getenv(allStories))
	Wanted.Exports = os.Getenv(exportsDir)
	forgetSettings()
	debug.SetGCPercent(400) // a fifth of the time went into collecting what many commands left in one process
	code := m.Run()
	_ = os.RemoveAll(common.dir)
	os.Exit(code)
}

// forgetSettings removes the user's PIPELINE_… settings, which would change the
// results of tests.
func forgetSettings() {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "PIPELINE_") && name != "PIPELINE_SHARED" {
			_ = os.Unsetenv(name)
		}
	}
}
