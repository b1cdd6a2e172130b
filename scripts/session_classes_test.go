package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestSessionClasses: the first session's rows of a feature folder, and the photos of all other classes.
func TestSessionClasses(t *testing.T) {
	python, dir := python(t), t.TempDir()
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	for _, folder := range []string{at("lists"), at("f"), at("images", "train", "ant"), at("images", "test", "bee")} {
		must.Do(t, os.MkdirAll(folder, 0o700))
	}
	write(t, at("lists", "session_1.txt"), "MINI/train/ant/1.jpg\nMINI/train/ant/2.jpg\n")
	write(t, at("images", "train", "ant", "1.jpg"), "")
	write(t, at("images", "test", "bee", "3.jpg"), "")
	write(t, at("f", "samples.csv"), "path,label\ntrain/ant/1.jpg,ant\ntest/bee/3.jpg,bee\ntrain/ant/2.jpg,ant\n")
	write(t, at("f", "meta.json"), "{}")
	write(t, at("f", "errors.csv"), "path,kind,message\n")
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(python, args...).CombinedOutput()
		if err != nil {
			return "failed: " + string(out)
		}
		return string(out)
	}
	run("-c", "import numpy, sys; numpy.save(sys.argv[1], numpy.arange(6.0).reshape(3, 2))", at("f", "embeddings.npy"))
	first := []string{"session_classes.py", "first", "--features", at("f"), "--lists", at("lists"), "--out", at("g")}
	if said := run(first...); said != "2 of 3 images\n" {
		t.Error(said)
	}
	if got := read(t, dir, "g", "samples.csv"); got != "path,label\ntrain/ant/1.jpg,ant\ntrain/ant/2.jpg,ant\n" {
		t.Errorf("samples: %q", got)
	}
	if got := run("-c", "import numpy, sys; print(numpy.load(sys.argv[1]).tolist())", at("g", "embeddings.npy")); got !=
		"[[0.0, 1.0], [4.0, 5.0]]\n" {
		t.Errorf("embeddings: %s", got)
	}
	if said := run("session_classes.py", "later", "--images", at("images"), "--lists", at("lists"), "--out",
		at("later.csv")); said != "1 images\n" || read(t, dir, "later.csv") != "path,label\ntest/bee/3.jpg,bee\n" {
		t.Errorf("%s%s", said, read(t, dir, "later.csv"))
	}
	write(t, at("lists", "session_1.txt"), "MINI/train/cow/1.jpg\n")
	if said := run(first...); !strings.Contains(said, "has none of the 1 classes of ") {
		t.Error(said)
	}
}
