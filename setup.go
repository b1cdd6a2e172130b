package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
)

// A SetUpRequest says where the libraries come from that this machine lacks. The zero value gets them
// with pip.
type SetUpRequest struct {
	// From are files (packages of PyPI, release archives or libraries), folders of such files, and
	// addresses, which are searched in this order; none for pip.
	From []string
	// Into is a folder for everything, for another machine, and Platform its os/processor. "" is the
	// cache of the user, and this machine.
	Into, Platform string
}

// A Library is what became of a library of another project.
type Library struct {
	Name  string `json:"name"`
	State string `json:"state"`
	File  string `json:"file,omitempty"`
	Error string `json:"error,omitempty"`
}

// The states of a Library.
const (
	LibraryFound     = "found" // it was there
	LibraryInstalled = "installed"
	LibraryMissing   = "missing"
)

// SetUp is what Studio.SetUp returns.
type SetUp struct {
	// Libraries are ONNX Runtime, which is required, and those that decode photos.
	Libraries []Library `json:"libraries"`

	lines, without lines
}

// Lines say where the libraries are, for a person.
func (s *SetUp) Lines() []string { return s.lines }

// Without says why some are missing that are not required, and what that means.
func (s *SetUp) Without() []string { return s.without }

// SetUp gets the libraries that this machine lacks. The error is that of the one that is required.
func (s *Studio) SetUp(ctx context.Context, q SetUpRequest) (*SetUp, error) {
	required := libraries.ONNXRuntime()
	q.Platform = cmp.Or(q.Platform, libraries.Platform())
	if q.Into == "" && q.Platform != libraries.Platform() {
		return nil, misuse("{platform} is for another machine: name the folder for its libraries with {into}")
	} else if _, ok := required.For(q.Platform); !ok && q.Into != "" {
		return nil, misuse("{platform} %s: there are prepared libraries for %s", q.Platform,
			strings.Join(required.Platforms(), ", "))
	}
	w := &settingUp{SetUpRequest: q, Studio: s}
	all := []*library{
		w.look(required, s.findRuntime, s.settings.Library != "" || os.Getenv(ort.EnvLibrary) != ""),
	}
	for i, l := range libraries.Pictures() {
		find := func() (string, error) {
			path, _, err := []imagelib.Library{imagelib.Vips(), imagelib.Heif()}[i].Find()
			return path, err
		}
		all = append(all, w.look(l, find, os.Getenv(l.Env) != ""))
	}
	switch {
	case all[0].err != nil:
	case len(q.From) > 0:
		w.obtainFrom(ctx, all)
	default:
		w.obtain(ctx, all)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	done := w.result(all)
	return done, all[0].err
}

// A settingUp is a SetUpRequest that is being carried out.
type settingUp struct {
	SetUpRequest
	*Studio
}

// A library is looked for.
type library struct {
	Library
	pinned libraries.Library
	target libraries.Target
	find   func() (string, error)
	err    error
	// refused says that a source had it, or should have had it, in another form.
	refused bool
}

// wanted reports whether it is missing and can be installed.
func (l *library) wanted() bool { return l.State == LibraryMissing && l.target.Dir != "" }

// look returns where a library is. One that the user has named must be right: no
// other takes its place.
func (w *settingUp) look(pinned libraries.Library, find func() (string, error), named bool) *library {
	l := &library{Library: Library{Name: pinned.Name, State: LibraryMissing}, pinned: pinned, find: find}
	if len(w.From) == 0 && w.Into == "" {
		if l.File, l.err = find(); l.err == nil {
			l.State = LibraryFound
		}
		if l.err == nil || named {
			return l
		}
	}
	if l.target, l.err = w.target(pinned); l.err == nil && l.target.Present() {
		l.State = LibraryFound
	}
	return l
}

// target returns what to install where.
func (w *settingUp) target(l libraries.Library) (libraries.Target, error) {
	archive, ok := l.For(w.Platform)
	if !ok {
		return libraries.Target{}, fmt.Errorf("there is no prepared one for %s; install it and set %s to its "+
			"library file", w.Platform, l.Env)
	}
	dir := cmp.Or(w.Into, l.CacheDir())
	if dir == "" {
		return libraries.Target{}, errors.New("there is no home folder to keep it in: set HOME or XDG_CACHE_HOME")
	}
	return libraries.Target{Library: l, Archive: archive, Dir: dir}, nil
}

// obtainFrom installs what is missing from the sources that the user named.
func (w *settingUp) obtainFrom(ctx context.Context, all []*library) {
	for _, source := range w.From {
		var wanted []libraries.Target
		for _, l := range all {
			if l.wanted() {
				wanted = append(wanted, l.target)
			}
		}
		if len(wanted) == 0 || ctx.Err() != nil {
			return
		}
		p := w.listener.Begin(Bytes, -1)
		found, err := libraries.From(ctx, source, wanted, p.Set)
		p.Finish()
		for _, l := range all {
			got := slices.ContainsFunc(found, func(t libraries.Target) bool { return t.Path() == l.target.Path() })
			switch {
			case l.target.Dir == "": // none is prepared for this platform
			case l.wanted() && got:
				l.State, l.err = LibraryInstalled, nil
			case l.State == LibraryMissing && err == nil:
				l.err = errors.Join(l.err, fmt.Errorf("%s: it is not there", source))
			case l.State == LibraryMissing:
				l.err, l.refused = errors.Join(l.err, err), l.refused || !errors.Is(err, libraries.ErrNone)
			}
		}
	}
	for _, l := range all {
		if l.State != LibraryMissing || l.refused || w.Into != "" {
			continue
		}
		if _, err := l.find(); err == nil { // elsewhere on this machine, as without From
			l.State, l.err = LibraryFound, nil
		}
	}
}

// obtain installs what is missing with pip.
func (w *settingUp) obtain(ctx context.Context, all []*library) {
	missing := slices.DeleteFunc(slices.Clone(all), func(l *library) bool { return !l.wanted() })
	if len(missing) == 0 {
		return
	}
	pip, err := libraries.FindPip()
	for _, l := range missing {
		if err != nil {
			l.err = phrase.New(withoutPip)
			continue
		}
		size := l.target.Archive.Bytes
		w.say("fetching %s (%d MB) with pip", l.pinned.Release(), (size+999_999)/1_000_000)
		p := w.listener.Begin(Bytes, size)
		l.err = pip.Obtain(ctx, l.target, p.Set)
		p.Finish()
		switch {
		case ctx.Err() != nil:
			return
		case l.err == nil:
			l.State = LibraryInstalled
		}
	}
}

// withoutPip is what to do without pip.
const withoutPip = `it is missing, and pip, which would fetch it, is not installed; one of these helps:
  install pip (Debian, Ubuntu: apt-get install python3-pip; elsewhere it comes with Python) and run pipeline setup again
  run pipeline setup {into} FOLDER on another machine ({platform} names this one), and pipeline setup {from} FOLDER here
  use the release archive, which contains the libraries (pipeline setup {from} ARCHIVE takes them from it)`

func (s *Studio) findRuntime() (string, error) {
	library, _, err := ort.Locate(s.settings.Library)
	if err != nil {
		return "", err
	}
	_, err = ort.Open(library)
	return library.Path, err
}

// check sees that the program can use what was installed in the user's cache.
func (w *settingUp) check(l *library) {
	switch {
	case l.State == LibraryMissing:
	case w.Into != "":
		l.File = l.target.Path()
	default:
		file, err := l.find()
		l.File = file
		if err != nil {
			l.File, l.err = l.target.Path(), fmt.Errorf("it cannot be used on this machine: %w", err)
		}
	}
	if l.err != nil {
		l.err = fmt.Errorf("%s: %w", l.Name, l.err)
		l.Error = l.err.Error()
	}
}

// result says what became of the libraries.
func (w *settingUp) result(all []*library) *SetUp {
	s := &SetUp{}
	for i, l := range all {
		w.check(l)
		s.Libraries = append(s.Libraries, l.Library)
		if l.err == nil && l.State != LibraryMissing {
			s.lines.add("%s: %s (%s)", l.Name, l.File, l.State)
		}
		if l.err != nil && i > 0 && all[0].err == nil { // nothing is read without the first
			s.without.add("%v\nwithout it %s", l.err, []string{
				"photos are decoded in Go, which takes several times as long for large ones",
				"HEIC photos are not read",
			}[i-1])
		}
	}
	return s
}
