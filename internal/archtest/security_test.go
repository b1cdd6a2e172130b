package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatsHaveTests: the tests that the table of threats names exist.
func TestThreatsHaveTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, ".github", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
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
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			delete(named, m[1])
		}
	}
	for name := range named {
		t.Errorf("there is no test %s", name)
	}
}
