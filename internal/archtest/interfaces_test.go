package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// abilities are the interfaces that only types of higher layers implement, with the reason.
var abilities = map[string]string{
	"classifier.Guided": "what some heads can do is an interface beside Head, and the tree, whose folder lies above, " +
		"is the only one that can do this",
}

// TestNoInterfaceCallsUpward: a package declares no interface that only packages of higher layers
// implement. Through such an interface a lower layer would depend on a higher one after all.
func TestNoInterfaceCallsUpward(t *testing.T) {
	declared, concrete := namedTypes(t)
	if len(declared) < 50 || len(concrete) < 500 {
		t.Fatalf("there are only %d interfaces and %d other types: look at what finds them", len(declared),
			len(concrete))
	}
	for _, i := range declared {
		name, methods := nameOf(i), i.Underlying().(*types.Interface)
		var above []string
		implemented := false // where it is declared, or below
		for _, c := range concrete {
			switch {
			case !types.Implements(c, methods) && !types.Implements(types.NewPointer(c), methods):
			case layerOfType(c) > layerOfType(i):
				above = append(above, nameOf(c))
			default:
				implemented = true
			}
		}
		upward := len(above) > 0 && !implemented
		switch _, excepted := abilities[name]; {
		case upward && !excepted:
			t.Errorf("only %s above it implements %s: hold a type of a lower layer and call that", strings.Join(above,
				", "), name)
		case excepted && !upward:
			t.Errorf("%s needs no exception", name)
		}
	}
}

// nameOf returns the name of a type, with the folder of its package.
func nameOf(n *types.Named) string { return strings.TrimPrefix(n.String(), module) }

func layerOfType(n *types.Named) int {
	return layerOf(roomOf(strings.TrimPrefix(n.Obj().Pkg().Path()+"/", module)))
}

// namedTypes returns the types that the module declares outside of functions and tests: interfaces
// with methods, and all others.
func namedTypes(t *testing.T) (interfaces, concrete []*types.Named) {
	t.Helper()
	for _, p := range checkedPackages(t) {
		for _, name := range p.Scope().Names() {
			object, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok || object.IsAlias() {
				continue
			}
			named := object.Type().(*types.Named)
			methods, ok := named.Underlying().(*types.Interface)
			switch {
			case named.TypeParams().Len() > 0:
			case !ok:
				concrete = append(concrete, named)
			case methods.IsMethodSet() && methods.NumMethods() > 0:
				interfaces = append(interfaces, named)
			}
		}
	}
	return interfaces, concrete
}

// checkedPackages returns the packages of the module with their types, without the bodies of functions.
func checkedPackages(t *testing.T) (all []*types.Package) {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,Module", "./...")
	list.Dir, list.Stderr = root, os.Stderr
	out := must.Get(list.Output())(t)
	exports, own, set := map[string]string{}, map[string]*types.Package{}, token.NewFileSet()
	others := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	config := types.Config{IgnoreFuncBodies: true, FakeImportC: true, Importer: importing(
		func(path string) (*types.Package, error) {
			if p, ok := own[path]; ok {
				return p, nil
			}
			return others.Import(path)
		})}
	for packages := json.NewDecoder(bytes.NewReader(out)); ; { // each after those that it imports
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Module                  struct{ Main bool }
		}
		err := packages.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.Module.Main {
			continue
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			file := must.Get(parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution))(t)
			parsed = append(parsed, file)
		}
		checked := must.Get(config.Check(p.ImportPath, set, parsed, nil))(t)
		own[p.ImportPath], all = checked, append(all, checked)
	}
}

type importing func(path string) (*types.Package, error)

// Import implements types.Importer.
func (i importing) Import(path string) (*types.Package, error) { return i(path) }
