package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// A setup is one run of the command.
type setup struct {
	*app
	from           []string
	into, platform string
}

func newSetup() *cobra.Command {
	var s setup
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Get ONNX Runtime and the libraries that decode photos",
		Long: `Looks for ONNX Runtime, which is required, and for libvips and libheif, which decode
photos. What is missing is fetched by pip, of any Python, with its own settings, into the
user's cache; nothing of a package is run, and a file is installed only if it has the
SHA-256 that this program knows. Without a connection, --from names where they are.`,
		Example: `  pipeline setup
  pipeline setup --from onnxruntime-1.30.0-cp312-cp312-manylinux_2_28_x86_64.whl
  pipeline setup --platform linux/arm64 --into usb-stick`,
		Args: arguments,
		RunE: command(func(ctx context.Context, a *app, _ []string) error {
			s.app = a
			return s.run(ctx)
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.from, "from", nil,
		"take what is missing from a `file` (a package of PyPI, or a release archive), a folder of such files "+
			"or of what is in them, or the address of a file; may be repeated")
	f.StringVar(&s.into, "into", "",
		"put everything into this `folder`, for another machine")
	f.StringVar(&s.platform, "platform", "",
		"`os/processor` of the machine that --into is for (default: this machine's)")
	jsonFlag(f, "write the result as JSON")
	return cmd
}

// A setupLibrary is what became of a library.
type setupLibrary struct {
	Name string `json:"name"`
	// State is found (it was there), installed or missing.
	State string `json:"state"`
	File  string `json:"file,omitempty"`
	Error string `json:"error,omitempty"`

	libraries.Library `json:"-"`
	target            libraries.Target
	find              func() (string, error)
	err               error
	// refused says that a source had it, or should have had it, in another form.
	refused bool
	// without says what it means that it is missing.
	without string
}

// wanted reports whether it is missing and can be installed.
func (l *setupLibrary) wanted() bool { return l.State == libraryMissing && l.target.Dir != "" }

const (
	libraryFound     = "found"
	libraryInstalled = "installed"
	libraryMissing   = "missing"
)

func (s *setup) run(ctx context.Context) error {
	required := libraries.ONNXRuntime()
	s.platform = cmp.Or(s.platform, libraries.Platform())
	if s.into == "" && s.platform != libraries.Platform() {
		return usagef("--platform is for another machine: name the folder for its libraries with --into")
	} else if _, ok := required.For(s.platform); !ok && s.into != "" {
		return usagef("--platform %s: there are prepared libraries for %s", s.platform,
			strings.Join(required.Platforms(), ", "))
	}
	all := []*setupLibrary{
		s.look(required, s.findRuntime, s.config.Runtime.Library != "" || os.Getenv(ort.EnvLibrary) != ""),
	}
	for i, l := range libraries.Pictures() {
		find := func() (string, error) {
			path, _, err := []imagelib.Library{imagelib.Vips(), imagelib.Heif()}[i].Find()
			return path, err
		}
		all = append(all, s.look(l, find, os.Getenv(l.Env) != ""))
	}
	all[1].without = "photos are decoded in Go, which takes several times as long for large ones"
	all[2].without = "HEIC photos are not read"
	switch {
	case all[0].err != nil:
	case len(s.from) > 0:
		s.obtainFrom(ctx, all)
	default:
		s.obtain(ctx, all)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, l := range all {
		s.check(l)
	}
	return cmp.Or(s.print(all), all[0].err)
}

// look returns where a library is. One that the user has named must be right: no
// other takes its place.
func (s *setup) look(l libraries.Library, find func() (string, error), named bool) *setupLibrary {
	result := &setupLibrary{Name: l.Name, Library: l, State: libraryMissing, find: find}
	if len(s.from) == 0 && s.into == "" {
		if result.File, result.err = find(); result.err == nil {
			result.State = libraryFound
		}
		if result.err == nil || named {
			return result
		}
	}
	if result.target, result.err = s.target(l); result.err == nil && result.target.Present() {
		result.State = libraryFound
	}
	return result
}

// check sees that the program can use what was installed in the user's cache.
func (s *setup) check(l *setupLibrary) {
	switch {
	case l.State == libraryMissing:
	case s.into != "":
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

// target returns what to install where.
func (s *setup) target(l libraries.Library) (libraries.Target, error) {
	archive, ok := l.For(s.platform)
	if !ok {
		return libraries.Target{}, fmt.Errorf("there is no prepared one for %s; install it and set %s to its "+
			"library file", s.platform, l.Env)
	}
	dir := cmp.Or(s.into, l.CacheDir())
	if dir == "" {
		return libraries.Target{}, errNoHome
	}
	return libraries.Target{Library: l, Archive: archive, Dir: dir}, nil
}

var errNoHome = errors.New("there is no home folder to keep it in: set HOME or XDG_CACHE_HOME")

// obtainFrom installs what is missing from the sources that the user named.
func (s *setup) obtainFrom(ctx context.Context, all []*setupLibrary) {
	for _, source := range s.from {
		var wanted []libraries.Target
		for _, l := range all {
			if l.wanted() {
				wanted = append(wanted, l.target)
			}
		}
		if len(wanted) == 0 || ctx.Err() != nil {
			return
		}
		p := s.bars.begin(pipeline.Bytes, -1)
		found, err := libraries.From(ctx, source, wanted, p.Set)
		p.Finish()
		for _, l := range all {
			switch {
			case l.target.Dir == "": // none is prepared for this platform
			case l.wanted() && contains(found, l.target):
				l.State, l.err = libraryInstalled, nil
			case l.State == libraryMissing && err == nil:
				l.err = errors.Join(l.err, fmt.Errorf("%s: it is not there", source))
			case l.State == libraryMissing:
				l.err, l.refused = errors.Join(l.err, err), l.refused || !errors.Is(err, libraries.ErrNone)
			}
		}
	}
	for _, l := range all {
		if l.State != libraryMissing || l.refused || s.into != "" {
			continue
		}
		if _, err := l.find(); err == nil { // elsewhere on this machine, as without --from
			l.State, l.err = libraryFound, nil
		}
	}
}

func contains(targets []libraries.Target, one libraries.Target) bool {
	return slices.ContainsFunc(targets, func(t libraries.Target) bool { return t.Path() == one.Path() })
}

// obtain installs what is missing with pip.
func (s *setup) obtain(ctx context.Context, all []*setupLibrary) {
	missing := slices.DeleteFunc(slices.Clone(all), func(l *setupLibrary) bool { return !l.wanted() })
	if len(missing) == 0 {
		return
	}
	pip, err := libraries.FindPip()
	for _, l := range missing {
		if err != nil {
			l.err = errors.New(withoutPip)
			continue
		}
		size := l.target.Archive.Bytes
		fmt.Fprintf(s.stderr, "fetching %s (%d MB) with pip\n", l.Release(), (size+999_999)/1_000_000)
		p := s.bars.begin(pipeline.Bytes, size)
		l.err = pip.Obtain(ctx, l.target, p.Set)
		p.Finish()
		switch {
		case ctx.Err() != nil:
			return
		case l.err == nil:
			l.State = libraryInstalled
		}
	}
}

// withoutPip is what to do without pip.
const withoutPip = `it is missing, and pip, which would fetch it, is not installed; one of these helps:
  install pip (Debian, Ubuntu: apt-get install python3-pip; elsewhere it comes with Python) and run pipeline setup again
  run pipeline setup --into FOLDER on another machine (--platform names this one), and pipeline setup --from FOLDER here
  use the release archive, which contains the libraries (pipeline setup --from ARCHIVE takes them from it)`

func (s *setup) findRuntime() (string, error) {
	library, _, err := ort.Locate(s.config.Runtime.Library)
	if err != nil {
		return "", err
	}
	_, err = ort.Open(library)
	return library.Path, err
}

// print prints what became of the libraries.
func (s *setup) print(all []*setupLibrary) error {
	if s.json != "" {
		return s.writeJSON(map[string]any{"libraries": all})
	}
	for _, l := range all {
		if l.err == nil && l.State != libraryMissing {
			s.say("%s: %s (%s)", l.Name, l.File, l.State)
		}
	}
	if all[0].err != nil {
		return nil
	}
	for _, optional := range all[1:] {
		if optional.err != nil {
			fmt.Fprintf(s.stderr, "%v\nwithout it %s\n", optional.err, optional.without)
		}
	}
	return nil
}
