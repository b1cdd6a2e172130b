package parquetfile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// expand returns what a page holds without compression: no more than its header says.
func (p *page) expand(codec format.CompressionCodec, data []byte) ([]byte, error) {
	compressed := codec != format.Uncompressed
	if v2 := p.header.DataPageHeaderV2; v2.Valid && v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
		compressed = false
	}
	if !compressed {
		return data, nil
	}
	out := make([]byte, p.header.UncompressedPageSize)
	levels := copy(out, data[:p.levelBytes])
	n, err := decompress(codec, out[levels:], data[levels:])
	if errors.Is(err, ErrUnsupported) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v: %w", ErrDamaged, codec, err)
	}
	return out[:levels+n], nil
}

// decompress fills dst from src, and returns an error if src holds more.
func decompress(codec format.CompressionCodec, dst, src []byte) (n int, err error) {
	if len(src) == 0 {
		return 0, nil
	}
	switch codec {
	case format.Snappy:
		if n, err = snappy.DecodedLen(src); err != nil || n > len(dst) {
			return 0, cmp.Or(err, errLonger)
		}
		_, err = snappy.Decode(dst[:n], src)
		return n, err
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	case format.Zstd:
		return decompressZstd(dst, src)
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return 0, err
		}
		return readInto(dst, r)
	case format.Brotli:
		return readInto(dst, brotli.NewReader(bytes.NewReader(src)))
	}
	return 0, fmt.Errorf("%w: it is compressed with %v", ErrUnsupported, codec)
}

// errLonger means that a page is longer than its header says.
var errLonger = errors.New("a page expands to more than it says")

// readInto reads to the end, which must be within dst.
func readInto(dst []byte, r io.Reader) (n int, err error) {
	n, err = io.ReadFull(r, dst)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	var more [1]byte
	if m, _ := io.ReadFull(r, more[:]); m > 0 {
		return n, errLonger
	}
	return n, nil
}

func decompressZstd(dst, src []byte) (n int, err error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return 0, err
	}
	defer d.Close()
	out, err := d.DecodeAll(src, dst[:0:len(dst)])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errLonger
	}
	if n = len(out); n > len(dst) {
		return 0, cmp.Or(err, errLonger)
	}
	return n, err
}
