// Package parquetfile reads the columns of Parquet files that hold one value per
// row, within a quota of memory.
//
// The library, parquet-go, decodes values; it trusts what a file says of their
// number and size. So files, pages and what is compressed in them are read here, and
// the library gets a page only when its sizes and counts are known to fit.
package parquetfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

const magic = "PAR1"

// Errors about a file.
var (
	// ErrDamaged means that a file violates its format.
	ErrDamaged = errors.New("damaged Parquet file")
	// ErrUnsupported means that a file is valid as far as read, but cannot be read.
	ErrUnsupported = errors.New("unsupported Parquet file")
)

func damaged(text string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(text, args...))
}

// Is reports whether a file begins as a Parquet file does.
func Is(file io.ReaderAt) bool {
	var head [len(magic)]byte
	_, err := file.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == magic
}

// A File is an open file.
type File struct {
	r        io.ReaderAt
	size     int64
	quota    *quota.Quota
	metadata format.FileMetaData
	columns  []column
	work     *quota.Quota // for all pages, which may be the same few bytes again and again
}

// A column has one value per row.
type column struct {
	name   string
	index  int // in a group of rows
	schema *parquet.Column
	chunk  *parquet.FileColumnChunk // decodes pages of the column
}

// leastWork and workPerByte bound the time that pages take, in bytes of memory. Paths
// that are numbered compress well, to a seventh of a byte at best.
const leastWork, workPerByte = 1 << 30, 4 << 10

// Open reads the metadata of a file. Errors wrap ErrDamaged, ErrUnsupported or
// quota.ErrExceeded.
func Open(r io.ReaderAt, size int64, q *quota.Quota) (f *File, err error) {
	defer recoverDamaged(&err)
	f = &File{r: r, size: size, quota: q, work: quota.New(max(leastWork, workPerByte*size))}
	if err := f.readFooter(); err != nil {
		return nil, err
	}
	if err := f.checkRows(); err != nil {
		return nil, err
	}
	f.columns, err = openSchema(f.metadata.Schema)
	return f, err
}

// recoverDamaged turns a panic of the library, which has some for damaged files, into
// an error.
func recoverDamaged(err *error) {
	if r := recover(); r != nil {
		*err = damaged("%v", r)
	}
}

// Names returns the names of the columns with one value per row.
func (f *File) Names() []string {
	names := make([]string, len(f.columns))
	for i, c := range f.columns {
		names[i] = c.name
	}
	return names
}

// Groups returns the number of rows of each group of rows.
func (f *File) Groups() []int64 {
	rows := make([]int64, len(f.metadata.RowGroups))
	for i := range rows {
		rows[i] = f.metadata.RowGroups[i].NumRows
	}
	return rows
}

// readFooter reads the metadata at the end of the file.
func (f *File) readFooter() error {
	missing := damaged("its end is missing or damaged")
	const tail = 8 // the length of the metadata, and the magic
	var end [tail]byte
	if _, err := f.r.ReadAt(end[:], f.size-tail); err != nil || string(end[4:]) != magic {
		return missing
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > f.size-tail {
		return missing
	}
	const what = "the description of its columns"
	if err := f.take(what, 2*length); err != nil {
		return err
	}
	footer := make([]byte, length)
	if _, err := f.r.ReadAt(footer, f.size-tail-length); err != nil {
		return missing
	}
	var refused error
	walker := thriftReader{footer, func(n uint64, kind byte, depth int) bool {
		refused = f.take(what, listBytes(n, kind, depth))
		return refused == nil
	}}
	if !walker.structure(0) {
		return cmp.Or(refused, missing)
	}
	r := new(thrift.CompactProtocol).NewReaderFromBytes(footer)
	if err := thrift.NewDecoder(r).Decode(&f.metadata); err != nil {
		return missing
	}
	if r.BytesRead() != len(footer) {
		return fmt.Errorf("%w: it is signed", ErrUnsupported)
	}
	return nil
}

// listBytes is at least what the library takes for a list of the metadata. The
// largest elements are those of chunks of columns, in the third list of lists.
func listBytes(n uint64, kind byte, depth int) int64 {
	const chunkDepth = 3
	perElement := int64(16)
	switch {
	case kind == thriftStruct && depth <= chunkDepth:
		perElement = 1 << 10
	case kind == thriftStruct:
		perElement = 64
	}
	return int64(min(n, 1<<40)) * perElement
}

// checkRows bounds the rows that a damaged file can claim to have.
func (f *File) checkRows() error {
	const perByte = 8 // paths differ, so even compressed ones take about a byte each
	left := perByte * f.size
	for _, rows := range f.Groups() {
		if rows < 0 || rows > left {
			return damaged("more than %d rows in %d bytes", perByte*f.size, f.size)
		}
		left -= rows
	}
	return nil
}

// take asks the quota.
func (f *File) take(what string, bytes int64) error {
	if err := f.quota.Take(bytes); err != nil {
		return fmt.Errorf("%s %w", what, err)
	}
	return nil
}
