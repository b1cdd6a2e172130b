package serve

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

const (
	logSuffix  = ".log"
	lastSuffix = ".last.log" // of the run before
	mostOfLog  = 1 << 20     // bytes that the page shows, the last ones
)

// beginLog lets the program write its log into a file, too, beside that by which other starts find it. The one of the
// run before stays: whoever starts the program by a double click sees no terminal.
func (d *Desk) beginLog() error {
	name := d.file()
	if name == "" {
		return nil
	}
	err := atomicfile.Rename(name, d.lastLog())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if d.logFile, err = regularfile.EditOwn(name, 0o600); err != nil {
		return err
	}
	d.log = slog.New(slog.NewMultiHandler(d.log.Handler(), slog.NewTextHandler(d.logFile, nil)))
	d.studio = d.studio.With(pipeline.WithLogger(d.log))
	d.log.Info("the start page begins", "version", d.studio.Version(), "address", d.page)
	return nil
}

// CrashLog lets the last words of a program that fails badly go into the file of its log, too.
func (d *Desk) CrashLog() error {
	if d.logFile == nil {
		return nil
	}
	return debug.SetCrashOutput(d.logFile, debug.CrashOptions{}) // of the same place in the file
}

// file is that of the program's log, "" if there is none: where another start page has it.
func (d *Desk) file() string {
	if d.contact == "" {
		return ""
	}
	return strings.TrimSuffix(d.contact, ".json") + logSuffix
}

// logs are those that can be read.
func (d *Desk) logs() []string {
	logs := []string{}
	for of, name := range map[string]string{"now": d.file(), "last": d.lastLog()} {
		if info, err := os.Stat(name); name != "" && err == nil && info.Mode().IsRegular() {
			logs = append(logs, of)
		}
	}
	slices.Sort(logs)
	return logs
}

// lastLog is the file of the log of the run before, "" if there is none.
func (d *Desk) lastLog() string {
	name, ok := strings.CutSuffix(d.file(), logSuffix)
	if !ok {
		return ""
	}
	return name + lastSuffix
}

// readLog answers with the log of this run, or of the one before.
func (d *Desk) readLog(w http.ResponseWriter, r *http.Request) error {
	name := d.file()
	switch of := r.URL.Query().Get("of"); of {
	case "", "now":
	case "last":
		name = d.lastLog()
	default:
		return fail(http.StatusBadRequest, "of is %q: it is now or last", of)
	}
	f, size, err := regularfile.Open(name)
	if name == "" || errors.Is(err, fs.ErrNotExist) {
		return fail(http.StatusNotFound, "there is no such log")
	}
	if err != nil {
		return withoutPath(err)
	}
	defer f.Close()
	text := make([]byte, min(size, mostOfLog))
	n, err := f.ReadAt(text, size-int64(len(text)))
	if n < len(text) {
		return withoutPath(err)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text) // a client that is gone needs no answer
	return nil
}
