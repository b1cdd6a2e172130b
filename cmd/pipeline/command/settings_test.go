package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestSettingsStay: once open has loaded them, nothing assigns to the settings and the
// streams of an app, or takes the address of one. A part of a command that has settings
// of its own gets another app.
func TestSettingsStay(t *testing.T) {
	of := map[string]bool{}
	for i := range reflect.TypeFor[app]().NumField() {
		of[reflect.TypeFor[app]().Field(i).Name] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	positions := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(positions, name, nil, parser.SkipObjectResolution))(t)
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name != "open" && f.Name.Name != "with" {
				for _, at := range changed(f, of) {
					t.Errorf("%s: %s changes a setting or a stream", positions.Position(at), f.Name.Name)
				}
			}
		}
	}
}

// TestChanged: what a function may do to the fields of an app is found.
func TestChanged(t *testing.T) {
	const source = `package p
func f(a *app) {
	a.config.Out, x = "", 1
	a.config.Rows[3].N++
	s := &a.config.Scan
	for a.quiet = range all {
	}
	(*a).config = c
	c := a.config
	c.Out = a.config.Images
	s.Out, b.other = "", ""
}`
	file := must.Get(parser.ParseFile(token.NewFileSet(), "", source, 0))(t)
	if got := changed(file, map[string]bool{"config": true, "quiet": true}); len(got) != 5 {
		t.Errorf("found %d of 5 changes", len(got))
	}
}

// changed returns where a piece of code assigns to one of the named fields of a
// variable, or to a part of it, or takes its address.
func changed(code ast.Node, fields map[string]bool) (at []token.Pos) {
	check := func(targets ...ast.Expr) {
		for _, x := range targets {
			if x != nil && within(x, fields) {
				at = append(at, x.Pos())
			}
		}
	}
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			check(n.Lhs...)
		case *ast.RangeStmt:
			check(n.Key, n.Value)
		case *ast.IncDecStmt:
			check(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				check(n.X)
			}
		}
		return true
	})
	return at
}

// within reports whether an expression is one of the named fields of a variable, or a
// part of one.
func within(x ast.Expr, fields map[string]bool) bool {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return fields[x.Sel.Name] || within(x.X, fields)
	case *ast.IndexExpr:
		return within(x.X, fields)
	case *ast.StarExpr:
		return within(x.X, fields)
	case *ast.ParenExpr:
		return within(x.X, fields)
	}
	return false
}
