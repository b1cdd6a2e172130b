//go:build unix

package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestWhatStandsInPlaceOfAFile: a pipe, a device, a folder or a link where the cache had a
// file or a folder is not waited for, not followed and left as it is, and what is embedded
// then is kept.
func TestWhatStandsInPlaceOfAFile(t *testing.T) {
	const precious = "somebody's letter"
	letter := filepath.Join(t.TempDir(), "letter")
	for what, put := range map[string]func(place string) error{
		"pipe":   func(place string) error { return syscall.Mkfifo(place, 0o600) },
		"folder": func(place string) error { return os.Mkdir(place, 0o700) },
		"link":   func(place string) error { return os.Symlink(letter, place) },
		"device": func(place string) error { return os.Symlink("/dev/zero", place) },
		"loop":   func(place string) error { return os.Symlink(filepath.Base(place), place) },
	} {
		origin := t.TempDir()
		remember(t, origin, 0, 3)
		for _, file := range filesIn(t, origin) {
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(origin)))
			must.Do(t, os.WriteFile(letter, []byte(precious), 0o600))
			place := filepath.Join(dir, file)
			must.Do(t, os.Remove(place))
			must.Do(t, put(place))
			said := inTime(t, what+" at "+file, func() string { return remember(t, dir, 0, 4) })
			if !strings.Contains(said, filepath.Base(file)) {
				t.Errorf("a %s at %s is not named: %q", what, file, said)
			}
			if text, err := os.ReadFile(letter); err != nil || !bytes.Equal(text, []byte(precious)) {
				t.Errorf("a %s at %s: the letter is %q, %v", what, file, text, err)
			}
			inTime(t, what+" at "+file+", again", func() string { return recall(t, dir, 4) })
		}
	}
}

// inTime fails the test if do waits for something.
func inTime(t *testing.T, what string, do func() string) string {
	t.Helper()
	done := make(chan string, 1)
	go func() { done <- do() }()
	select {
	case said := <-done:
		return said
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: it waits", what)
		return ""
	}
}
