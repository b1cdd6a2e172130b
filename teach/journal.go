package teach

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// ErrInUse means that another process has the journal.
var ErrInUse = errors.New("in use by another server or command: stop it, or choose another model")

// A journal is an append-only file of lines. One process has it at a time.
type journal struct {
	// Dropped says what was missing at the end of the file; "" for nothing.
	Dropped string

	path       string
	replace    func(path string, write func(*atomicfile.File) error) error
	file       *os.File
	lock       *flock.Flock
	size       int64
	lines      []Line
	embeddings map[ID][]float32
	// dim is the number of values of an embedding, 0 before dimLine has the first one.
	dim, dimLine int
	broken       error
	keeping      keeping
}

// openJournal opens a journal, or begins one. A last line without its end, which was
// never acknowledged, is dropped; any other damage is an error that names the line.
// ErrInUse reports that another process has it.
func openJournal(path string) (*journal, error) {
	j := &journal{path: path, replace: atomicfile.Write, embeddings: map[ID][]float32{}}
	var err error
	if j.lock, err = regularfile.Lock(path + lockSuffix); err != nil {
		return nil, j.named(err)
	}
	held, err := j.lock.TryLock()
	switch {
	case err != nil:
		return nil, j.named(ofWhom(err, path+lockSuffix))
	case !held:
		return nil, j.named(inUse(path))
	}
	if err := j.open(); err != nil {
		return nil, errors.Join(j.named(err), j.Close())
	}
	return j, nil
}

// private is the mode of journals: they say who decided what.
const private = 0o600

func (j *journal) named(err error) error { return fmt.Errorf("journal %s: %w", j.path, err) }

func (j *journal) open() error {
	_, created := os.Stat(j.path)
	var err error
	if j.file, err = regularfile.Edit(j.path, private); err != nil {
		return err
	}
	if errors.Is(created, fs.ErrNotExist) {
		if err := atomicfile.SyncDir(filepath.Dir(j.path)); err != nil {
			return err
		}
	}
	if err := j.read(); err != nil {
		return err
	}
	return j.cut()
}

// read reads all lines, and sets size to the end of the last complete one.
func (j *journal) read() error {
	r := bufio.NewReaderSize(j.file, 1<<20)
	for {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			if len(text) > 0 {
				j.Dropped = fmt.Sprintf("the last %d bytes, a line that was never finished", len(text))
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := j.parse(text); err != nil {
			return damaged(len(j.lines)+1, err)
		}
		j.size += int64(len(text))
	}
}

// parse adds the line of a text.
func (j *journal) parse(text []byte) error {
	var l Line
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is more after its end")
	}
	if err := j.check(l); err != nil {
		return err
	}
	j.take(l)
	return nil
}

// take adds a line, and moves its embeddings.
func (j *journal) take(l Line) {
	for id, b := range l.Embeddings {
		j.embeddings[id] = valuesOf(b)
		if j.dim == 0 {
			j.dim, j.dimLine = len(b)/4, l.Seq
		}
	}
	l.Embeddings = nil
	j.lines = append(j.lines, l)
}

// cut makes the file end after the last complete line, and writing continue there.
func (j *journal) cut() error {
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.file.Seek(j.size, io.SeekStart)
	return err
}

// append numbers a line, writes it, and returns it without its embeddings once it is on
// disk, in the file that has the name of the journal. After an error the journal is as
// before.
func (j *journal) append(l Line) (Line, error) {
	if err := j.settle(); err != nil {
		return l, j.named(j.unkept(err, j.keeping.bytes))
	}
	if err := j.intact(); err != nil {
		return l, err
	}
	l.Seq, l.Time = len(j.lines)+1, l.Time.UTC()
	text, err := json.Marshal(l)
	if err == nil {
		err = j.check(l)
	}
	if err != nil {
		return l, j.named(err)
	}
	text = append(text, '\n')
	if err := j.put(text); err != nil {
		return l, j.named(err)
	}
	j.size += int64(len(text))
	j.take(l)
	l.Embeddings = nil
	return l, nil
}

// embedding returns the embedding that a line has of a photo; nil for none.
func (j *journal) embedding(id ID) []float32 { return j.embeddings[id] }

