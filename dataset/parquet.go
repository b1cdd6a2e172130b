package dataset

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/internal/parquetfile"
	"github.com/seed-90d10d51/pipeline/internal/quota"
)

const (
	// maxCellBytes bounds a cell; a longer one, such as an image, is read as "".
	maxCellBytes = 1 << 16
	// parquetMemory is what reading a Parquet file may take at the same time. Pages
	// usually have a MiB.
	parquetMemory = 256 << 20
	// leastText and textPerByte bound the text of a Parquet file, in which a long
	// path for many rows takes no bytes.
	leastText, textPerByte = 64 << 20, 512
)

// openParquet reads the columns of a Parquet file that hold one value per row.
func openParquet(file io.ReaderAt, size int64) (r records, err error) {
	q := quota.New(parquetMemory)
	f, err := parquetfile.Open(file, size, q)
	if err != nil {
		return r, parquetError(err)
	}
	r.unit, r.header = "row", f.Names()
	if len(r.header) == 0 {
		return r, errors.New("the Parquet file has no column with one value per row")
	}
	r.first = func(n int) ([][]string, error) { return firstRows(f, q, n) }
	r.each = func(columns []int, use func(int, []string) bool) error {
		number, cells, text := 0, make([]string, len(r.header)), quota.New(max(leastText, textPerByte*size))
		for group := range f.Groups() {
			more, err := eachRow(f, text, group, columns, cells, func() bool {
				number++
				return use(number, cells)
			})
			if err != nil || !more {
				return parquetError(err)
			}
		}
		return nil
	}
	return r, nil
}

// parquetError says what to do with a file that takes too much.
func parquetError(err error) error {
	if errors.Is(err, quota.ErrExceeded) {
		return fmt.Errorf("in the Parquet file, %w; write it with smaller pages, or as CSV", err)
	}
	return err
}

// eachRow calls use for every row of a row group, with the wanted cells set, whose text
// takes from a quota.
func eachRow(
	f *parquetfile.File, text *quota.Quota, group int, columns []int, cells []string, use func() bool,
) (more bool, err error) {
	readers := make([]*parquetfile.Reader, len(columns))
	for i, c := range columns {
		if readers[i], err = f.Column(group, c); err != nil {
			return false, err
		}
		defer readers[i].Close()
	}
	for range f.Groups()[group] {
		for i, c := range columns {
			v, err := readers[i].Next()
			if err != nil {
				return false, err
			}
			cells[c] = parquetText(v)
			if err := text.Take(int64(len(cells[c]))); err != nil {
				return false, fmt.Errorf("the text of column %q %w", f.Names()[c], err)
			}
		}
		if !use() {
			return false, nil
		}
	}
	return true, nil
}

// firstRows reads the first rows column by column, since all columns together may have
// many large pages. A column that takes too much, such as one of images, is empty.
func firstRows(f *parquetfile.File, q *quota.Quota, n int) ([][]string, error) {
	left := int64(n)
	var table [][]string
	for group, rows := range f.Groups() {
		rows = min(rows, left)
		left -= rows
		part := make([][]string, rows)
		for i := range part {
			part[i] = make([]string, len(f.Names()))
		}
		for c := range f.Names() {
			if err := firstCells(f, q, group, c, part); err != nil && !errors.Is(err, quota.ErrExceeded) {
				return nil, err
			}
		}
		table = append(table, part...)
	}
	return table, nil
}

// firstCells sets the cells of a column.
func firstCells(f *parquetfile.File, q *quota.Quota, group, column int, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	r, err := f.Column(group, column)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, row := range rows {
		v, err := r.Next()
		if err != nil {
			return err
		}
		text := parquetText(v)
		if err := q.Take(int64(len(text))); err != nil {
			return err
		}
		row[column] = text
	}
	return nil
}

// parquetText is the text of a cell.
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
