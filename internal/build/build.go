// Package build says from what the program was built.
package build

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// revision is set by release builds with -ldflags "-X …/internal/build.revision=…".
var revision string

// Commit returns the revision of the source, with "+changes" if the source had others; "" if the build
// does not say.
var Commit = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if revision != "" || !ok {
		return revision
	}
	return commit(info.Settings)
})

func commit(settings []debug.BuildSetting) string {
	revision, changes := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changes
}

// Go returns the version of Go.
func Go() string { return runtime.Version() }

// System returns the system and the kind of processor, such as linux/amd64.
func System() string { return runtime.GOOS + "/" + runtime.GOARCH }
