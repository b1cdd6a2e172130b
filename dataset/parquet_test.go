package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
)

// A wideRow has a column of each type and encoding.
type wideRow struct {
	Text  string    `parquet:"text"`
	Kind  *string   `parquet:"kind,optional,dict"`
	Delta string    `parquet:"delta,delta"`
	Long  string    `parquet:"long,optional,delta"`
	Flag  bool      `parquet:"flag"`
	Few   int32     `parquet:"few,dict"`
	Many  int64     `parquet:"many,delta"`
	Real  float64   `parquet:"real,split"`
	When  time.Time `parquet:"when,timestamp"`
	Fixed [16]byte  `parquet:"fixed,uuid"`
	Maybe *bool     `parquet:"maybe,optional"`
	List  []string  `parquet:"list"`
	Group struct {
		Inner string `parquet:"inner"`
	} `parquet:"group"`
}

// wideRows returns rows and the cells that a list has of them, except the time.
func wideRows(n int) (rows []wideRow, cells [][]string) {
	kinds, yes := []string{"cat", "dog", ""}, true
	for i := range n {
		r := wideRow{
			Text: fmt.Sprintf("%05d.jpg", i), Delta: fmt.Sprintf("folder/%05d.jpg", i*i),
			Long: strings.Repeat("x", i%40), Flag: i%3 == 0, Few: int32(i % 5), Many: int64(i) * 1e12,
			Real: float64(i) / 8, When: time.Unix(int64(i)*1e5, 0).UTC(),
			Fixed: [16]byte{byte(i), byte(i >> 8)}, List: slices.Repeat([]string{"x"}, i%3),
		}
		kind, maybe := "", ""
		if i%4 > 0 {
			r.Kind, kind = &kinds[i%3], kinds[i%3]
		}
		if i%5 > 2 {
			r.Maybe, maybe = &yes, "true"
		}
		rows = append(rows, r)
		cells = append(cells, []string{r.Text, kind, r.Delta, r.Long, strconv.FormatBool(r.Flag), fmt.Sprint(r.Few),
			fmt.Sprint(r.Many), fmt.Sprint(r.Real), fmt.Sprint(r.When.UnixMilli()), string(r.Fixed[:]), maybe})
	}
	return rows, cells
}

func parquetOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquet.NewGenericWriter[T](&file, options...)
	must.Get(w.Write(rows))(t)
	must.Do(t, w.Close())
	return file.Bytes()
}

func codecs() []compress.Codec {
	return []compress.Codec{
		&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw,
	}
}

// readCells returns the cells of all columns with one value per row.
func readCells(file []byte) (rows [][]string, err error) {
	r, err := openParquet(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	if _, err = r.first(headRows); err != nil {
		return nil, err
	}
	columns := make([]int, len(r.header))
	for i := range columns {
		columns[i] = i
	}
	err = r.each(columns, func(_ int, cells []string) bool {
		rows = append(rows, slices.Clone(cells))
		return true
	})
	return rows, err
}

// TestParquetCells: whatever the types, encodings, compression and pages, a list has the
// cells that were written. The library alone reads zeros from larger pages of LZ4.
func TestParquetCells(t *testing.T) {
	if testing.Short() {
		t.Skip("it does everything in one goroutine")
	}
	rows, want := wideRows(1500)
	for _, codec := range codecs() {
		for _, version := range []int{1, 2} {
			for _, pageBytes := range []int{500, 1 << 20} {
				name := fmt.Sprintf("%v, version %d, pages of %d bytes", codec, version, pageBytes)
				got, err := readCells(parquetOf(t, rows, parquet.Compression(codec), parquet.DataPageVersion(version),
					parquet.PageBufferSize(pageBytes), parquet.MaxRowsPerRowGroup(700)))
				if err != nil || len(got) != len(want) {
					t.Errorf("%s: %d rows, %v", name, len(got), err)
					continue
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%s, row %d: %q, want %q", name, i, got[i], want[i])
						break
					}
				}
			}
		}
	}
}

// TestMutatedParquet: a damaged file is refused or read, at a bounded cost, but never a
// panic.
func TestMutatedParquet(t *testing.T) {
	rows, _ := wideRows(60)
	var files [][]byte
	for _, codec := range codecs() {
		for _, version := range []int{1, 2} {
			files = append(files, parquetOf(t, rows, parquet.Compression(codec), parquet.DataPageVersion(version)))
		}
	}
	mutation.Each(t, 2000, func(i int, rng *rand.Rand) error {
		file := files[i%len(files)]
		intact := rng.IntN(len(file))
		_, _ = readCells(slices.Concat(file[:intact], mutation.Bytes(rng, file[intact:], files)))
		return nil // a panic fails the test, and so does the cost
	})
}

// TestParquetClaims: what a damaged file claims is refused before there is room for it.
func TestParquetClaims(t *testing.T) {
	type row struct {
		Path string `parquet:"path,plain"`
	}
	plain := func(codec compress.Codec) []byte { return parquetOf(t, []row{{"a.jpg"}}, parquet.Compression(codec)) }
	page := func(change func(h *format.PageHeader)) []byte {
		return changed(t, plain(&parquet.Uncompressed), func(_ *format.FileMetaData, h *format.PageHeader, _ []byte) {
			change(h)
		})
	}
	data := func(codec compress.Codec, bytes string) []byte {
		return changed(t, plain(codec), func(_ *format.FileMetaData, _ *format.PageHeader, data []byte) {
			copy(data, bytes)
		})
	}
	rows := changed(t, plain(&parquet.Snappy), func(m *format.FileMetaData, _ *format.PageHeader, _ []byte) {
		m.RowGroups[0].NumRows = 1 << 40
	})
	const most = 1<<31 - 1
	const claims = "claims more than it holds"
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"footer":        {[]byte("PAR1\xff\xff\xff\x7fPAR1"), claims},
		"footer's list": {[]byte("PAR1\x29\xfc\xff\xff\xff\xff\x07\x00\x08\x00\x00\x00PAR1"), claims},
		"rows":          {rows, "it claims more than"},
		"packed size":   {page(func(h *format.PageHeader) { h.CompressedPageSize = most }), claims},
		"size":          {page(func(h *format.PageHeader) { h.UncompressedPageSize = most }), "more than 64 MiB"},
		"values":        {page(func(h *format.PageHeader) { h.DataPageHeaderV2.V.NumValues = most }), claims},
		"snappy":        {data(&parquet.Snappy, "\xff\xff\xff\xff\x0f"), claims},
		"zstd":          {data(&parquet.Zstd, "\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x7f"), claims},
		"lz4":           {data(&parquet.Lz4Raw, "\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "lz4"},
	} {
		if _, err := readCells(c.file); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "Parquet file") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// changed returns a file of one page with other metadata, page header or content.
func changed(t *testing.T, file []byte, change func(*format.FileMetaData, *format.PageHeader, []byte)) []byte {
	t.Helper()
	m := must.Get(readFooter(bytes.NewReader(file), int64(len(file))))(t)
	s := newPageStream(bytes.NewReader(file), &m, 0, 0)
	h := must.Get(s.header())(t)
	data := slices.Clone(file[s.at:s.end])
	h.CRC = 0
	change(&m, h, data)
	encoded := func(v any) []byte {
		return must.Get(thrift.Marshal(new(thrift.CompactProtocol), v))(t)
	}
	out := slices.Concat(file[:4], encoded(h), data)
	m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = int64(len(out) - 4)
	footer := encoded(&m)
	return slices.Concat(out, footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), file[:4])
}
