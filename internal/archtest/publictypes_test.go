package archtest

import (
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inward are the exported names that name a type of an internal package. The list only shrinks.
var inward = []string{
	// Another program gets what these take from embedding.Options.Runtime, without a name for it.
	"extractor.Open", "embedding.Options.Runtime", "words/textencoder.Open", "linalg/native.Choose",
	// These are for packages of this module: for package model, and for the servers and commands of one user.
	"model/prior.Decode", "model/prior.Prior.Encode", "teach.Control", "teach.Session.OpenControl",
}

var internalType = regexp.MustCompile(regexp.QuoteMeta(module) + `(?:[\w/]*/)?internal/`)

// TestPublicNamesUsePublicTypes: what another program can import, it can also call.
func TestPublicNamesUsePublicTypes(t *testing.T) {
	var found []string
	check := func(name string, of types.Type) {
		if internalType.MatchString(types.TypeString(of, nil)) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	for _, p := range checkedPackages(t) {
		folder := strings.TrimPrefix(strings.TrimPrefix(p.Path(), strings.TrimSuffix(module, "/")), "/")
		room, _, _ := strings.Cut(folder, "/")
		if slices.Contains(strings.Split(folder, "/"), "internal") || strings.HasSuffix(folder, "test") ||
			slices.Contains([]string{"cmd", "research", "scripts", "bench"}, room) {
			continue
		}
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				eachPart(folder+"."+name, o, check)
			}
		}
	}
	slices.Sort(found)
	for _, name := range found {
		if !slices.Contains(inward, name) {
			t.Errorf("%s names a type of an internal package, which no other program can", name)
		}
	}
	for _, name := range inward {
		if !slices.Contains(found, name) {
			t.Errorf("%s needs no exception", name)
		}
	}
}

// eachPart calls use with the type of an object, or with those of the exported fields and methods of one
// that is a type.
func eachPart(name string, o types.Object, use func(name string, of types.Type)) {
	declared, ok := o.(*types.TypeName)
	if !ok || declared.IsAlias() {
		use(name, o.Type())
		return
	}
	if s, ok := o.Type().Underlying().(*types.Struct); ok {
		for field := range s.Fields() {
			if field.Exported() {
				use(name+"."+field.Name(), field.Type())
			}
		}
	} else {
		use(name, o.Type().Underlying())
	}
	methods := types.NewMethodSet(types.NewPointer(o.Type()))
	for i := range methods.Len() {
		if m := methods.At(i).Obj(); m.Exported() {
			use(name+"."+m.Name(), m.Type())
		}
	}
}
