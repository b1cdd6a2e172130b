package archtest

import (
	"regexp"
	"strings"
	"testing"
)

var makeVariable = regexp.MustCompile(`(?m)^([A-Z]+) *= *(.*)$`)

// TestRaceList: every name in the Makefile's list of tests for the race detector is a
// test of the commands, so a renamed one does not drop out, and every pattern that finds
// goroutines finds some.
func TestRaceList(t *testing.T) {
	variables := map[string]string{}
	for _, m := range makeVariable.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		variables[m[1]] = strings.ReplaceAll(m[2], "$$", "$")
	}
	names, ok := strings.CutPrefix(variables["RACED"], "Test(")
	names, whole := strings.CutSuffix(names, ")")
	if !ok || !whole || names == "" {
		t.Fatalf("RACED is %q, not Test(Name|Name)", variables["RACED"])
	}
	tests := functions(t, "cmd/pipeline", "Test")
	for name := range strings.SplitSeq(names, "|") {
		if !tests["Test"+name] {
			t.Errorf("RACED has %s, but cmd/pipeline has no Test%[1]s", name)
		}
	}
	for pattern := range strings.SplitSeq(variables["GOROUTINES"], "|") {
		if !anyFileMatches(t, regexp.MustCompile(pattern)) {
			t.Errorf("GOROUTINES has %s, which matches no Go file", pattern)
		}
	}
}

var function = regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(`)

// functions returns the names of the functions of the test files below a folder, "." for
// all, that begin with a word.
func functions(t *testing.T, folder, word string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, file := range goFiles(t) {
		if folder != "." && !strings.HasPrefix(file, folder+"/") || !strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range function.FindAllStringSubmatch(read(t, file), -1) {
			if strings.HasPrefix(m[1], word) {
				found[m[1]] = true
			}
		}
	}
	return found
}

func anyFileMatches(t *testing.T, pattern *regexp.Regexp) bool {
	t.Helper()
	for _, file := range goFiles(t) {
		if !strings.HasPrefix(file, "internal/archtest/") && pattern.MatchString(read(t, file)) {
			return true
		}
	}
	return false
}
