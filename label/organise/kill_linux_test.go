package organise

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/label"
)

// killedIn names the folder of the run that TestKilledAtEveryStep starts in another
// process.
const killedIn = "PIPELINE_TEST_ORGANISE_CHILD"

// TestKilledAtEveryStep: a run that replaces a tree is killed, at every step; the next
// one ends as if it had not been, and meanwhile all that somebody added is there.
func TestKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	second := []label.Scored{labelled("a.jpg", "dog", false), labelled("b.jpg", "cat", false)}
	if base := os.Getenv(killedIn); base != "" {
		for _, how := range []How{Links, Copies} {
			build(t, how, filepath.Join(base, "photos"), filepath.Join(base, string(how), "by-class"), second...)
		}
		return
	}
	begin := func() string {
		base := testenv.MemoryDir(t)
		for _, name := range []string{"a.jpg", "b.jpg"} {
			write(t, filepath.Join(base, "photos", name), name)
		}
		for _, how := range []How{Links, Copies} {
			tree := filepath.Join(base, string(how), "by-class")
			write(t, filepath.Join(base, string(how), "labels.csv"), "")
			build(t, how, filepath.Join(base, "photos"), tree, labelled("a.jpg", "cat", false),
				labelled("b.jpg", "cat", false))
			for _, mine := range []string{"cat/mine.txt", "mine/folder/mine.txt", "dog"} {
				write(t, filepath.Join(tree, mine), "mine")
			}
		}
		return base
	}
	mine := func(files map[string]string) (n int) {
		for _, text := range files {
			if text == "mine" {
				n++
			}
		}
		return n
	}
	files := func(base string) map[string]string { return contents(t, base) }
	testenv.KillAtEveryStep(t, killedIn, begin, files, func(step int, base string) {
		if got := contents(t, base); mine(got) != 6 {
			t.Errorf("killed before step %d: %v", step, got)
		}
	})
}
