package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

const (
	parquetMagic = "PAR1"
	// leastText and textPerByte bound the text of a Parquet file, in which a long
	// path for many rows takes no bytes.
	leastText, textPerByte = 64 << 20, 256
)

// isParquet reports whether a file begins as a Parquet file does.
func isParquet(file io.ReaderAt) bool {
	var head [len(parquetMagic)]byte
	_, err := file.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == parquetMagic
}

// A parquetTable is the columns of a file that hold one value per row.
type parquetTable struct {
	file     *parquet.File
	reader   io.ReaderAt
	metadata format.FileMetaData
	columns  []int // their numbers in the file
	names    []string
	text     *quota.Quota
}

// openParquet reads the columns of a Parquet file that hold one value per row.
func openParquet(file io.ReaderAt, size int64) (records, error) {
	t, err := openTable(file, size)
	if err != nil {
		return records{}, parquetError(err)
	}
	if len(t.columns) == 0 {
		return records{}, errors.New("the Parquet file has no column with one value per row")
	}
	return records{
		unit: "row", header: t.names,
		first: func(n int) ([][]string, error) {
			rows, err := t.first(n)
			return rows, parquetError(err)
		},
		each: func(columns []int, use func(int, []string) bool) error {
			t.text = quota.New(max(leastText, textPerByte*size))
			return parquetError(t.each(columns, use))
		},
	}, nil
}

func openTable(file io.ReaderAt, size int64) (t *parquetTable, err error) {
	defer recovered(&err)
	t = &parquetTable{reader: file}
	if t.metadata, err = readFooter(file, size); err != nil {
		return nil, err
	}
	t.file, err = parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	for _, c := range t.file.Root().Columns() {
		if c.Leaf() && !c.Repeated() {
			t.columns, t.names = append(t.columns, c.Index()), append(t.names, c.Name())
		}
	}
	for _, group := range t.file.Metadata().RowGroups {
		if len(t.columns) > 0 && t.columns[len(t.columns)-1] >= len(group.Columns) {
			return nil, errDamaged
		}
		for i := range group.Columns { // of a pageStream, whose headers may be longer than those of the file
			group.Columns[i].MetaData.TotalCompressedSize = math.MaxInt64 / 2
		}
	}
	return t, nil
}

// each calls use for every row, with the wanted cells set.
func (t *parquetTable) each(columns []int, use func(int, []string) bool) error {
	number, cells := 0, make([]string, len(t.names))
	for group := range t.file.RowGroups() {
		more, err := t.eachOf(group, columns, cells, func() bool {
			number++
			return use(number, cells)
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// eachOf calls use for every row of a group, with the wanted cells set, whose text takes
// from the quota.
func (t *parquetTable) eachOf(group int, columns []int, cells []string, use func() bool) (bool, error) {
	readers := make([]*parquetColumn, len(columns))
	for i, c := range columns {
		readers[i] = t.open(group, c)
		defer readers[i].close()
	}
	for range t.file.RowGroups()[group].NumRows() {
		for i, c := range columns {
			text, err := readers[i].next()
			if err == nil {
				err = t.text.Take(int64(len(text)))
			}
			if err != nil {
				return false, fmt.Errorf("column %q: %w", t.names[c], err)
			}
			cells[c] = text
		}
		if !use() {
			return false, nil
		}
	}
	return true, nil
}

// first reads the first rows column by column, since all columns together may have many
// large pages. A column whose pages are too large, such as one of images, is empty.
func (t *parquetTable) first(n int) (table [][]string, err error) {
	for group := range t.file.RowGroups() {
		part := make([][]string, min(t.file.RowGroups()[group].NumRows(), int64(n-len(table))))
		for i := range part {
			part[i] = make([]string, len(t.names))
		}
		for c := range t.names {
			if err := t.firstOf(group, c, part); err != nil && !errors.Is(err, errLargePage) {
				return nil, fmt.Errorf("column %q: %w", t.names[c], err)
			}
		}
		table = append(table, part...)
	}
	return table, nil
}

// firstOf sets the cells of a column.
func (t *parquetTable) firstOf(group, column int, rows [][]string) (err error) {
	if len(rows) == 0 {
		return nil
	}
	r := t.open(group, column)
	defer r.close()
	for _, row := range rows {
		if row[column], err = r.next(); err != nil {
			return err
		}
	}
	return nil
}

// A parquetColumn reads the cells of a column in a group of rows, one by one.
type parquetColumn struct {
	stream *pageStream
	pages  *parquet.FilePages
	page   parquet.Page
	values parquet.ValueReader
	buffer [64]parquet.Value
	unread []parquet.Value
}

func (t *parquetTable) open(group, column int) *parquetColumn {
	number := t.columns[column]
	chunk := t.file.RowGroups()[group].ColumnChunks()[number].(*parquet.FileColumnChunk)
	stream := newPageStream(t.reader, &t.metadata, group, number)
	return &parquetColumn{stream: stream, pages: chunk.PagesFrom(stream)}
}

// next returns the next cell.
func (c *parquetColumn) next() (text string, err error) {
	defer recovered(&err)
	for len(c.unread) == 0 {
		if err := c.fill(); err != nil {
			return "", err
		}
	}
	v := c.unread[0]
	c.unread = c.unread[1:]
	return parquetText(v), nil
}

// fill reads values, or the next page.
func (c *parquetColumn) fill() (err error) {
	if c.values == nil {
		if err := c.stream.next(); err != nil {
			return err
		}
		if c.page, err = c.pages.ReadPage(); err != nil {
			return err
		}
		c.values = c.page.Values()
	}
	n, err := c.values.ReadValues(c.buffer[:])
	switch {
	case n > 0:
		c.unread = c.buffer[:n]
		return nil
	case err == nil:
		return io.ErrNoProgress
	case err != io.EOF:
		return err
	}
	c.release()
	return nil
}

func (c *parquetColumn) release() {
	parquet.Release(c.page)
	c.page, c.values = nil, nil
}

func (c *parquetColumn) close() {
	if c.page != nil {
		c.release()
	}
	_ = c.pages.Close() // of memory
}

// parquetText is the text of a cell, "" for one that is longer than any, such as an image.
func parquetText(v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray:
		if text := v.ByteArray(); len(text) <= maxCellBytes {
			return string(text)
		}
		return ""
	}
	return v.String()
}
