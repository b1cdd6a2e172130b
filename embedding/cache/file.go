package cache

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

const (
	extension = ".db"
	// pageBytes holds several rows, of which a database puts at least two on a page.
	pageBytes = 16 << 10
	// atOnce is a timeout after which a lock is not tried again.
	atOnce = 1
	// private is the mode of databases, privateDir of their folder: they say what photos show.
	private, privateDir fs.FileMode = 0o600, 0o700
)

var (
	errDamaged = errors.New("damaged")
	errEmpty   = errors.New("empty")  // another process has just made it
	errUnused  = errors.New("unused") // its process was killed before it wrote something
	errVersion = errors.New("written by another version, or by another program")
)

// A file is an open database.
type file struct {
	path   string
	db     *bolt.DB
	handle *os.File  // of db, which does not let go of it when it panics
	views  chan view // nil while there is nothing to read
	bytes  int64     // of the pages in use
	rows   int       // that this process has written
	stuck  bool      // a lock of db may be held for ever
	noted  atomic.Bool
}

// A view is the state of a database between two writes, for one goroutine. Reading it takes no
// lock that a panic would leave behind.
type view struct {
	tx                *bolt.Tx
	rows, keys, paths *bolt.Bucket
}

// viewsPerFile is how many goroutines read a database at once.
const viewsPerFile = 8

// guard runs what reads a mapped file. The database panics where a page makes no sense, and
// where the file has been cut meanwhile the system raises a fault: both become errors.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: %v", errDamaged, reason)
		}
	}()
	return do()
}

// create makes a database that only this process writes, and others do not open until it is
// closed.
func create(dir string) (*file, error) {
	if err := os.MkdirAll(dir, privateDir); err != nil {
		return nil, err
	}
	// The order of names is that of age.
	name := fmt.Sprintf("%016x-%s%s", time.Now().UnixNano(), rand.Text(), extension)
	f := &file{path: filepath.Join(dir, name)}
	err := guard(func() (err error) {
		f.db, err = bolt.Open(f.path, private, &bolt.Options{
			PageSize: pageBytes, FreelistType: bolt.FreelistMapType, NoStatistics: true,
			Timeout: atOnce, OpenFile: f.makeFile,
		})
		return err
	})
	if err == nil {
		return f, nil
	}
	if f.handle != nil {
		err = errors.Join(err, f.discard())
	}
	return nil, err
}

func (f *file) makeFile(name string, _ int, mode fs.FileMode) (handle *os.File, err error) {
	f.handle, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	return f.handle, err
}

// open opens a database that nobody writes any more, for reading. It fails with
// errors.ErrTimeout of bbolt if somebody does.
func open(path string) (*file, error) {
	f := &file{path: path}
	err := guard(func() (err error) {
		f.db, err = bolt.Open(path, 0, &bolt.Options{
			ReadOnly: true, NoStatistics: true, Timeout: atOnce, OpenFile: f.openFile,
		})
		if err != nil {
			return err
		}
		return f.db.View(f.check)
	})
	f.stuck = errors.Is(err, errDamaged)
	if err == nil {
		err = f.begin()
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *file) openFile(name string, _ int, _ fs.FileMode) (handle *os.File, err error) {
	var bytes int64
	f.handle, bytes, err = regularfile.Open(name)
	if err == nil && bytes == 0 {
		return nil, errEmpty
	}
	return f.handle, err
}

// close gives the lock back. A database that is stuck would wait for itself for ever, so only
// its file is closed.
func (f *file) close() error {
	f.end()
	if f.db != nil && !f.stuck {
		return guard(f.db.Close)
	}
	if f.handle == nil {
		return nil
	}
	if err := f.handle.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// discard closes and removes the database.
func (f *file) discard() error { return errors.Join(f.close(), atomicfile.Remove(f.path)) }

// begin makes the views.
func (f *file) begin() error {
	views := make(chan view, viewsPerFile)
	err := guard(func() error {
		for range viewsPerFile {
			tx, err := f.db.Begin(false)
			if err != nil {
				return err
			}
			f.bytes = tx.Size()
			views <- view{tx, tx.Bucket(rowBucket), tx.Bucket(keyBucket), tx.Bucket(pathBucket)}
		}
		return nil
	})
	f.views, f.stuck = views, f.stuck || err != nil
	return err
}

// end gives the views back.
func (f *file) end() {
	for range len(f.views) {
		_ = (<-f.views).tx.Rollback() // it has changed nothing
	}
	f.views = nil
}

// look reads; what is found damaged is an error.
func (f *file) look(read func(v view) error) error {
	if f.views == nil {
		return nil
	}
	v := <-f.views
	defer func() { f.views <- v }()
	return guard(func() error { return read(v) })
}

// row returns the embedding of a key, nil if there is none.
func (f *file) row(key rowKey) (row []float32, err error) {
	err = f.look(func(v view) error {
		number := v.keys.Get(key[:])
		if number == nil {
			return nil
		}
		sound := false
		if row, sound = parseRow(v.rows.Get(number), key); !sound {
			row = nil
			return fmt.Errorf("%w: row %x", errDamaged, number)
		}
		return nil
	})
	return row, err
}

// content returns the hash of a file that has not changed since it was recorded.
func (f *file) content(key pathKey, state FileState) (h Hash, known bool, err error) {
	err = f.look(func(v view) error {
		record := v.paths.Get(key[:])
		if record == nil {
			return nil
		}
		then, of, sound := parsePath(record, key)
		if !sound {
			return fmt.Errorf("%w: the state of a file", errDamaged)
		}
		h, known = of, then.same(state)
		return nil
	})
	return h, known, err
}

// write adds a batch, all of it or nothing. Nobody reads meanwhile.
func (f *file) write(b *batch) error {
	f.end()
	err := guard(func() error { return f.db.Update(b.store) })
	if f.stuck = errors.Is(err, errDamaged); f.stuck {
		return err
	}
	if err == nil {
		f.rows += len(b.rows) + len(b.paths)
	}
	if f.rows == 0 {
		return err
	}
	return errors.Join(err, f.begin())
}
