package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"sync"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/wording"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/model"
)

// Settings say how photos and texts become embeddings, and what computes. Zero values are defaults.
type Settings struct {
	// Network is that of new models: a name from the catalogue or an ONNX file; "" is
	// EfficientNet-Lite0. A model finds its own, unless Network names a copy of it.
	Network string
	// Cache is the folder of embeddings and networks; "" is the user's.
	Cache string
	// Threads is the number of photos processed at once; 0 means one per core.
	Threads    int
	Preprocess embedding.Preprocess
	Extractor  extractor.Config
	Text       wording.Config
	Linalg     native.Config
	// Library is the path of ONNX Runtime's shared library; "" searches for it.
	Library string
}

// DefaultSettings are those of every command.
func DefaultSettings() Settings {
	return Settings{
		Preprocess: embedding.DefaultPreprocess(), Extractor: extractor.DefaultConfig(), Text: wording.DefaultConfig(),
		Linalg: native.DefaultConfig(),
	}
}

// maxThreads is far above the cores of a machine; each thread takes memory.
const maxThreads = 1024

// Validate returns an error that names the first setting that is out of range.
func (s Settings) Validate() error {
	if s.Threads < 0 || s.Threads > maxThreads {
		return fmt.Errorf("threads: %d is not in 0…%d; use 0 for all cores", s.Threads, maxThreads)
	}
	for _, section := range []struct {
		prefix string
		err    error
	}{
		{"linalg.", valid(s.Linalg)}, {"preprocess.", valid(s.Preprocess)}, {"", valid(s.Extractor)},
		{"text.", valid(s.Text)},
	} {
		if section.err != nil {
			return fmt.Errorf("%s%w", section.prefix, section.err)
		}
	}
	return nil
}

// valid returns what is wrong with settings, of which the zero value stands for the default.
func valid(settings interface{ Validate() error }) error {
	if reflect.ValueOf(settings).IsZero() {
		return nil
	}
	return settings.Validate()
}

// A Studio holds what all requests share: networks, caches, back ends, and who listens. Its
// methods are what a person asks for, one each. It is safe for concurrent use.
type Studio struct {
	settings Settings
	// network is that of new models, "" for the program's.
	network  string
	version  string
	until    context.Context // ends the networks of a Teaching
	log      *slog.Logger
	listener Listener
	products func() (native.Choice, error)
}

// A Listener hears how far a request is.
type Listener interface {
	// Say hears a line about the work while it goes on. Its names are as people gave them: what
	// prints them makes them printable.
	Say(line string)
	// Begin hears that units are counted from here on, such as "images"; total is 0 or less if
	// nobody knows how many there are.
	Begin(unit string, total int64) Counter
}

// A Counter hears how many units are done, from any goroutine.
type Counter interface {
	Add()
	// Set says how many are done, and of how many.
	Set(done, total int64)
	Finish()
}

// The units that are counted.
const (
	Images  = "images"
	Methods = "methods" // that are compared
	Bytes   = "bytes"   // that are fetched
)

// An Option changes a Studio that is being opened.
type Option func(*Studio)

// WithNetwork names the network of new models: one of the catalogue, or an ONNX file.
func WithNetwork(name string) Option { return func(s *Studio) { s.settings.Network = name } }

// WithDefaultNetwork names the network of new models where the settings name none; "" is that of the program.
func WithDefaultNetwork(name string) Option { return func(s *Studio) { s.network = name } }

// WithCache sets the folder of embeddings and networks.
func WithCache(dir string) Option { return func(s *Studio) { s.settings.Cache = dir } }

// WithThreads sets the number of photos that are processed at once.
func WithThreads(n int) Option { return func(s *Studio) { s.settings.Threads = n } }

// WithLogger takes remarks and warnings, which are otherwise dropped.
func WithLogger(log *slog.Logger) Option { return func(s *Studio) { s.log = log } }

// WithListener tells somebody how far requests are.
func WithListener(l Listener) Option { return func(s *Studio) { s.listener = l } }

