package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

var (
	goTest  = regexp.MustCompile("\\bgo test ([^`\n#]*)")
	makeRun = regexp.MustCompile("(?m)(?:^|`)make ([a-z0-9-]+)")
	python  = regexp.MustCompile(`\b((?:bench|deploy|models|scripts)/[\w/]*\w\.py)((?: [^\n#]*\\\n)* [^\n#]*)`)
	word    = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
)

// TestCommandsInPages: what a page says to run exists: the packages and tests of go test,
// the targets of make, the scripts of Python and their flags. The tests of cmd/pipeline
// check the commands of the program itself.
func TestCommandsInPages(t *testing.T) {
	makefile := read(t, "Makefile")
	n := 0
	for _, page := range files(t, ".md") {
		if page == "CHANGELOG.md" {
			continue // it tells what was
		}
		text := read(t, page)
		for _, m := range goTest.FindAllStringSubmatch(text, -1) {
			n++
			checkGoTest(t, page, word.FindAllString(m[1], -1))
		}
		for _, m := range makeRun.FindAllStringSubmatch(text, -1) {
			if n++; !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: make %s is no target", page, m[1])
			}
		}
		for _, m := range python.FindAllStringSubmatch(text, -1) {
			n++
			checkPython(t, page, m[1], word.FindAllString(m[2], -1))
		}
	}
	if n < 100 {
		t.Errorf("only %d commands were found", n)
	}
}

// checkGoTest checks that the packages exist, and that -run and -bench choose something
// in them; what is there to choose nothing (^$, xxx) may.
func checkGoTest(t *testing.T, page string, words []string) {
	t.Helper()
	tests := map[string]bool{}
	for _, w := range words {
		if folder, ok := strings.CutPrefix(w, "./"); ok && folder != "..." {
			if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
				t.Errorf("%s: go test %s: %v", page, w, err)
			}
			for name := range functions(t, folder, "") {
				tests[name] = true
			}
		}
	}
	for i, w := range words[:max(0, len(words)-1)] {
		if w != "-run" && w != "-bench" {
			continue
		}
		chosen, _, _ := strings.Cut(strings.Trim(words[i+1], `'"`), "/")
		pattern, err := regexp.Compile(chosen)
		if err != nil {
			t.Errorf("%s: %s %s: %v", page, w, chosen, err)
			continue
		}
		found := chosen == "^$" || chosen == "xxx" || len(tests) == 0
		for name := range tests {
			found = found || pattern.MatchString(name)
		}
		if !found {
			t.Errorf("%s: go test %s chooses nothing", page, strings.Join(words, " "))
		}
	}
}

// checkPython checks that a script and the flags it is given exist.
func checkPython(t *testing.T, page, script string, words []string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, script)); err != nil {
		t.Errorf("%s: %v", page, err)
		return
	}
	source := withImports(t, script)
	for _, w := range words {
		if strings.ContainsAny(w, "|&;`") || w == "-->" {
			break // another command, or the end of a comment
		}
		if _, err := os.Stat(filepath.Join(root, w)); err == nil && filepath.Ext(w) == ".py" {
			script, source = w, withImports(t, w) // the first was an argument
		}
		if flag, ok := strings.CutPrefix(w, "--"); ok {
			// A flag may be made of the name of a field or of a keyword.
			name := regexp.MustCompile(`(?m)(^    | )` + strings.ReplaceAll(flag, "-", "_") + `(:|=")`)
			if !strings.Contains(source, `"`+w+`"`) && !name.MatchString(source) {
				t.Errorf("%s: %s has no flag %s", page, script, w)
			}
		}
		if file, ok := strings.CutPrefix(w, "@"); ok {
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

var imported = regexp.MustCompile(`(?m)^(?:from|import) (\w+)`)

// withImports returns the source of a Python script and of the modules of its folder that
// it imports.
func withImports(t *testing.T, script string) string {
	t.Helper()
	source := read(t, script)
	for _, m := range imported.FindAllStringSubmatch(source, -1) {
		for _, file := range files(t, ".py") {
			module := filepath.ToSlash(filepath.Join(filepath.Dir(script), m[1]))
			if file == module+".py" || strings.HasPrefix(file, module+"/") {
				source += read(t, file)
			}
		}
	}
	return source
}

func read(t *testing.T, file string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(root, file)))(t))
}
