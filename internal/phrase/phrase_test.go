package phrase

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func flag(setting string) string { return "--" + setting }

// TestText: an error names settings as the request does, or as somebody else calls them, wherever it
// is wrapped; what people chose stays as it is.
func TestText(t *testing.T) {
	one := New("{class-from} %s needs {images}: %w", "{images}--x%d", fs.ErrNotExist)
	for _, each := range []struct {
		err          error
		plain, flags string
	}{
		{one, "class-from {images}--x%d needs images: file does not exist",
			"--class-from {images}--x%d needs --images: file does not exist"},
		{fmt.Errorf("read: %w", New("%w, or leave out {list}", one)),
			"read: class-from {images}--x%d needs images: file does not exist, or leave out list",
			"read: --class-from {images}--x%d needs --images: file does not exist, or leave out --list"},
		{errors.Join(fs.ErrClosed, fmt.Errorf("%w; %w", New("no {out}"), New("no {list}"))),
			"file already closed\nno out; no list", "file already closed\nno --out; no --list"},
		{fs.ErrExist, "file already exists", "file already exists"},
	} {
		if got := each.err.Error(); got != each.plain {
			t.Errorf("%q, want %q", got, each.plain)
		}
		if got := Text(each.err, flag); got != each.flags {
			t.Errorf("%q, want %q", got, each.flags)
		}
	}
	if !errors.Is(one, fs.ErrNotExist) || !errors.Is(New("%w and %w", fs.ErrClosed, fs.ErrExist), fs.ErrExist) {
		t.Error("the cause is lost")
	}
}
