package serve

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/teach"
)

//go:embed page
var page embed.FS

//go:embed openapi.yaml
var description []byte

// An Embedder is what the server needs of an embedding.Embedder.
type Embedder interface {
	EmbedSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample],
		emit func(pixels.Item) error) (pixels.Counts, error)
	EmbedContents(ctx context.Context, files [][]byte) ([]pixels.Item, error)
	Thumbnail(ctx context.Context, file string, side int) (jpeg []byte, of cache.Hash, err error)
	BoxThumbnail(ctx context.Context, file string, b *dataset.Box, side int) (jpeg []byte, of cache.Hash, err error)
}

// Options configure a Server.
type Options struct {
	// Session may be set later, before Serve.
	Session  *teach.Session
	Embedder Embedder
	// Words opens the text side of the network, at the first search; nil if there is none.
	Words func() (Wording, error)
	// Root is the folder of photos, and Scan lists what is in it: photos, or the boxes in
	// them, those of a photo one after another.
	Root string
	Scan func(ctx context.Context) ([]dataset.Sample, error)
	// Boxed tells how the photos of the last scan and the boxes fit; nil for whole photos.
	Boxed func() dataset.BoxesFound
	// Events says that the session has events.
	Events bool
	// FileTimes takes the time of a photo that tells none from its file's last change.
	FileTimes bool
	// Rescan is the least time between two looks into the folder; 0 means five seconds.
	Rescan time.Duration
	// Title and Name are those of the page and of the MODEL file.
	Title, Name string
	// Thumbnails is the folder in which thumbnails are kept.
	Thumbnails string
	// Of Config, Addr is not used, and without a Token only the loopback names are accepted as hosts.
	Config
	// Entrance is how other commands find the page; without one they only hand over work.
	Entrance Entrance
	// Quit ends the server as whoever started it would; nil if a page may not.
	Quit func()
	// Start is where the start page is (Desk), relative to this one; "" if there is none.
	Start string
	// Version is the build of the program, for /metrics.
	Version string
	Log     *slog.Logger
}

// A Server serves a session.
type Server struct {
	Options
	*intake
	words    words
	hub      hub
	unseen   chan struct{}      // wakes look
	looks    chan chan struct{} // into the folder; each is closed afterwards
	pictures chan struct{}
	unread   atomic.Pointer[string] // why the folder cannot be read now
	// unreadable are files of it.
	unreadable damaged
	statuses   struct {
		sync.Mutex // a later number means a later state
		n          int
	}
}

// Bounds of what clients may ask for.
const (
	maxBody      = 64 << 20 // of photos
	maxJSON      = 8 << 20
	maxPhotos    = 64 // in one request
	maxImages    = 100_000
	uploadMemory = 512 << 20
	uploadStep   = 64 << 10 // taken at a time
	uploadGrace  = 10 * time.Second
	uploadRate   = 256 << 10 // bytes per second
	maxPictures  = 4         // thumbnails made at a time
	headerTime   = 5 * time.Second
	requestTime  = time.Minute
	idleTime     = 2 * time.Minute
	shutdownTime = 800 * time.Millisecond
)

// New returns a server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rescan == 0 {
		o.Rescan = 5 * time.Second
	}
	return &Server{
		Options: o, words: newWords(), hub: hub{clients: map[chan string]bool{}},
		intake: newIntake(o.Embedder, o.Formats, semaphore.NewWeighted(uploadMemory), newMetrics(o.Version)),
		unseen: make(chan struct{}, 1), looks: make(chan chan struct{}), pictures: make(chan struct{}, maxPictures),
	}
}

// Changed tells the pages of an event; it is for teach.Options.
func (s *Server) Changed(event string) { s.hub.send(event) }

// Serve serves on l until ctx ends, then answers what it has begun for less than a
// second.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Session == nil || s.Embedder == nil || s.Scan == nil {
		return errors.New("serve: set Session, Embedder and Scan of the server")
	}
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	working := make(chan error, 1)
	go func() { working <- s.Work(own) }()
	err := serveOn(own, l, s.Handler(), s.Log)
	cancel()
	return errors.Join(err, <-working)
}

// Work reads the folder, computes the photos of requests and takes the work of commands, until
// ctx ends. What it computes with, such as the embedder, may be closed after that.
func (s *Server) Work(ctx context.Context) error {
	closeControl := s.openControl(ctx)
	var working sync.WaitGroup
	working.Go(func() { s.watch(ctx) })
	working.Go(func() { s.compute(ctx) })
	working.Go(func() { s.look(ctx) })
	working.Go(func() { s.heal(ctx) })
	<-ctx.Done()
	closeControl()
	working.Wait()
	return s.words.close()
}

