package export_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// killedIn names the folder of the run that TestKilledAtEveryStep starts in another
// process.
const killedIn = "PIPELINE_TEST_EXPORT_CHILD"

// TestKilledAtEveryStep: a run that replaces exports, with a split, by others is killed, at
// every step; the next one ends as if it had not been, and meanwhile each export is whole.
func TestKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	a, b := row("a.jpg", "cat"), row("sub/b.jpg", "dog")
	formats := []string{"imagefolder", "coco"} // the others are written as coco is
	if base := os.Getenv(killedIn); base != "" {
		run(t, options(filepath.Join(base, "photos"), filepath.Join(base, "out")), formats, a, row("sub/b.jpg", "bird"))
		return
	}
	begin := func() string {
		base := testenv.MemoryDir(t)
		write(t, filepath.Join(base, "photos"), "a.jpg", "sub/b.jpg")
		a, b := a, b
		a.Split, b.Split = "train", "test"
		run(t, options(filepath.Join(base, "photos"), filepath.Join(base, "out"), "train", "test"), formats,
			a, b)
		write(t, base, "out/coco/mine.txt", "out/imagefolder/train/cat/mine.txt")
		return base
	}
	files := func(base string) map[string]string { return tree(t, base) }
	testenv.KillAtEveryStep(t, killedIn, begin, files, func(step int, base string) {
		for _, file := range []string{"coco/instances.json", "coco/instances_test.json"} {
			if text, err := os.ReadFile(filepath.Join(base, "out", file)); err == nil && text[len(text)-2] != '}' {
				t.Errorf("killed before step %d: %s is not whole", step, file)
			}
		}
	})
}