// Forget removes photos from all lines, which keep their numbers, and their
// embeddings. It returns which of the photos the journal named.
func (j *journal) Forget(gone map[ID]bool) (named map[ID]bool, err error) {
	named = map[ID]bool{}
	lines := slices.Clone(j.lines)
	for i, l := range lines {
		kept, classes := []ID(nil), []string(nil)
		for k, id := range l.Images {
			if gone[id] {
				named[id] = true
				continue
			}
			kept = append(kept, id)
			if l.severalClasses() {
				classes = append(classes, l.Classes[k])
			}
		}
		if len(kept) < len(l.Images) {
			lines[i].Images = kept
			if l.severalClasses() {
				lines[i].Classes = classes
			}
			lines[i].Shows = maps.Clone(l.Shows)
			maps.DeleteFunc(lines[i].Shows, func(id ID, _ []string) bool { return gone[id] })
			if l.Do == Label {
				lines[i].Was, lines[i].P = "", 0
			}
		}
	}
	if len(named) == 0 {
		return named, nil
	}
	return named, j.rewrite(lines, gone)
}

// rebase sets the SHA-256 of the base model, and of one that is about to replace it,
// "" for none.
func (j *journal) rebase(hash, next string) error {
	lines := slices.Clone(j.lines)
	lines[0].Model, lines[0].To = hash, next
	return j.rewrite(lines, nil)
}

// rewrite replaces the file by one of the given lines.
func (j *journal) rewrite(lines []Line, gone map[ID]bool) error {
	if err := j.intact(); err != nil {
		return j.named(err)
	}
	return j.write(lines, gone)
}

// restore writes the journal again, with all lines.
func (j *journal) restore() error { return j.write(slices.Clone(j.lines), nil) }

// write gives a file of the given lines, and the permissions of the present one, the
// name of the journal.
func (j *journal) write(lines []Line, gone map[ID]bool) (err error) {
	defer func() {
		if err != nil {
			err = j.named(err)
		}
	}()
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	named, _ := os.Stat(j.path)
	replaces := os.SameFile(info, named)
	embeddings := map[ID][]float32{}
	var wrote fs.FileInfo
	err = j.replace(j.path, func(f *atomicfile.File) error {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
		w := bufio.NewWriter(f)
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(true)
		for _, l := range lines {
			for _, id := range l.Images {
				if row, ok := j.embeddings[id]; ok && embeddings[id] == nil && !gone[id] {
					embeddings[id] = row
					l.embed(id, row)
				}
			}
			if err := encoder.Encode(l); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if wrote, err = f.Stat(); err == nil && replaces {
			err = j.release() // on Windows, what is open cannot be replaced
		}
		return err
	})
	named, statErr := os.Stat(j.path)
	switch {
	case wrote != nil && os.SameFile(wrote, named):
		return errors.Join(err, j.follow(lines, embeddings))
	case j.file == nil:
		err = errors.Join(err, j.reopen(info))
	}
	return cmp.Or(err, statErr)
}

// reopen goes on with the file that write released and could not replace.
func (j *journal) reopen(was fs.FileInfo) (err error) {
	if named, _ := os.Stat(j.path); !os.SameFile(was, named) {
		err = errors.New("another program has replaced it")
	}
	if err == nil {
		j.file, err = regularfile.Edit(j.path, private)
	}
	if err == nil {
		_, err = j.file.Seek(j.size, io.SeekStart)
	}
	if err != nil {
		j.broken = fmt.Errorf("journal %s: restart the server: %w", j.path, err)
	}
	return j.broken
}

// follow goes on with the file that write has given the name of the journal. That may be so
// after an error, if only its folder could not be synced.
func (j *journal) follow(lines []Line, embeddings map[ID][]float32) (err error) {
	file, err := regularfile.Edit(j.path, private)
	if err != nil {
		j.broken = fmt.Errorf("restart the server: %w", err)
		return j.broken
	}
	old := j.release() // of a file without a name
	j.file, j.lines, j.embeddings, j.keeping.torn = file, lines, embeddings, false
	if j.size, err = file.Seek(0, io.SeekEnd); err != nil {
		j.broken = fmt.Errorf("restart the server: %w", err)
	}
	return errors.Join(err, old)
}

// intact returns an error unless a line can be added to the file with the name of the
// journal.
func (j *journal) intact() error {
	switch {
	case j.broken != nil:
		return j.broken
	case j.keeping.torn:
		return j.keeping.last
	}
	return displaced(j.file, j.path, j.size)
}

// embed adds the embedding of a photo to a line.
func (l *Line) embed(id ID, row []float32) {
	b := make([]byte, 0, 4*len(row))
	for _, v := range row {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	if l.Embeddings == nil {
		l.Embeddings = map[ID][]byte{}
	}
	l.Embeddings[id] = b
}

// Close frees the journal for other processes.
func (j *journal) Close() error {
	return errors.Join(j.release(), j.lock.Unlock())
}

// release closes the file, but keeps the lock.
func (j *journal) release() error {
	if j.file == nil {
		return nil
	}
	f := j.file
	j.file = nil
	return f.Close()
}

// remove removes the file. The lock remains until Close.
func (j *journal) remove() error { return errors.Join(j.release(), atomicfile.Remove(j.path)) }
