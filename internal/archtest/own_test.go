package archtest

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// mostOwn is the number of lines, without tests, from which a package needs a reason.
const mostOwn = 300

// TestLargePackagesHaveAReason: a page of the decisions names each package of internal that is
// not small, and says why no library serves.
func TestLargePackagesHaveAReason(t *testing.T) {
	reasons := ""
	for _, page := range files(t, ".md") {
		if strings.HasPrefix(page, "docs/decisions/") {
			reasons += read(t, page)
		}
	}
	lines := map[string]int{}
	for _, file := range goFiles(t) {
		if strings.HasPrefix(file, "internal/") && !strings.HasSuffix(file, "_test.go") {
			lines[path.Dir(file)] += strings.Count(read(t, file), "\n")
		}
	}
	for _, name := range unexplained(lines, reasons) {
		t.Errorf("%s has %d lines: look for a library, or say in docs/decisions why none serves, with a figure", name,
			lines[name])
	}
}

// unexplained returns the packages of too many lines that a text does not name.
func unexplained(lines map[string]int, text string) (names []string) {
	for name, n := range lines {
		if n > mostOwn && !regexp.MustCompile("`"+regexp.QuoteMeta(name)+"`").MatchString(text) {
			names = append(names, name)
		}
	}
	return names
}

func TestUnexplained(t *testing.T) {
	lines := map[string]int{"internal/a": 301, "internal/b": 300, "internal/c": 999, "internal/c/d": 999}
	got := unexplained(lines, "`internal/c` and internal/a, `internal/ab`")
	if len(got) != 2 || !strings.Contains(strings.Join(got, " "), "internal/c/d") {
		t.Errorf("%q", got)
	}
}