// WithSettings replaces all settings.
func WithSettings(settings Settings) Option { return func(s *Studio) { s.settings = settings } }

// WithVersion is recorded in what the Studio writes.
func WithVersion(version string) Option { return func(s *Studio) { s.version = version } }

// Open returns a Studio. The network of a Teaching ends with ctx, all others with their requests.
func Open(ctx context.Context, options ...Option) (*Studio, error) {
	s := &Studio{
		settings: DefaultSettings(), version: "library", until: ctx, log: slog.New(slog.DiscardHandler),
		listener: deaf{},
	}
	for _, option := range options {
		option(s)
	}
	s.products = sync.OnceValues(func() (native.Choice, error) {
		return native.Choose(s.settings.Linalg, embedding.Options{Library: s.settings.Library}.Runtime)
	})
	if err := s.settings.Validate(); err != nil {
		return nil, &UsageError{err}
	}
	return s, ctx.Err()
}

// With returns a Studio that shares the back ends of s and differs in what the options change.
func (s *Studio) With(options ...Option) *Studio {
	other := *s
	for _, option := range options {
		option(&other)
	}
	return &other
}

// deaf hears nothing.
type deaf struct{}

func (deaf) Say(string)                  {}
func (deaf) Begin(string, int64) Counter { return deaf{} }
func (deaf) Add()                        {}
func (deaf) Set(int64, int64)            {}
func (deaf) Finish()                     {}

// Options returns the options to open a network with, one of a model or a new one. What runs in it
// ends with ctx.
func (s *Studio) Options(ctx context.Context) embedding.Options {
	c := s.settings
	return embedding.Options{
		Backbone: c.Network, New: s.network, Extractor: c.Extractor, Preprocess: c.Preprocess,
		Cache: c.Cache, Threads: s.workers(), Library: c.Library, ToolVersion: s.version, Log: s.log,
		Progress: s.counting(Images), Until: ctx,
	}
}

// Log is where remarks and warnings go.
func (s *Studio) Log() *slog.Logger { return s.log }

// Version is recorded in what the Studio writes.
func (s *Studio) Version() string { return s.version }

func (s *Studio) workers() int { return cmp.Or(s.settings.Threads, runtime.GOMAXPROCS(0)) }

// counting returns a function that begins to count units.
func (s *Studio) counting(unit string) func(total int) (step, finish func()) {
	return func(total int) (step, finish func()) {
		c := s.listener.Begin(unit, int64(total))
		return c.Add, c.Finish
	}
}

// Products returns the back end of large matrix products, which is chosen on first use. They end
// with ctx.
func (s *Studio) Products(ctx context.Context) (native.Choice, error) {
	choice, err := s.products()
	choice.Backend = linalg.Until(ctx, choice.Backend)
	return choice, err
}

// folder returns a folder inside the cache.
func (s *Studio) folder(name string) (string, error) {
	dir, err := embedding.Options{Cache: s.settings.Cache}.CacheDir()
	return filepath.Join(dir, name), err
}

func (s *Studio) say(format string, args ...any) { s.listener.Say(fmt.Sprintf(format, args...)) }

// A run is one request while it is carried out.
type run struct {
	*Studio
	// embed are the options of networks, which end with the run.
	embed embedding.Options
	// said are the remarks that are made once.
	said map[string]bool
}

func (s *Studio) begin(ctx context.Context) *run {
	return &run{s, s.Options(ctx), map[string]bool{}}
}

// load reads a MODEL and gives its head the chosen back end.
func (r *run) load(file string) (*model.Model, error) {
	m, err := model.Load(file)
	if err != nil {
		return nil, err
	}
	products, err := r.Products(r.embed.Until)
	if err != nil {
		return nil, err
	}
	m.Predictor.UseBackend(products.Backend)
	return m, nil
}

// closeInto closes c and joins an error of Close to err.
func closeInto(c io.Closer, err *error) {
	if closing := c.Close(); closing != nil {
		*err = errors.Join(*err, closing)
	}
}

// plural is "1 image" or "2 images".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// lines are what a person is told of a result.
type lines []string

func (l *lines) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }
