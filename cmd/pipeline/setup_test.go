package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testenv"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

// TestSetup: an empty home is set up from a folder, and the program then uses what was
// installed; npm is not asked for what is there.
func TestSetup(t *testing.T) {
	from := testenv.Libraries(t)
	l := newTestbed(t)
	npm := l.path("bin", "npm")
	l.write(npm, []byte("#!/bin/sh\necho asked >&2\nexit 1\n"))
	if err := os.Chmod(npm, 0o755); err != nil {
		t.Fatal(err)
	}
	// Another process: this one has loaded ONNX Runtime from elsewhere.
	setup := func(code int, args ...string) (states, stderr string) {
		t.Helper()
		cmd, errors := l.process(l.path("cache"), append([]string{"setup", "--json"}, args...)...)
		cmd.Env = append(cmd.Env, ort.EnvLibrary+"=", turbojpeg.EnvLibrary+"=", "HOME="+l.path("home"), "PATH="+filepath.Dir(npm)+":"+os.Getenv("PATH"))
		out, _ := cmd.Output()
		var result struct {
			Libraries []struct{ State, File string }
		}
		if err := json.Unmarshal(out, &result); err != nil || len(result.Libraries) != 2 || cmd.ProcessState.ExitCode() != code {
			t.Fatalf("setup %q: %v, exit code %d: %s%s", args, err, cmd.ProcessState.ExitCode(), out, errors)
		}
		for _, library := range result.Libraries {
			if library.State != libraryMissing && !strings.HasPrefix(library.File, l.path("user-cache")) {
				t.Errorf("setup %q: uses %s", args, library.File)
			}
			states += library.State + " "
		}
		return states, errors.String()
	}
	if states, stderr := setup(exitFailed); !strings.HasPrefix(states, libraryMissing) || !strings.Contains(stderr, "npm could not fetch onnxruntime-node@") || !strings.Contains(stderr, "asked") {
		t.Errorf("npm fails: %s, %s", states, stderr)
	}
	if states, stderr := setup(exitDone, "--from", l.path("none"), "--from", from); states != "installed installed " {
		t.Errorf("first: %s, %s", states, stderr)
	}
	for _, args := range [][]string{nil, {"--from", from}} {
		if states, stderr := setup(exitDone, args...); states != "found found " || stderr != "" {
			t.Errorf("again, %q: %s, %s", args, states, stderr)
		}
	}
}

// TestSetupElsewhere: libraries for another machine go into a folder.
func TestSetupElsewhere(t *testing.T) {
	from := testenv.Libraries(t)
	l := newTestbed(t)
	l.must("setup", "--from", from, "--into", l.path("stick"))
	if r := l.must("setup", "--from", from, "--into", l.path("stick")); strings.Count(r.stdout, "(found)") != 2 {
		t.Error(r.stdout)
	}
	l.refused(exitFailed, []string{"ONNX Runtime", "another platform (" + libraries.Platform() + ")"}, "setup", "--from", from, "--into", l.path("other"), "--platform", "darwin/arm64")
	l.refused(exitUsage, []string{"--into"}, "setup", "--platform", "darwin/arm64")
	l.refused(exitUsage, []string{"plan9/amd64", "linux/amd64"}, "setup", "--platform", "plan9/amd64", "--into", l.path("other"))
}

// TestSetupWithoutNPM: three lines say what to do.
func TestSetupWithoutNPM(t *testing.T) {
	l := newTestbed(t)
	t.Setenv("PATH", l.path("empty"))
	r := l.expect(exitFailed, "setup", "--into", l.path("stick"))
	if lines := strings.Split(strings.TrimSpace(r.stderr), "\n"); len(lines) != 4 || !strings.Contains(lines[2], "npm pack onnxruntime-node@") || !strings.Contains(lines[3], "archive") {
		t.Errorf("%q", lines)
	}
}
