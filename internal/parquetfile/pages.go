package parquetfile

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A pageStream is what the library reads a column's pages from: one after the other,
// checked and without compression. It is an io.ReaderAt that is read in order.
type pageStream struct {
	file       *File
	column     column
	codec      format.CompressionCodec
	at, end    int64 // of the pages in the file
	dictionary bool  // was there
	ready      [][]byte
	served     int64
	err        error // what ended the stream, once there is something

	taken, now, before int64 // by the reader and the dictionary, by this page and by the last
}

func (f *File) newPageStream(group int, c column) (*pageStream, error) {
	chunks := f.metadata.RowGroups[group].Columns
	if c.index >= len(chunks) {
		return nil, damaged("group %d of rows does not have it", group)
	}
	chunk := &chunks[c.index]
	if chunk.FilePath != "" || chunk.CryptoMetadata.Value != nil {
		return nil, fmt.Errorf("%w: it is encrypted or in another file", ErrUnsupported)
	}
	m := &chunk.MetaData
	s := &pageStream{file: f, column: c, codec: m.Codec, at: m.DataPageOffset}
	if m.DictionaryPageOffset != 0 {
		s.at = m.DictionaryPageOffset
	}
	if s.at < 0 || s.at > f.size || m.TotalCompressedSize < 0 {
		return nil, damaged("its pages are outside of the file")
	}
	s.end = s.at + min(m.TotalCompressedSize, f.size-s.at)
	s.taken = readerBytes
	return s, f.take("reading it", s.taken)
}

// ReadAt implements io.ReaderAt, as far as the library needs it.
func (s *pageStream) ReadAt(b []byte, off int64) (int, error) {
	if off != s.served {
		return 0, damaged("the dictionary does not come first")
	}
	for len(s.ready) == 0 && s.err == nil {
		s.err = s.next()
	}
	if s.err != nil {
		return 0, s.err
	}
	n := copy(b, s.ready[0])
	if s.ready[0] = s.ready[0][n:]; len(s.ready[0]) == 0 {
		s.ready = s.ready[1:]
	}
	s.served += int64(n)
	return n, nil
}

// next makes the next page ready.
func (s *pageStream) next() error {
	if s.at >= s.end {
		return io.EOF
	}
	h, err := s.header()
	if err != nil {
		return err
	}
	p, err := newPage(h)
	if err != nil {
		return err
	}
	at, packed := s.at, int64(h.CompressedPageSize)
	if packed > s.end-at {
		return io.ErrUnexpectedEOF
	}
	s.at += packed
	switch {
	case p.isDictionary() && s.dictionary:
		return nil // the library ignores it too
	case p.indexed() && !s.dictionary:
		return damaged("the dictionary does not come first")
	}
	data, err := s.read(p, at)
	if err != nil {
		return err
	}
	s.dictionary = s.dictionary || p.isDictionary()
	return s.serve(p, data)
}

// read returns what a page holds, without compression.
func (s *pageStream) read(p *page, at int64) ([]byte, error) {
	if err := s.take(p); err != nil {
		return nil, err
	}
	data := make([]byte, p.header.CompressedPageSize)
	if _, err := s.file.r.ReadAt(data, at); err != nil {
		return nil, err
	}
	if sum := uint32(p.header.CRC); sum != 0 && sum != crc32.ChecksumIEEE(data) {
		return nil, damaged("a page has another checksum")
	}
	data, err := p.expand(s.codec, data)
	if err != nil {
		return nil, err
	}
	return data, p.check(s.column.schema.MaxDefinitionLevel(), data, s.takeMore)
}

// serve makes a page ready that is not compressed.
func (s *pageStream) serve(p *page, data []byte) error {
	h := format.PageHeader{
		Type: p.header.Type, UncompressedPageSize: int32(len(data)), CompressedPageSize: int32(len(data)),
		DataPageHeader: p.header.DataPageHeader, DataPageHeaderV2: p.header.DataPageHeaderV2,
		DictionaryPageHeader: p.header.DictionaryPageHeader,
	}
	h.DataPageHeader.V.Statistics, h.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
	if h.DataPageHeaderV2.Valid {
		h.DataPageHeaderV2.V.IsCompressed = thrift.New(false)
	}
	header, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		return err
	}
	if s.ready = [][]byte{header}; len(data) > 0 {
		s.ready = append(s.ready, data)
	}
	return nil
}

// header reads the header at s.at, and moves behind it. Headers have a few dozen bytes,
// and statistics.
func (s *pageStream) header() (*format.PageHeader, error) {
	const first, most, cost = 256, 4 << 20, 4 << 10 // of a page, however small
	for window := int64(first); ; window *= 16 {
		n := min(window, s.end-s.at)
		if err := s.worked(cost + n); err != nil {
			return nil, err
		}
		b := make([]byte, n)
		if _, err := s.file.r.ReadAt(b, s.at); err != nil {
			return nil, err
		}
		if walker := (thriftReader{rest: b}); !walker.structure(0) {
			if n < window || window >= most {
				return nil, damaged("a page begins with no header")
			}
			continue
		}
		h := new(format.PageHeader)
		r := new(thrift.CompactProtocol).NewReaderFromBytes(b)
		if err := thrift.NewDecoder(r).Decode(h); err != nil {
			return nil, err
		}
		s.at += int64(r.BytesRead())
		return h, nil
	}
}

// take asks the quota for a page. Two pages are in memory at the same time, since the
// library keeps the last one, and the dictionary to the end.
func (s *pageStream) take(p *page) error {
	s.file.quota.Give(s.before)
	s.before, s.now = s.now, 0
	n := p.bytes(s.column.schema)
	err := s.takeMore(n)
	if p.isDictionary() {
		s.taken, s.now = s.taken+s.now, 0
	}
	return err
}

// takeMore asks for more memory for this page.
func (s *pageStream) takeMore(n int64) error {
	if err := s.file.take("a page", n); err != nil {
		return err
	}
	s.now += n
	return s.worked(n)
}

// worked counts what takes time, in bytes.
func (s *pageStream) worked(n int64) error {
	if err := s.file.work.Take(n); err != nil {
		return fmt.Errorf("expanding its pages %w", err)
	}
	return nil
}

func (s *pageStream) close() {
	s.file.quota.Give(s.taken + s.now + s.before)
	s.taken, s.now, s.before = 0, 0, 0
}
