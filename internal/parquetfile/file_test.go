package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/seed-90d10d51/pipeline/internal/parquetbomb"
	"github.com/seed-90d10d51/pipeline/internal/quota"
)

const limit = 256 << 20

// TestFooter: a list that claims to have 2³¹ elements is refused before the library
// makes room for them.
func TestFooter(t *testing.T) {
	for name, footer := range map[string]string{
		"list":    "\x29\xfc\xff\xff\xff\xff\x07\x00",
		"map":     "\x2b\xff\xff\xff\xff\x07\x88\x00",
		"binary":  "\x28\xff\xff\xff\xff\x07\x00",
		"nested":  strings.Repeat("\x1c", 1000),
		"no stop": "\x15\x02",
		"kind":    "\x1f\x00",
	} {
		if walker := (thriftReader{rest: []byte(footer)}); walker.structure(0) {
			t.Errorf("%s: no error", name)
		}
		file := fmt.Sprintf("PAR1%s%c%c\x00\x00PAR1", footer, len(footer)%256, len(footer)/256)
		_, err := Open(strings.NewReader(file), int64(len(file)), quota.New(limit))
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, quota.ErrExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
	walker := thriftReader{rest: []byte("\x15\x02\x19\x18\x01x\x1c\x12\x00\x1b\x01\x83\x01a\x01\x00")}
	if !walker.structure(0) || len(walker.rest) > 0 {
		t.Error("a whole footer is refused")
	}
}

// A row has a column of each type.
type row struct {
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

func rows(n int) []row {
	out := make([]row, n)
	kinds, yes := []string{"cat", "dog", ""}, true
	for i := range out {
		out[i] = row{
			Text: fmt.Sprintf("%05d.jpg", i), Delta: fmt.Sprintf("folder/%05d.jpg", i*i),
			Long: strings.Repeat("x", i%40), Flag: i%3 == 0, Few: int32(i % 5), Many: int64(i) * 1e12,
			Real: float64(i) / 7,
			When: time.Unix(int64(i)*1e5, 0).UTC(), Fixed: [16]byte{byte(i), byte(i >> 8)},
			List: slices.Repeat([]string{"x"}, i%3),
		}
		if i%4 > 0 {
			out[i].Kind = &kinds[i%3]
		}
		if i%5 > 2 {
			out[i].Maybe = &yes
		}
	}
	return out
}

func written(t testing.TB, rows []row, options ...parquet.WriterOption) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file, options...)
	_, err := w.Write(rows)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestValuesAreThoseOfTheLibrary, whatever their types, encodings, compression and
// pages. The library reads them without compression: what it writes with LZ4 it does
// not always read.
func TestValuesAreThoseOfTheLibrary(t *testing.T) {
	const group = 700
	plain := written(t, rows(1500), parquet.MaxRowsPerRowGroup(group))
	want, err := parquet.OpenFile(bytes.NewReader(plain), int64(len(plain)))
	if err != nil {
		t.Fatal(err)
	}
	codecs := []compress.Codec{
		&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw,
	}
	for _, codec := range codecs {
		for _, version := range []int{1, 2} {
			for _, pageBytes := range []int{500, 1 << 20} {
				t.Run(fmt.Sprintf("%v, version %d, pages of %d bytes", codec, version, pageBytes), func(t *testing.T) {
					compare(t, want,
						written(t, rows(1500), parquet.Compression(codec), parquet.DataPageVersion(version),
							parquet.PageBufferSize(pageBytes), parquet.MaxRowsPerRowGroup(group)))
				})
			}
		}
	}
}

func compare(t *testing.T, want *parquet.File, file []byte) {
	t.Helper()
	q := quota.New(8 << 20)
	f, err := Open(bytes.NewReader(file), int64(len(file)), q)
	if err != nil {
		t.Fatal(err)
	}
	opened := q.Most()
	names := []string{"text", "kind", "delta", "long", "flag", "few", "many", "real", "when", "fixed", "maybe"}
	if got := f.Names(); !slices.Equal(got, names) {
		t.Fatalf("columns %q", got)
	}
	for group, n := range f.Groups() {
		for number, column := range names {
			leaf, _ := want.Schema().Lookup(column)
			values := parquet.NewColumnChunkValueReader(want.RowGroups()[group].ColumnChunks()[leaf.ColumnIndex])
			r, err := f.Column(group, number)
			if err != nil {
				t.Fatal(err)
			}
			var one [1]parquet.Value
			for i := range n {
				got, err := r.Next()
				read, errWant := values.ReadValues(one[:])
				if err != nil || read != 1 || !parquet.Equal(got, one[0]) || got.String() != one[0].String() {
					t.Fatalf("column %s, row %d: %v (%v), want %v (%v)", column, i, got, err, one[0], errWant)
				}
			}
			if _, err := r.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("column %s, after the last row: %v", column, err)
			}
			r.Close()
		}
	}
	if err := q.Take(8<<20 - opened); err != nil { // all that was free before
		t.Errorf("the quota was not given back: %v", err)
	}
}

// TestSmallFilesThatCostMuch end at the quota, with a reason. Long texts are bounded by
// those who keep them.
func TestSmallFilesThatCostMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("expands large pages")
	}
	for name, file := range parquetbomb.Files() {
		q := quota.New(limit)
		var err error
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = readAll(file, q)
		runtime.ReadMemStats(&after)
		known := errors.Is(err, ErrDamaged) || errors.Is(err, quota.ErrExceeded)
		if readable := strings.HasPrefix(name, "long"); known == readable {
			t.Errorf("%s: %v", name, err)
		}
		allocated := int64(after.TotalAlloc - before.TotalAlloc)
		if q.Most() > limit || allocated > 3<<30 {
			t.Errorf("%s: %d bytes of the quota were taken, %d allocated", name, q.Most(), allocated)
		}
		t.Logf("%s: %d bytes, %d MiB of the quota, %d allocated: %v", name, len(file), q.Most()>>20, allocated>>20, err)
	}
}

// readAll reads the columns that a list needs.
func readAll(file []byte, q *quota.Quota) error {
	f, err := Open(bytes.NewReader(file), int64(len(file)), q)
	if err != nil {
		return err
	}
	for group, n := range f.Groups() {
		for number := range min(2, len(f.Names())) {
			r, err := f.Column(group, number)
			if err != nil {
				return err
			}
			for range n {
				if _, err := r.Next(); err != nil {
					r.Close()
					return err
				}
			}
			r.Close()
		}
	}
	return nil
}

// FuzzRead: whatever the bytes, reading ends with a value or a known error, within the
// quota.
func FuzzRead(f *testing.F) {
	f.Add(written(f, rows(20)))
	f.Add(written(f, rows(20), parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(1)))
	for _, file := range parquetbomb.Encoded() {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		q := quota.New(limit)
		err := readAll(file, q)
		known := errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported) || errors.Is(err, quota.ErrExceeded)
		if err != nil && !known || q.Most() > limit {
			t.Errorf("%d of the quota, %v", q.Most(), err)
		}
	})
}
