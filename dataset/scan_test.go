package dataset

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// tree creates files in a new folder; a value that starts with "->" is a
// symbolic link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
		var err error
		if target, isLink := strings.CutPrefix(content, "->"); isLink {
			err = os.Symlink(target, full)
		} else {
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Skipf("this file system cannot hold %q: %v", name, err)
		}
	}
	return root
}

// brief returns "path=label" for each sample.
func brief(l Listing) []string {
	var out []string
	for _, s := range l.Samples {
		out = append(out, s.Path+"="+s.Label)
	}
	return out
}

func problems(l Listing) []string {
	var out []string
	for _, p := range l.Problems {
		out = append(out, p.Err.Error())
	}
	return out
}

func wantEqual[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %+v\nwant %+v", what, got, want)
	}
}

func mustScan(t *testing.T, root string, opts ScanOptions) Listing {
	t.Helper()
	return must.Get(Scan(context.Background(), root, opts))(t)
}

func TestScanFindsImagesAndCountsTheRest(t *testing.T) {
	root := tree(t, map[string]string{
		"top.JPG": "", "cat/b.jpeg": "", "cat/a.png": "", "cat/deep/er/c.WebP": "", "cat-2/x.tif": "",
		"dog/plain": "\x89PNG\r\n\x1a\n........", "dog/noext": "hello", "dog/empty": "",
		"dog/phone.HEIC": "", "dog/clip.MOV": "", "dog/a.xmp": "", "dog/._a.jpg": "", "dog/.DS_Store": "",
		"dog/Thumbs.db": "", "dog/shot.CR2": "", "dog/phone.DNG": "", "dog/p.raf": "",
		"dog/x.psd": "", ".git/a.jpg": "", "cat/@eaDir/t.jpg": "",
		"new\nline.jpg": "", "sp ace/é.gif": "", "a.jpg/inside.bmp": "",
	})
	l := mustScan(t, root, ScanOptions{})
	wantEqual(t, "samples", brief(l), []string{
		"a.jpg/inside.bmp=a.jpg", "cat-2/x.tif=cat-2", "cat/a.png=cat", "cat/b.jpeg=cat", "cat/deep/er/c.WebP=cat",
		"dog/p.raf=dog", "dog/phone.HEIC=dog", "dog/plain=dog", "dog/shot.CR2=dog",
		"new\nline.jpg=", "sp ace/é.gif=sp ace", "top.JPG=",
	})
	want := map[string]int{"hidden": 4, "video": 1, "sidecar": 1, "system": 1, "raw": 1, "other": 3}
	if !maps.Equal(l.Skipped, want) {
		t.Errorf("skipped %v, want %v", l.Skipped, want)
	}
	if len(l.Problems) != 0 {
		t.Errorf("problems %q", problems(l))
	}
}

func TestScanKeepsOddBytes(t *testing.T) {
	root := tree(t, map[string]string{"caf\xe9/a\xff.jpg": ""})
	wantEqual(t, "samples", brief(mustScan(t, root, ScanOptions{})), []string{"caf\xe9/a\xff.jpg=caf\xe9"})
}

func TestScanLinks(t *testing.T) {
	outside := tree(t, map[string]string{"o.jpg": "", "sub/p.jpg": ""})
	root := tree(t, map[string]string{
		"cat/a.jpg": "", "cat/loop": "->..", "cat/self": "->self", "broken.jpg": "->gone.jpg",
		"linked.jpg": "->cat/a.jpg", "ext": "->" + outside, "ext2": "->" + outside, "again": "->cat",
		"dev.jpg": "->/dev/null",
	})
	l := mustScan(t, root, ScanOptions{})
	wantEqual(t, "samples", brief(l), []string{"cat/a.jpg=cat", "ext/o.jpg=ext", "ext/sub/p.jpg=ext", "linked.jpg="})
	wantEqual(t, "problems", problems(l), []string{
		"broken.jpg: broken symbolic link: what it points to does not exist",
		"cat/loop: symbolic link loop: it leads back to a folder that contains it",
		"cat/self: symbolic link loop: it leads back to itself",
	})
	if l.Skipped["linked twice"] != 2 || l.Skipped["special"] != 1 {
		t.Errorf("skipped %v", l.Skipped)
	}
}

