package regularfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestFileOfAnotherProgram: what a program has for itself is waited for, and said.
func TestFileOfAnotherProgram(t *testing.T) {
	dir, err := os.MkdirTemp("", "held") // t.TempDir cannot be removed under Wine
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "file")
	defer func() { _ = errors.Join(os.Remove(path), os.Remove(dir)) }()
	must.Do(t, os.WriteFile(path, []byte("x"), 0o644))
	name := must.Get(windows.UTF16PtrFromString(path))(t)
	held := must.Get(windows.CreateFile(name, windows.GENERIC_READ, 0, nil, windows.OPEN_EXISTING, 0, 0))(t)
	if _, _, err := Open(path); !errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		!strings.Contains(err.Error(), path+": another program has it open") {
		t.Errorf("a file that is held: %v", err)
	}
	tries := 0
	err = Patiently(func() error {
		if tries++; tries == 3 {
			_ = windows.CloseHandle(held)
		}
		f, err := os.Open(path)
		if err == nil {
			err = f.Close()
		}
		return err
	}, windows.ERROR_SHARING_VIOLATION)
	if err != nil || tries != 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	tries = 0
	err = Patiently(func() error {
		tries++
		return windows.ERROR_FILE_NOT_FOUND
	}, windows.ERROR_SHARING_VIOLATION)
	if !errors.Is(err, windows.ERROR_FILE_NOT_FOUND) || tries != 1 {
		t.Errorf("a missing file after %d tries: %v", tries, err)
	}
}
