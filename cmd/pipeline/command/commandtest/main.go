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
	return command.WithNetwork(ctx, Network())
}

// common is what the tests of a package share, one after the other.
var common shared

type shared struct {
	dir     string            // removed by Main
	trained map[string]string // folders of Bed.Trained, by network and arguments
	demo    Demo              // of Bed.Demo, the zero value before its first use
	probes  map[string]bool   // of Bed.CachedRows
}

// Main is the TestMain of packages that use a Bed. New models use a drawn network, which takes no time.
func Main(m *testing.M) {
	main(m, func(dir string) (string, error) {
		file := filepath.Join(dir, "drawn.onnx")
		data, err := network()
		if err == nil {
			err = os.WriteFile(file, data, 0o644)
		}
		return file, err
	})
}

// MainTrained is Main with a network that was trained, for packages whose tests expect so much of its answers.
func MainTrained(m *testing.M) {
	main(m, func(string) (string, error) {
		root, err := testenv.FindModuleRoot()
		return filepath.Join(root, "models", "default.onnx"), err
	})
}

func main(m *testing.M, network func(dir string) (file string, err error)) {
	if os.Getenv(ActAsPipeline) != "" {
		command.Main(Context(context.Background()))
	}
	dir, err := os.MkdirTemp("", "pipeline-test")
	if err != nil {
		panic(err)
	}
	common.dir = dir
	file, err := network(dir)
	if err != nil {
		panic(err)
	}
	_ = os.Setenv(small, file)
	Wanted.Long = os.Getenv(longForm) != ""
	Wanted.Stories, _ = strconv.Atoi(os.Getenv(allStories))
	Wanted.Exports = os.Getenv(exportsDir)
	forgetSettings()
	debug.SetGCPercent(400) // a fifth of the time went into collecting what many commands left in one process
	code := m.Run()
	_ = os.RemoveAll(dir)
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
