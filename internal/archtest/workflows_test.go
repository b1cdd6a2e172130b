package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A workflow is what a file of .github/workflows says, as far as it is checked.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Steps       []struct {
			Uses, Run string
			With      map[string]any
		}
	}
}

// pinnedAction matches an action by its commit; the tag that the commit had is a comment.
var pinnedAction = regexp.MustCompile(`^ +- uses: actions/[a-z-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)

// TestWorkflowsTrustLittle: every action is one of GitHub's, by its commit; nobody gets a
// right that is not named; the job that may write runs nothing of the repository, and none
// keeps the token where what it runs could read it.
func TestWorkflowsTrustLittle(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("workflows %q, %v", files, err)
	}
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if strings.Contains(line, "uses:") && !pinnedAction.MatchString(line) {
				t.Errorf("%s: %q is not an action of GitHub by its commit, with its version", file, line)
			}
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		checkRights(t, file, w)
	}
}

func checkRights(t *testing.T, file string, w workflow) {
	t.Helper()
	if w.Permissions == nil || len(w.Permissions) > 0 {
		t.Errorf("%s: what a job may do is not empty unless the job says so", file)
	}
	for name, job := range w.Jobs {
		var writes, checksOut bool
		for _, right := range job.Permissions {
			writes = writes || right != "read"
		}
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "actions/checkout@") {
				checksOut = true
				if step.With["persist-credentials"] != false {
					t.Errorf("%s: the job %s keeps its token in the clone", file, name)
				}
			}
		}
		if len(job.Permissions) != 1 || writes && checksOut {
			t.Errorf("%s: the job %s may do %v, and checks the repository out: %t", file, name, job.Permissions,
				checksOut)
		}
	}
}

// fetches are commands that download, each with what pins what it gets.
var fetches = []struct{ command, pin *regexp.Regexp }{
	{regexp.MustCompile(`\bpip"? (install|download) `), regexp.MustCompile(` --require-hashes `)},
	{regexp.MustCompile(`\b(npm (ci|install|exec)|npx) `), regexp.MustCompile(`npm ci --ignore-scripts `)},
	{regexp.MustCompile(`\b(curl|wget|git clone) |\bgo (install|run) \S+@`), regexp.MustCompile(`^$`)},
}

var comment = regexp.MustCompile(`(?m)(^|\s)#.*$`)

// unpinned are the scripts that download what no hash pins, with the reason.
var unpinned = map[string]string{
	"models/verify_exports.sh": "PyTorch, with CUDA's libraries or without; nothing of it ships",
	"scripts/dist/module.sh":   "this module, from a proxy that the script makes",
}

// TestFetchedByHash: what a script downloads is pinned by a hash, and no script of a
// package runs.
func TestFetchedByHash(t *testing.T) {
	found := 0
	for _, file := range append(files(t, ".sh"), "Makefile", ".ci/run", ".github/workflows/check.yml",
		".github/workflows/release.yml") {
		text := strings.ReplaceAll(read(t, file), "\\\n", " ")
		for line := range strings.Lines(comment.ReplaceAllString(text, "")) {
			for _, f := range fetches {
				if !f.command.MatchString(line) {
					continue
				}
				found++
				if unpinned[file] == "" && !f.pin.MatchString(line) {
					t.Errorf("%s: %q gets what no hash pins", file, strings.TrimSpace(line))
				}
			}
		}
	}
	if found < 6 {
		t.Errorf("%d downloads were found", found)
	}
}
