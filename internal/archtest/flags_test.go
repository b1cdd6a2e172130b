package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// flagsNamed are the files outside the command line whose texts may name flags.
var flagsNamed = []string{
	"classifier/holdout/calibration/novelty.go",
	"internal/libraries/fetch.go", // those of pip
	"serve/guard.go",              // what to type, for whoever started the server
}

var flagName = regexp.MustCompile(`(^|[^\w-])--[a-z]`)

// TestOnlyCommandsNameFlags: what is called by pages and programs too says in words what is wrong.
func TestOnlyCommandsNameFlags(t *testing.T) {
	var found []string
	for _, file := range goFiles(t) {
		commands := slices.Contains([]string{"cmd", "research", "scripts", "bench"}, roomOf(file))
		if commands || strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		parsed := must.Get(parser.ParseFile(set, filepath.Join(root, file), nil, 0))(t)
		ast.Inspect(parsed, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING || !flagName.MatchString(text.Value) {
				return true
			}
			found = append(found, file)
			if !slices.Contains(flagsNamed, file) {
				t.Errorf("%s:%d names a flag: %s", file, set.Position(text.Pos()).Line, text.Value)
			}
			return true
		})
	}
	for _, file := range flagsNamed {
		if !slices.Contains(found, file) {
			t.Errorf("%s names no flag and needs no exception", file)
		}
	}
}
