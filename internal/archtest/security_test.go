package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestThreatsHaveTests: the tests that the table of threats names exist.
func TestThreatsHaveTests(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join(root, ".github", "SECURITY.md")))(t)
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)`").FindAllStringSubmatch(string(page), -1) {
		named[m[1]] = true
	}
	if len(named) < 20 {
		t.Errorf("only %d tests are named", len(named))
	}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := must.Get(os.ReadFile(filepath.Join(root, file)))(t)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			delete(named, m[1])
		}
	}
	for name := range named {
		t.Errorf("there is no test %s", name)
	}
}