// serveOn answers requests on l until ctx ends, and with them all that has begun.
func serveOn(ctx context.Context, l net.Listener, handler http.Handler, log *slog.Logger) error {
	return serveUntil(ctx, ctx, l, handler, log)
}

// serveUntil answers requests on l until ctx ends, then what it has begun for less than a
// second, unless until ends first.
func serveUntil(ctx, until context.Context, l net.Listener, handler http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler: recovering(handler, log), BaseContext: func(net.Listener) context.Context { return until },
		ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10,
		WriteTimeout: requestTime, // a client that does not read is cut; events and long answers set their own time
		ErrorLog:     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(l) }()
	var err error
	select {
	case err = <-serving:
	case <-ctx.Done():
		stop, done := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer done()
		if server.Shutdown(stop) != nil {
			err = server.Close()
		}
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// recovering answers a request whose handler panicked, and logs that with the stack as an error;
// net/http would only drop the connection.
func recovering(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			if fault != http.ErrAbortHandler {
				log.Error("a request failed: this is a bug, please report it", "request", r.Method+" "+r.URL.Path,
					"reason", fault, "stack", string(debug.Stack()))
			}
			if fault == http.ErrAbortHandler || w.Header().Get("Content-Type") != "" { // an answer has begun
				panic(http.ErrAbortHandler)
			}
			refuse(w, http.StatusInternalServerError, "the program has a bug here: its log says more")
		}()
		next.ServeHTTP(w, r)
	})
}

// routes returns those of the API; openapi.yaml describes them.
func (s *Server) routes() map[string]handler {
	return map[string]handler{
		"POST /v1/label":              s.label,
		"POST /v1/embed":              s.embeddings,
		"GET /v1/models":              s.models,
		"POST /v1/learn":              s.learn,
		"GET /v1/images":              s.images,
		"GET /v1/images/{id}":         s.image,
		"GET /v1/images/{id}/thumb":   s.thumb,
		"GET /v1/images/{id}/photo":   s.photo,
		"GET /v1/images/{id}/similar": s.similar,
		"POST /v1/similar":            s.similarTo,
		"GET /v1/search":              s.search,
		"GET /v1/groups":              s.groups,
		"GET /v1/duplicates":          s.duplicates,
		"GET /v1/unreadable":          s.unreadableFiles,
		"GET /v1/map":                 s.chart,
		"POST /v1/map":                s.arrange,
		"GET /v1/classes":             s.classes,
		"POST /v1/decisions":          s.decide,
		"GET /v1/accept":              s.acceptable,
		"POST /v1/accept":             s.accept,
		"POST /v1/check":              s.check,
		"POST /v1/undo":               s.undo,
		"POST /v1/redo":               s.redo,
		"POST /v1/back":               s.goBack,
		"POST /v1/forget":             s.forget,
		"GET /v1/history":             s.history,
		"GET /v1/points":              s.points,
		"POST /v1/save":               s.save,
		"POST /v1/look":               s.lookAgain,
		"POST /v1/quit":               s.quit,
		"GET /v1/labels.csv":          s.labels,
		"GET /v1/copies.csv":          s.copies,
		"GET /v1/status":              s.status,
		"GET /v1/events":              s.events,
		"GET /healthz":                s.health,
		"GET /readyz":                 s.health,
		"GET /metrics":                s.writeMetrics,
		"GET /openapi.yaml":           describe,
	}
}

// Handler returns the handler of all routes, and of the page.
func (s *Server) Handler() http.Handler {
	mux := s.metrics.mux(s.routes(), s.Log)
	mux.Handle("/", only(http.FileServerFS(pageFiles()), "GET, HEAD"))
	g := s.guard()
	return g.prefixed(g.protect(mux))
}

// pageFiles returns the files of the page.
func pageFiles() fs.FS {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return files
}

// A failure is an error with a status code.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func fail(code int, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

func codeOf(err error) int {
	var f *failure
	var refused *teach.Refusal
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &refused):
		return map[teach.Reason]int{
			teach.Invalid: http.StatusBadRequest, teach.Unknown: http.StatusNotFound,
			teach.Conflict: http.StatusConflict,
			teach.Changed:  http.StatusConflict, teach.Lost: http.StatusServiceUnavailable,
			teach.Unkept: http.StatusServiceUnavailable,
		}[refused.Reason]
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func textOf(err error, code int) string {
	var large *http.MaxBytesError
	var refused *teach.Refusal
	switch {
	case errors.As(err, &refused):
		return refused.Text // without paths
	case errors.As(err, &large):
		return fmt.Sprintf("the body is larger than %d bytes: send fewer or smaller photos at a time", large.Limit)
	case code == http.StatusServiceUnavailable && errors.Is(err, context.Canceled):
		return "the server is stopping"
	}
	return err.Error()
}
