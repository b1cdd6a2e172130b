package label

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// An output is the result in one format: labels.csv, then labels-2.csv and so
// on when a file is full. No part has its final name before commit.
type output struct {
	dir, format string
	most        int // rows per part
	rows        int // in the last part
	parts       []part
}

// A part is a table and the file under it.
type part struct {
	table
	file *atomicfile.File
}

func (o *output) name(n int) string {
	if n == 1 {
		return "labels." + o.format
	}
	return fmt.Sprintf("labels-%d.%s", n, o.format)
}

func createOutput(dir, format string, most int) (*output, error) {
	o := &output{dir: dir, format: format, most: most}
	return o, o.next()
}

// next begins a part.
func (o *output) next() error {
	if n := len(o.parts); n > 0 {
		if err := o.parts[n-1].close(); err != nil {
			return err
		}
		o.parts[n-1].table = nil // frees its buffers
	}
	file, err := atomicfile.Create(filepath.Join(o.dir, o.name(len(o.parts)+1)))
	if err != nil {
		return err
	}
	o.parts, o.rows = append(o.parts, part{file: file}), 0
	t, err := newTable(o.format, file)
	o.parts[len(o.parts)-1].table = t
	return err
}

func (o *output) write(r Row) error {
	if o.most > 0 && o.rows == o.most {
		if err := o.next(); err != nil {
			return err
		}
	}
	o.rows++
	return o.parts[len(o.parts)-1].write(r)
}

// commit gives all parts their final names, removes surplus parts of an
// earlier, longer run, and returns the names.
func (o *output) commit() ([]string, error) {
	if err := o.parts[len(o.parts)-1].close(); err != nil {
		return nil, err
	}
	var names []string
	for i, p := range o.parts {
		if err := p.file.Commit(); err != nil {
			return nil, err
		}
		names = append(names, o.name(i+1))
	}
	return names, o.removeAfter(len(o.parts))
}

func (o *output) removeAfter(last int) error {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		middle, isPart := strings.CutPrefix(e.Name(), "labels-")
		number, ofFormat := strings.CutSuffix(middle, "."+o.format)
		n, err := strconv.Atoi(number)
		if isPart && ofFormat && err == nil && n > last && o.name(n) == e.Name() {
			errs = append(errs, os.Remove(filepath.Join(o.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

func (o *output) abort() {
	for _, p := range o.parts {
		p.file.Abort()
	}
}
