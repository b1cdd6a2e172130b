package archtest

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// mostCommitted is the size in bytes from which a file belongs to a release, not to the tree.
const mostCommitted = 5_000_000

// largeFiles are the files over mostCommitted that the tree has, with their hashes as git has
// them: every version of one stays in the history of every clone.
var largeFiles = map[string]string{
	"models/default.onnx":            "479b0e604551431d57f1c1489d54b89deb3ac309",
	"models/efficientnet-lite0.onnx": "2123d7efdf26e0ca3d9a58e6e642d3db3ee9de1a",
	"models/resnet18.onnx":           "4b5f55ebfd2f461c13b1204b60fe3afd1062a6af",
}

// TestNoNewLargeFile: no file over mostCommitted is new or has changed.
func TestNoNewLargeFile(t *testing.T) {
	cmd := exec.Command("git", "ls-files", "--stage")
	cmd.Dir = filepath.Join("..", "..")
	listed, err := cmd.Output()
	if err != nil {
		t.Skip("not a checkout of git")
	}
	var hashes strings.Builder
	var names []string
	for entry := range strings.Lines(string(listed)) { // mode hash stage<tab>name
		about, name, _ := strings.Cut(strings.TrimSuffix(entry, "\n"), "\t")
		names = append(names, name)
		hashes.WriteString(strings.Fields(about)[1] + "\n")
	}
	cmd = exec.Command("git", "cat-file", "--batch-check=%(objectname) %(objectsize)")
	cmd.Dir, cmd.Stdin = filepath.Join("..", ".."), strings.NewReader(hashes.String())
	sizes := strings.Split(strings.TrimSpace(string(must.Get(cmd.Output())(t))), "\n")
	for _, problem := range tooLarge(names, sizes) {
		t.Error(problem)
	}
}

// tooLarge returns what is wrong with files, given "hash size" of each.
func tooLarge(names, sizes []string) (problems []string) {
	for i, name := range names {
		hash, text, _ := strings.Cut(sizes[i], " ")
		size, err := strconv.Atoi(text)
		if err == nil && size > mostCommitted && largeFiles[name] != hash {
			problems = append(problems, name+" has "+text+" bytes: put it into a release, not into the tree")
		}
	}
	return problems
}

func TestTooLarge(t *testing.T) {
	known := largeFiles["models/default.onnx"]
	got := tooLarge([]string{"models/default.onnx", "models/default.onnx", "models/new.onnx", "small"},
		[]string{known + " 5650637", "00 5650637", known + " 5000001", "00 5000000"})
	if len(got) != 2 || !strings.HasPrefix(got[0], "models/default.onnx") || !strings.HasPrefix(got[1], "models/new") {
		t.Errorf("%q", got)
	}
}