func TestScanLoopOutsideTheRoot(t *testing.T) {
	outside := tree(t, map[string]string{"o.jpg": "", "back": "->."})
	root := tree(t, map[string]string{"ext": "->" + outside})
	l := mustScan(t, root, ScanOptions{})
	wantEqual(t, "samples", brief(l), []string{"ext/o.jpg=ext"})
	if len(l.Problems) != 1 || l.Problems[0].Path != "ext/back" {
		t.Errorf("problems %q", problems(l))
	}
}

func TestScanExclude(t *testing.T) {
	root := tree(t, map[string]string{"cat/a.jpg": "", "out/thumb.jpg": ""})
	l := mustScan(t, root, ScanOptions{Avoid: []string{filepath.Join(root, "out"), root, filepath.Join(root, "gone")}})
	wantEqual(t, "samples", brief(l), []string{"cat/a.jpg=cat"})
	if len(l.Skipped) != 0 {
		t.Errorf("skipped %v", l.Skipped)
	}
}

func TestScanUnreadableFolder(t *testing.T) {
	root := tree(t, map[string]string{"cat/a.jpg": "", "locked/b.jpg": ""})
	locked := filepath.Join(root, "locked")
	must.Do(t, os.Chmod(locked, 0))
	t.Cleanup(func() { os.Chmod(locked, 0o755) })
	if _, err := os.ReadDir(locked); err == nil {
		t.Skip("this user reads everything, as root does")
	}
	l := mustScan(t, root, ScanOptions{})
	wantEqual(t, "problems", problems(l), []string{"read folder locked: permission denied"})
}

func TestScanRootErrors(t *testing.T) {
	root := tree(t, map[string]string{"only.txt": "", "sub/x.mp4": "", "out/photos.ZIP": ""})
	_, err := Scan(context.Background(), filepath.Join(root, "out/photos.ZIP"), ScanOptions{})
	if !errors.Is(err, ErrNotFolder) || !strings.Contains(err.Error(), "unpack it") {
		t.Error(err)
	}
	_, err = Scan(context.Background(), filepath.Join(root, "suv"), ScanOptions{})
	if !errors.Is(err, ErrNoRoot) || !strings.Contains(err.Error(), `did you mean "sub"?`) {
		t.Error(err)
	}
	for path, want := range map[string]error{
		filepath.Join(root, "gone"):     ErrNoRoot,
		filepath.Join(root, "only.txt"): ErrNotFolder,
		root:                            ErrNoImages,
	} {
		l, err := Scan(context.Background(), path, ScanOptions{})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if want == ErrNoImages && (l.Skipped["video"] != 1 || !strings.Contains(err.Error(), "1 sidecar, 1 video")) {
			t.Errorf("empty: %v, %v", l.Skipped, err)
		}
	}
}

func TestScanCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Scan(ctx, tree(t, map[string]string{"a.jpg": ""}), ScanOptions{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestImageMagic(t *testing.T) {
	for head, want := range map[string]bool{
		"":   false,
		"BM": false,
		"BM\x10\x00\x00\x00\x00\x00\x00\x00\x36\x00": true,
		"BMW is a car....":                           false,
		"RIFF....WEBPVP8 ":                           true,
		"RIFF....WAVEfmt ":                           false,
		"\x00\x00\x00\x18ftypheic....":               true,
		"\x00\x00\x00\x18ftypmp42....":               false,
		"\xff\xd8\xff\xe0":                           true,
	} {
		if got := imageMagic([]byte(head)); got != want {
			t.Errorf("imageMagic(%q) = %v", head, got)
		}
	}
}
