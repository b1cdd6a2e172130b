package photos

import (
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/shared"
)

// TestFoldersAsPeopleHaveThem: what is no photo is said by suffix, and what is no class
// by name.
func TestFoldersAsPeopleHaveThem(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 3, "kiwi", "plum", "$RECYCLE.BIN", ".thumbnails")
	for _, file := range []string{"kiwi/a.NEF", "kiwi/b.NEF", "plum/c.mov", "notes/d.txt", "plum/e.docx"} {
		l.Write(l.Path("photos", file), []byte("II*\x00"[:3]))
	}
	l.Write(l.Path("photos", "kiwi", "camera.hxf"), commandtest.Photo("kiwi", 9, 40))
	r := l.Must("train", "--images", photos, "--out", l.Path("model"))
	for _, said := range []string{
		"7 samples of 2 classes", `suffixes="2 .nef, 1 .docx, 1 .mov, 1 .txt"`, `export them as JPEG" files=2`,
		`such_as="$RECYCLE.BIN, .thumbnails"`, `without photos are no classes" folders=1 such_as=notes`,
	} {
		if !strings.Contains(r.Stdout+r.Stderr, said) {
			t.Errorf("train does not say %q:\n%s%s", said, r.Stdout, r.Stderr)
		}
	}
}

// TestCaseOfCameraSuffix: files that a camera calls .HIF are photos.
func TestCaseOfCameraSuffix(t *testing.T) {
	l := commandtest.New(t)
	photos := shared.Path(t, "cases", "12-hif-suffix", "photos")
	r := l.Must("train", "--images", photos, "--out", l.Path("model"))
	if !strings.Contains(r.Stdout, "6 samples of 2 classes") {
		t.Errorf("train says\n%s%s", r.Stdout, r.Stderr)
	}
}
