package libraries

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// standIn puts a program into PATH: a script, which finds a package in $PACKAGE.
func standIn(t *testing.T, program, script string, pack []byte) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skipf("the stand-in for %s is a shell script", program)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, program), []byte("#!/bin/sh\n"+script))
	t.Setenv("PACKAGE", write(t, filepath.Join(dir, "package"), pack))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// pip returns a stand-in for pip; the script is of its command download.
func pip(t *testing.T, script string, pack []byte) Pip {
	t.Helper()
	standIn(t, "pip3", `[ "$1" != --version ] || exit 0`+"\n"+script, pack)
	return must.Get(FindPip())(t)
}

// TestPip: pip is asked for the wheel of the platform that is wanted, whatever Python it has.
func TestPip(t *testing.T) {
	const fetch = `case "$*" in
	"download thing==1.2.3 --no-deps --only-binary=:all: --no-cache-dir --quiet --no-input --disable-pip-version-check ` +
		`--implementation=cp --python-version=312 --abi=cp312 --platform=manylinux_2_28_x86_64") cp "$PACKAGE" ` +
		wheelHere + `;;
	*) exit 9;;
esac`
	good := wheel(t, whole()...)
	for name, c := range map[string]struct {
		script string
		bytes  []byte
		words  []string
	}{
		"fetched": {fetch, good, nil},
		"refused": {"echo no such index >&2; exit 1", nil,
			[]string{"pip could not fetch thing==1.2.3", "no such index", "index and proxy"}},
		"tampered": {fetch, wheel(t, "thing/libthing.so.1", damaged), []string{"damaged"}},
		"cut":      {fetch, good[:50], []string{"ends too early"}},
		"nothing":  {"exit 0", nil, []string{wheelHere, "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			client, want := pip(t, c.script, c.bytes), target(t)
			var found []Target
			err := client.Obtain(t.Context(), want, nil)
			if err == nil {
				found = []Target{want}
			}
			expect(t, want, found, err, c.words...)
		})
	}
}

// TestFindPip: a Python without pip, as Debian's, is passed over.
func TestFindPip(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := FindPip(); !errors.Is(err, ErrNoPip) {
		t.Errorf("without Python: %v", err)
	}
	standIn(t, "python3", "exit 1", nil)
	if _, err := FindPip(); !errors.Is(err, ErrNoPip) {
		t.Errorf("without pip: %v", err)
	}
	standIn(t, "python", `[ "$*" = "-m pip --version" ]`, nil)
	command, err := FindPip()
	if err != nil || filepath.Base(command[0]) != "python" || !slices.Equal(command[1:], []string{"-m", "pip"}) {
		t.Errorf("%q, %v", command, err)
	}
}

// TestPlatformTags: every pinned wheel is asked for by its tags.
func TestPlatformTags(t *testing.T) {
	for _, l := range append(Pictures(), ONNXRuntime()) {
		for platform, a := range l.archives {
			if tags := platformTags(a.File.Name); len(tags) != 4 {
				t.Errorf("%s for %s: %q", l.Name, platform, tags)
			}
		}
	}
	got := platformTags("pyvips_binary-8.18.7-cp37-abi3-win_arm64.whl")
	want := []string{"--implementation=cp", "--python-version=37", "--abi=abi3", "--platform=win_arm64"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestPipCancelled: pip is told to end, and its folder is removed.
func TestPipCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(t.TempDir(), "started")
	client := pip(t, `trap 'exit 130' INT; mkfifo fifo; : >"$STARTED"; read x <fifo`, nil)
	t.Setenv("STARTED", started)
	want, ended := target(t), make(chan error)
	go func() { ended <- client.Obtain(ctx, want, nil) }()
	for !exists(started) {
		runtime.Gosched()
	}
	cancel()
	expect(t, want, nil, <-ended, "cancel")
}

// TestProgress: what pip has stored so far is told while it works, wherever it keeps its
// temporary files.
func TestProgress(t *testing.T) {
	good := wheel(t, whole()...)
	client := pip(t, `mkfifo "$FIFO"; printf 1234567 >"$TMPDIR/part"; read x <"$FIFO"; cp "$PACKAGE" `+wheelHere, good)
	fifo := filepath.Join(t.TempDir(), "fifo")
	t.Setenv("FIFO", fifo)
	t.Chdir(t.TempDir())
	want := target(t)
	want.Dir, want.Archive.Bytes = "stick", int64(len(good))
	goOn := sync.OnceFunc(func() { _ = os.WriteFile(fifo, []byte("\n"), 0) })
	told := 0
	err := client.Obtain(t.Context(), want, func(done, total int64) {
		if told++; told == 1 && done != 0 || total != want.Archive.Bytes {
			t.Errorf("%d of %d", done, total)
		}
		if done == 7 {
			goOn()
		}
	})
	expect(t, want, []Target{want}, err)
}
