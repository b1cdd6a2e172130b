package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// The library makes room for what a file claims before it reads it, so a few damaged
// bytes could take all memory, which ends a process without an error. The claims are
// checked here, and what the library panics about becomes an error.

// maxPageBytes bounds a page. Pages usually have a MiB.
const maxPageBytes = 64 << 20

var (
	errDamaged   = errors.New("it claims more than it holds")
	errLargePage = fmt.Errorf("a page has more than %d MiB", maxPageBytes>>20)
)

// recovered makes an error of a panic of the library, which has some for damaged files.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%v", r)
	}
}

// parquetError says what to do.
func parquetError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, quota.ErrExceeded):
		return fmt.Errorf("in the Parquet file, %w; write it as CSV", err)
	case errors.Is(err, errLargePage):
		return fmt.Errorf("in the Parquet file, %w; write it with smaller pages, or as CSV", err)
	}
	return fmt.Errorf("damaged Parquet file, or one of an unknown kind: %w; write it again, or as CSV", err)
}

// A claimReader refuses a list of the metadata that claims more elements than there are
// bytes left.
type claimReader struct {
	thriftReader
	discarder
	size int
}

// The names of the interfaces that a claimReader embeds must differ from their methods'.
type (
	thriftReader = thrift.Reader
	discarder    interface{ Discard(n int) (int, error) }
)

func (r claimReader) ReadList() (thrift.List, error) {
	l, err := r.thriftReader.ReadList()
	if err == nil && int(l.Size) > r.size-r.BytesRead() {
		err = errDamaged
	}
	return l, err
}

// readFooter reads the metadata at the end of a file, and checks what it claims.
func readFooter(file io.ReaderAt, size int64) (m format.FileMetaData, err error) {
	const tail = 4 + int64(len(parquetMagic)) // the length of the metadata comes first
	var end [tail]byte
	if _, err := file.ReadAt(end[:], size-tail); err != nil || string(end[4:]) != parquetMagic {
		return m, errors.New("its end is missing")
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-tail {
		return m, errDamaged
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, size-tail-length); err != nil {
		return m, err
	}
	r := new(thrift.CompactProtocol).NewReaderFromBytes(footer)
	if err := thrift.NewDecoder(claimReader{r, r.(discarder), len(footer)}).Decode(&m); err != nil {
		return m, err
	}
	const perByte = 8 // paths differ, so even compressed ones take about a byte each
	left := perByte * size
	for i := range m.RowGroups {
		rows := m.RowGroups[i].NumRows
		if rows < 0 || rows > left {
			return m, fmt.Errorf("it claims more than %d rows in %d bytes", perByte*size, size)
		}
		left -= rows
	}
	return m, nil
}

// A pageStream is what the library reads the pages of a column in a group of rows from: in
// order, and one only after next has checked what it claims.
type pageStream struct {
	file    io.ReaderAt
	at, end int64 // of the pages in the file
	rows    int64
	codec   format.CompressionCodec
	ready   []byte
}

func newPageStream(file io.ReaderAt, metadata *format.FileMetaData, group, column int) *pageStream {
	g := &metadata.RowGroups[group]
	m := &g.Columns[column].MetaData
	s := &pageStream{file: file, at: m.DataPageOffset, rows: g.NumRows}
	if m.DictionaryPageOffset != 0 {
		s.at = m.DictionaryPageOffset
	}
	s.end = s.at + m.TotalCompressedSize
	s.codec = metadata.RowGroups[0].Columns[column].MetaData.Codec // that of all groups, for the library
	return s
}

// ReadAt implements io.ReaderAt, as far as the library needs it.
func (s *pageStream) ReadAt(b []byte, _ int64) (int, error) {
	n := copy(b, s.ready)
	s.ready = s.ready[n:]
	if n == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}

// next makes the next page of values ready, and a dictionary before it.
func (s *pageStream) next() error {
	for s.at < s.end {
		h, err := s.header()
		if err != nil {
			return err
		}
		if err := s.check(h); err != nil {
			return err
		}
		data := make([]byte, h.CompressedPageSize)
		if _, err := s.file.ReadAt(data, s.at); err != nil {
			return err
		}
		s.at += int64(len(data))
		if err := s.checkPacked(h, data); err != nil {
			return err
		}
		head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
		if err != nil {
			return err
		}
		s.ready = slices.Concat(s.ready, head, data)
		if h.Type != format.DictionaryPage {
			return nil
		}
	}
	return io.ErrUnexpectedEOF
}

// header reads the header at s.at, and moves behind it. Headers have a few dozen bytes,
// and statistics.
func (s *pageStream) header() (*format.PageHeader, error) {
	const usual, most = 4 << 10, 4 << 20
	for window := int64(usual); ; window = most {
		b := make([]byte, min(window, s.end-s.at))
		n, err := s.file.ReadAt(b, s.at)
		if err != nil && err != io.EOF {
			return nil, err
		}
		h := new(format.PageHeader)
		r := new(thrift.CompactProtocol).NewReaderFromBytes(b[:n])
		err = thrift.NewDecoder(r).Decode(h)
		if err == nil {
			s.at += int64(r.BytesRead())
			return h, nil
		}
		if window == most || n < usual {
			return nil, err
		}
	}
}

// check checks what a page claims.
func (s *pageStream) check(h *format.PageHeader) error {
	if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || int64(h.CompressedPageSize) > s.end-s.at {
		return errDamaged
	}
	if max(h.CompressedPageSize, h.UncompressedPageSize) > maxPageBytes {
		return errLargePage
	}
	values := max(h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues)
	if int64(values) > s.rows || h.DictionaryPageHeader.V.NumValues > h.UncompressedPageSize {
		return errDamaged
	}
	return nil
}

// checkPacked checks the size that a compressed page itself claims.
func (s *pageStream) checkPacked(h *format.PageHeader, packed []byte) error {
	if v2 := h.DataPageHeaderV2; v2.Valid { // levels come first, and are not compressed
		levels := int64(v2.V.RepetitionLevelsByteLength) + int64(v2.V.DefinitionLevelsByteLength)
		if levels < 0 || levels > int64(len(packed)) {
			return errDamaged
		}
		packed = packed[levels:]
	}
	claimed, err := int64(0), error(nil)
	switch s.codec {
	case format.Snappy:
		n, _ := snappy.DecodedLen(packed)
		claimed = int64(n)
	case format.Zstd:
		var frame zstd.Header
		_ = frame.Decode(packed)
		claimed = int64(min(frame.FrameContentSize, math.MaxInt64))
	case format.Lz4Raw:
		// For a damaged page the library makes room for ever, and for one of less than three
		// times its packed bytes it reads zeros.
		_, err = lz4.UncompressBlock(packed, make([]byte, h.UncompressedPageSize))
		h.UncompressedPageSize = max(h.UncompressedPageSize, 3*h.CompressedPageSize)
	}
	if claimed > int64(h.UncompressedPageSize) {
		return errDamaged
	}
	return err
}
