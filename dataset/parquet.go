package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

const (
	parquetMagic = "PAR1"
	// maxCellBytes bounds a cell; a longer one, such as an image, is read as "".
	maxCellBytes = 1 << 16
	// maxRowsPerByte bounds the rows that a damaged file can claim to have. Paths
	// differ, so even compressed ones take about a byte each.
	maxRowsPerByte = 8
)

func isParquet(file io.ReaderAt) bool {
	var magic [len(parquetMagic)]byte
	_, err := file.ReadAt(magic[:], 0)
	return err == nil && string(magic[:]) == parquetMagic
}

// openParquet reads the columns of a Parquet file that hold one value per row.
// The library panics at some damaged files.
func openParquet(file io.ReaderAt, size int64) (r records, err error) {
	defer recoverParquet(&err)
	if err := checkFooter(file, size); err != nil {
		return r, err
	}
	f, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
	if err != nil {
		return r, fmt.Errorf("damaged Parquet file: %w", err)
	}
	for _, group := range f.RowGroups() {
		if n := group.NumRows(); n < 0 || n > maxRowsPerByte*size {
			return r, fmt.Errorf("damaged Parquet file: %d rows in %d bytes", n, size)
		}
	}
	r.unit = "row"
	var leaves []int
	for _, c := range f.Root().Columns() {
		if c.Leaf() && !c.Repeated() {
			r.header, leaves = append(r.header, c.Name()), append(leaves, c.Index())
		}
	}
	if len(leaves) == 0 {
		return r, errors.New("the Parquet file has no column with one value per row")
	}
	all := make([]int, len(leaves))
	for i := range all {
		all[i] = i
	}
	r.each = func(columns []int, use func(int, []string) bool) (err error) {
		defer recoverParquet(&err)
		if columns == nil {
			columns = all
		}
		number, cells := 0, make([]string, len(leaves))
		for _, group := range f.RowGroups() {
			more, err := eachRow(group, leaves, columns, cells, func() bool {
				number++
				return use(number, cells)
			})
			if err != nil || !more {
				return err
			}
		}
		return nil
	}
	return r, nil
}

// checkFooter returns an error if the metadata at the end of a Parquet file is not
// complete.
func checkFooter(file io.ReaderAt, size int64) error {
	damaged := errors.New("damaged Parquet file: its end is missing or damaged")
	var end [8]byte // the length of the metadata, and the magic
	if _, err := file.ReadAt(end[:], size-int64(len(end))); err != nil || string(end[4:]) != parquetMagic {
		return damaged
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-int64(len(end)) {
		return damaged
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, size-int64(len(end))-length); err != nil {
		return damaged
	}
	if r := (thriftReader{footer}); !r.structure(0) {
		return damaged
	}
	return nil
}

func recoverParquet(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged Parquet file: %v", r)
	}
}

// eachRow calls use for every row of a row group, with the wanted cells set.
func eachRow(group parquet.RowGroup, leaves, columns []int, cells []string, use func() bool) (more bool, err error) {
	chunks := group.ColumnChunks()
	readers := make([]*parquetColumn, len(columns))
	for i, c := range columns {
		readers[i] = &parquetColumn{values: parquet.NewColumnChunkValueReader(chunks[leaves[c]])}
		defer readers[i].values.Close()
	}
	for range group.NumRows() {
		for i, c := range columns {
			if cells[c], err = readers[i].next(); err != nil {
				return false, fmt.Errorf("damaged Parquet file: %w", err)
			}
		}
		if !use() {
			return false, nil
		}
	}
	return true, nil
}

// A parquetColumn reads one column of a row group value by value.
type parquetColumn struct {
	values parquet.ColumnChunkValueReader
	buffer [64]parquet.Value
	unread []parquet.Value
}

func (c *parquetColumn) next() (string, error) {
	if len(c.unread) == 0 {
		n, err := c.values.ReadValues(c.buffer[:])
		if n == 0 {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
		c.unread = c.buffer[:n]
	}
	v := c.unread[0]
	c.unread = c.unread[1:]
	switch {
	case v.IsNull():
		return "", nil
	case v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray:
		if text := v.ByteArray(); len(text) <= maxCellBytes {
			return string(text), nil
		}
		return "", nil
	}
	return v.String(), nil
}
