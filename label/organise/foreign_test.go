package organise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestLinkInPlaceOfTheTree: a link is neither followed nor replaced, whatever it
// points to.
func TestLinkInPlaceOfTheTree(t *testing.T) {
	for what, target := range map[string]string{
		"folder": "photos", "file": "photos/mine.jpg", "nothing": "gone", "itself": "out/by-class",
	} {
		t.Run(what, func(t *testing.T) {
			base := t.TempDir()
			root, out := filepath.Join(base, "set"), filepath.Join(base, "out")
			write(t, filepath.Join(root, "a.jpg"), "a")
			write(t, filepath.Join(base, "photos/mine.jpg"), "mine")
			write(t, filepath.Join(base, "photos/cat/a.jpg"), "my a")
			link(t, filepath.Join(base, target), filepath.Join(out, "by-class"))
			for _, how := range []How{Links, Copies} {
				tree, err := NewTree(how, root, filepath.Join(out, "by-class"))
				if err == nil {
					_ = tree.Put(labelled("a.jpg", "cat", false))
					err = tree.Commit(embedding.Outcome{})
				}
				if err == nil || !strings.Contains(err.Error(), filepath.Join(out, "by-class")+" is a link") {
					t.Errorf("%s: %v", how, err)
				}
			}
			wantTree(t, filepath.Join(base, "photos"), map[string]string{"mine.jpg": "mine", "cat/a.jpg": "my a"})
			if got, err := os.Readlink(filepath.Join(out, "by-class")); err != nil ||
				got != filepath.Join(base, target) {
				t.Errorf("the link is now %q, %v", got, err)
			}
		})
	}
}

// TestOutputFolderIsALink works as if it were the folder.
func TestOutputFolderIsALink(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "set")
	write(t, filepath.Join(root, "a.jpg"), "a")
	write(t, filepath.Join(base, "disk/by-class/note.txt"), "mine")
	link(t, "disk", filepath.Join(base, "out"))
	build(t, Copies, root, filepath.Join(base, "out/by-class"), labelled("a.jpg", "cat", false))
	build(t, Copies, root, filepath.Join(base, "out/by-class"), labelled("a.jpg", "dog", false))
	wantTree(t, filepath.Join(base, "disk/by-class"), map[string]string{"note.txt": "mine", "dog/a.jpg": "a"})
}

// TestPhotosInsideTheTree are refused: a copy of an earlier run could not be told from
// an original.
func TestPhotosInsideTheTree(t *testing.T) {
	for what, photos := range map[string]string{
		"the tree": "out/by-class", "a class folder": "out/by-class/cat", "through a link": "elsewhere/cat",
	} {
		t.Run(what, func(t *testing.T) {
			base := t.TempDir()
			tree := filepath.Join(base, "out/by-class")
			write(t, filepath.Join(tree, "cat/a.jpg"), "the only one")
			link(t, tree, filepath.Join(base, "elsewhere"))
			_, err := NewTree(Copies, filepath.Join(base, photos), tree)
			if err == nil || !strings.Contains(err.Error(), "choose another one") {
				t.Errorf("%v", err)
			}
			wantTree(t, tree, map[string]string{"cat/a.jpg": "the only one"})
		})
	}
}

// TestForgedTree: files arranged like those of an earlier run stay if there was none,
// or if they are more than copies of photos.
func TestForgedTree(t *testing.T) {
	t.Run("no job has finished", func(t *testing.T) { testForgedTree(t, false) })
	t.Run("a job has finished", func(t *testing.T) { testForgedTree(t, true) })
}

func testForgedTree(t *testing.T, finished bool) {
	base := t.TempDir()
	root, tree := filepath.Join(base, "set"), filepath.Join(base, "out/by-class")
	at := time.Unix(1_000_000_000, 0)
	for _, file := range []string{"equal.jpg", "edited.jpg", "linked.jpg", "self.jpg"} {
		write(t, filepath.Join(root, file), "photo")
	}
	write(t, filepath.Join(root, "2024/b.jpg"), "photo")
	write(t, filepath.Join(tree, "cat/equal.jpg"), "photo")
	write(t, filepath.Join(tree, "cat/edited.jpg"), "PHOTO") // by a tool that keeps the time
	write(t, filepath.Join(tree, "cat/self.jpg"), "photo")
	if err := os.Link(filepath.Join(root, "linked.jpg"), filepath.Join(tree, "cat/linked.jpg")); err != nil {
		t.Skip(err)
	}
	must.Do(t, os.Remove(filepath.Join(root, "self.jpg")))
	link(t, filepath.Join(tree, "cat/self.jpg"), filepath.Join(root, "self.jpg"))
	for _, dir := range []string{root, filepath.Join(tree, "cat")} {
		for _, file := range []string{"equal.jpg", "edited.jpg", "linked.jpg", "self.jpg"} {
			must.Do(t, os.Chtimes(filepath.Join(dir, file), at, at))
		}
	}
	link(t, filepath.Join(root, "2024"), filepath.Join(tree, "cat/2024"))
	link(t, root, filepath.Join(tree, "dog"))

	if finished {
		write(t, filepath.Join(base, "out/summary.json"), "{}")
	}
	build(t, Copies, root, tree, labelled("equal.jpg", "dog", false), labelled("2024/b.jpg", "dog", false))
	want := map[string]string{
		"dog/equal.jpg": "photo", "dog/2024/b.jpg": "photo", // ours
		"cat/edited.jpg": "PHOTO", "cat/linked.jpg": "photo", "cat/self.jpg": "photo",
		"cat/2024": "unreadable", "dog.kept-2": "unreadable", // links to folders
	}
	if !finished {
		want["cat/equal.jpg"] = "photo"
	}
	wantTree(t, tree, want)
	wantTree(t, root, map[string]string{
		"equal.jpg": "photo", "edited.jpg": "photo", "linked.jpg": "photo", "self.jpg": "photo", "2024/b.jpg": "photo",
	})
	one, err := os.Stat(filepath.Join(root, "equal.jpg"))
	other, err2 := os.Stat(filepath.Join(tree, "dog/equal.jpg"))
	if err != nil || err2 != nil || os.SameFile(one, other) {
		t.Errorf("a link in the tree led to the photo, which was taken for its copy: %v, %v", err, err2)
	}
}

// TestAddedWhileLabelling: what comes into the tree during a run stays.
func TestAddedWhileLabelling(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
	write(t, filepath.Join(root, "a.jpg"), "a")
	build(t, Links, root, dir, labelled("a.jpg", "cat", false))
	tree := must.Get(NewTree(Links, root, dir))(t)
	defer tree.Abort()
	must.Do(t, tree.Put(labelled("a.jpg", "cat", false)))
	write(t, filepath.Join(dir, "cat/late.txt"), "late")
	write(t, filepath.Join(dir, "new/late.txt"), "late")
	must.Do(t, tree.Commit(embedding.Outcome{}))
	wantTree(t, dir, map[string]string{"cat/a.jpg": "a", "cat/late.txt": "late", "new/late.txt": "late"})
}

func link(t *testing.T, target, name string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	if err := os.Symlink(target, name); err != nil {
		t.Skip(err)
	}
}
